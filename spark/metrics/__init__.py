"""The metrics of a run: functions of tables of its trace, without Spark.

`metric` declares one. `run` makes the tables, `catalogue` has the metrics of every run, `accounting` those of pairs
that were not delivered, and `extra` adds those of studies and users.
"""
