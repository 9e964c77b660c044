"""The metrics of a run, computed from its trace alone: DataFrame in, DataFrame out.

`catalogue` declares each metric once.
`run_metrics` computes those of every run, and the absences that several studies are about.
`extra` is how a study adds metrics and tables of its own.
"""
