"""Measures how publications spread that only one subscriber has at the start (section 4.2 of the skip ring's paper).

Nobody publishes: all that is sent is what tries lack. Each publication is delivered by the subscriber that has it.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812  # the name that every text on Spark uses

from roambus.bridge.trace import schema
from roambus.experiments.studies.skip_ring.rows import count_of, is_event, is_of, time_s
from roambus.python_protocol.skip_ring.messages import Publish
from roambus.spark.metrics.catalogue import Metric, Scale
from roambus.spark.metrics.extra import Extra, ExtraMetrics
from roambus.spark.metrics.run_metrics import RUN

INFORMED = "informed"
ROUNDS_TO_INFORM = "rounds_to_inform"
KNOWN_SENT = "known_per_cent"


def informing(traces: DataFrame) -> DataFrame:
    """The share of subscribers that come to have everything, when the last of them has it, and what was sent in vain.

    The rounds are those of runs in which all get everything. A publication is sent in vain to whoever has it already:
    a subscriber delivers what it gets from another if it did not have it.
    """
    delivered = traces.where(is_event(schema.DELIVER)).select(RUN, schema.NODE, schema.NOTIFICATION_ID, schema.TIME_S)
    there = delivered.groupBy(RUN).agg(
        F.countDistinct(schema.NOTIFICATION_ID).alias("publications"), F.max(time_s()).alias("last")
    )
    asked = traces.where(is_event(schema.SUBSCRIBE)).groupBy(RUN).agg(F.countDistinct(schema.NODE).alias("subscribers"))
    had = delivered.groupBy(RUN, schema.NODE).agg(F.countDistinct(schema.NOTIFICATION_ID).alias("has"))
    complete = had.join(there, RUN).groupBy(RUN).agg(count_of(F.col("has") == F.col("publications"), "complete"))
    share = F.col("complete") / F.col("subscribers")
    known = 100 * F.try_divide(F.col("sent") - F.col("news"), F.col("sent"))
    return (
        asked.join(there, RUN)
        .join(complete, RUN)
        .join(_sent(traces), RUN, "left")
        .select(
            RUN,
            share.alias(INFORMED),
            F.when(share == 1, F.col("last")).alias(ROUNDS_TO_INFORM),
            known.alias(KNOWN_SENT),
        )
    )


def _sent(traces: DataFrame) -> DataFrame:
    """How many publications are sent to a subscriber as missing, and how many are new to the one that gets them."""
    is_sent = is_event(schema.SEND) & is_of(Publish.message_type)
    is_new = is_event(schema.DELIVER) & (F.col(schema.HOPS) > 0)
    return traces.groupBy(RUN).agg(count_of(is_sent, "sent"), count_of(is_new, "news"))


INFORMING = Extra(
    (
        ExtraMetrics(
            (
                Metric(
                    INFORMED,
                    "share of subscribers that have everything",
                    "Subscribers that have every publication that any of them had at the start, when the run ends.",
                    scale=Scale.SHARE,
                ),
                Metric(
                    ROUNDS_TO_INFORM,
                    "rounds until all have everything",
                    "Rounds until the last subscriber has every publication, in runs in which all get every one.",
                ),
                Metric(
                    KNOWN_SENT,
                    "publications sent in vain",
                    "Of the publications that one subscriber sends another as missing, those that it has already.",
                    "%",
                ),
            ),
            informing,
        ),
    )
)
