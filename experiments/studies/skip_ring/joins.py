"""Measures whom joins concern while the subscribers of a skip ring double (section 4.1 of its paper).

A join concerns an old subscriber if it has another predecessor or successor afterwards, which is what a configuration
tells beside the label.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812  # the name that every text on Spark uses

from roambus.bridge.trace import schema
from roambus.experiments.studies.skip_ring.rows import is_event, overlay_rows, time_s
from roambus.python_protocol.messages.names import NOBODY
from roambus.spark.metrics.catalogue import Metric, Scale
from roambus.spark.metrics.extra import Extra, ExtraMetrics
from roambus.spark.metrics.run_metrics import RUN

TWO_CONSECUTIVE = "two_consecutive_joins"
MOST_JOINS = "most_joins_for_one"

_JOIN = "join"
_FIRST = "0"
"""The label that the first and the last join of a doubling concern, which are no neighbours in time."""


def concerned(traces: DataFrame) -> DataFrame:
    """The share of old subscribers, without that with label 0, that two consecutive joins concern and no other.

    Beside it stands the greatest number of joins that concern one of all old subscribers.
    """
    changes = _changes(traces).groupBy(RUN, schema.NODE, "label")
    of_node = changes.agg(F.count(_JOIN).alias("joins"), (F.max(_JOIN) - F.min(_JOIN)).alias("apart"))
    is_so = (F.col("joins") == 2) & (F.col("apart") == 1)
    others = F.when(F.col("label") != _FIRST, F.coalesce(is_so, F.lit(False)).cast("int"))
    return of_node.groupBy(RUN).agg(F.avg(others).alias(TWO_CONSECUTIVE), F.max("joins").alias(MOST_JOINS))


def _changes(traces: DataFrame) -> DataFrame:
    """For each old subscriber and its label, the numbers of the joins after which it has other neighbours, each once.

    One that no join concerns has a row with null.
    """
    joins = _joins(traces)
    first = joins.groupBy(RUN).agg(F.min("at").alias("first"))
    rows = overlay_rows(traces).select(RUN, schema.NODE, schema.TIME_S, "number", "label", *_neighbours())
    states = rows.join(first, RUN)
    in_time = Window.partitionBy(RUN, schema.NODE).orderBy(schema.TIME_S, "number")
    moved = F.struct("before", "behind") != F.lag(F.struct("before", "behind")).over(in_time)
    later = states.withColumn("moved", moved).where((time_s() >= F.col("first")) & F.col("moved"))
    by = later.join(joins, RUN).where(F.col("at") <= time_s())
    found = by.groupBy(RUN, schema.NODE, schema.TIME_S, "number").agg(F.max(_JOIN).alias(_JOIN))
    old = states.where(time_s() < F.col("first")).groupBy(RUN, schema.NODE)
    labels = old.agg(F.max_by("label", F.struct(schema.TIME_S, "number")).alias("label"))
    return labels.join(found.select(RUN, schema.NODE, _JOIN).distinct(), [RUN, schema.NODE], "left")


def _neighbours() -> list[Column]:
    """The predecessor and the successor on the circle; the first and the last of the list have one of them as ring."""
    return [
        F.when(F.col(side) == NOBODY, F.col("ring")).otherwise(F.col(side)).alias(name)
        for side, name in (("left", "before"), ("right", "behind"))
    ]


def _joins(traces: DataFrame) -> DataFrame:
    """When each join after the start was asked for, and its number, from 1."""
    asked = traces.where(is_event(schema.SUBSCRIBE) & (time_s() > 0)).select(RUN, time_s().alias("at"))
    return asked.withColumn(_JOIN, F.row_number().over(Window.partitionBy(RUN).orderBy("at")))


JOINS = Extra(
    (
        ExtraMetrics(
            (
                Metric(
                    TWO_CONSECUTIVE,
                    "share that two consecutive joins concern",
                    "Old subscribers, without that with label 0, that two consecutive joins concern and no other.",
                    scale=Scale.SHARE,
                ),
                Metric(
                    MOST_JOINS,
                    "most joins that concern one",
                    "The joins that concern an old subscriber while the subscribers double, of whom most concern.",
                ),
            ),
            concerned,
        ),
    )
)
