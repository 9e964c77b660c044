"""From the traces of a sweep to tables: a row for each run, and means with intervals over the seeds of each point.

`aggregate` makes the means and writes the files, `traces` lists what there is, `computation` computes metrics in
Spark's tasks, `store` keeps them, and `intervals` has the statistics.
"""
