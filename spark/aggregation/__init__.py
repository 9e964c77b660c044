"""From the traces of a sweep to tables: a row for each run, and means with intervals over the seeds of each point.

`aggregate` is the whole: it makes the means and writes the files.
`traces` finds trace files, tells sound from damaged ones, and gives Spark names that it can read.
`computation` computes the metrics of traces in batches.
`store` keeps what was computed until a trace or the code changes.
"""
