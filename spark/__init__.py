"""From traces to metrics, with Apache Spark.

`metrics` declares and computes the metrics of runs, `aggregation` does it for all runs of a sweep and keeps what it
found, and `engine` starts Spark. `standalone` starts a cluster of one's own.
"""

if __name__ != "roambus.spark":
    raise ImportError("spark is a part of roambus: import roambus.spark")
