"""The metrics of a run, computed from its trace alone: DataFrame in, DataFrame out.

`catalogue` declares each metric once, and `run_metrics` computes those of every run. `extra` is how a study adds
metrics and tables of its own; `absences` is shared by the studies in which clients are away. `exact` sums times as
integers.
"""
