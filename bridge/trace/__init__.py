"""The trace of a run, from which all metrics are computed.

- `schema`: the columns, the names of what can happen, and what a trace says of itself.
- `parquet`: the file, how it is written and read, and how two of them differ.
"""
