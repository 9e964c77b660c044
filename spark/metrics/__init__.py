"""The metrics of a run: functions of tables that are computed from its trace, without Spark.

`run` makes the tables.
`catalogue` has the metrics of every run, which are the examples for all others.
`extra` is how studies and users add metrics and tables of their own.
"""
