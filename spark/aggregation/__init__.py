"""From a sweep's traces to tables: a row for each run, and means with intervals over seeds.

`aggregate` makes means and files, `traces` lists traces, `computation` runs in Spark, `store` keeps results, and
`intervals` has the statistics.
"""
