"""The trace of a run: what its rows mean, and how they are written.

`schema` has the columns and the events as constants. `writer` collects rows and writes them as one Parquet file,
which is whole or not there at all.
"""
