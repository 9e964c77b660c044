"""From the traces of a sweep to tables: a row for each run, and means with intervals over the seeds of each point.

`traces` finds trace files and tells sound from damaged ones, `computation` computes their metrics in batches, and
`store` keeps what was computed until a trace or the code changes. `points` makes the means, `tables` writes files,
and `aggregate` is the whole.
"""
