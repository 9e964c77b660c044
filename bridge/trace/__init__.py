"""The trace of a run, from which all metrics are computed.

- `schema`: the columns, the event names, and the metadata.
- `parquet`: writes, reads and compares the file.
"""
