"""The trace of a run, from which everything that is measured is computed.

`schema` has the columns and the names of what can happen; `writer` collects the rows, and writes the file.
"""
