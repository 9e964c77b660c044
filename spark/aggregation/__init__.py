"""From the traces of a sweep to tables: a row for each run, and means with intervals over the seeds of each point.

`aggregate` is the whole: it makes the means and writes the files.
`traces` lists the traces of a sweep, and says which are missing.
`computation` computes the metrics of traces in Spark's tasks, a run at a time.
`store` keeps what was computed until a trace or the code changes.
"""
