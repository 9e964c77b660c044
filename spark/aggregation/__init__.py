"""From the traces of a sweep to tables: a row for each run, and means with intervals over the seeds of each point.

`traces` finds trace files and tells sound from damaged ones, `computation` computes their metrics in batches, and
`store` keeps what was computed until a trace or the code changes. `links` gives Spark names of files that it can read,
`points` makes the means, `tables` writes files, and `aggregate` is the whole.
"""
