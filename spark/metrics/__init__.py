"""The metrics of a run: functions of tables of its trace, without Spark.

`metric` says what a metric is. `run` makes the tables, `catalogue` has the metrics of every run, and `extra` adds those
of studies and users.
"""
