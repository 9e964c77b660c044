"""The metrics of a run: functions of tables of its trace, without Spark.

`run` makes the tables, `catalogue` has the metrics of every run, and `extra` adds those of studies and users.
"""
