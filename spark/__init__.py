"""From traces to metrics, with Apache Spark.

`metrics` computes the metrics of a run, `aggregation` those of a sweep, `engine` starts Spark, and `standalone` a
private cluster.
"""

if __name__ != "roambus.spark":
    raise ImportError("spark is a part of roambus: import roambus.spark")
