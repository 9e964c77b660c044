"""The trace of a run, from which everything that is measured is computed.

- `schema`: the columns, and the names of what can happen.
- `metadata`: what a trace says of itself, so that the file alone can be read in a year.
- `parquet`: the file, how it is written and read, and how two of them differ.
"""
