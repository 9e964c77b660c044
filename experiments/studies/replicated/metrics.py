"""Measures what the study of replicated brokers is about, from traces alone.

Messages and bytes are counted from the first event on, and are over the number of events.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812  # the name that every text on Spark uses

from roambus.bridge.trace import schema
from roambus.spark.metrics.catalogue import Metric
from roambus.spark.metrics.extra import Extra, ExtraMetrics
from roambus.spark.metrics.run_metrics import RUN

SITE_MESSAGES = "site_messages_per_event"
SITE_BYTES = "site_bytes_per_event"
EVENT_MESSAGES = "messages_per_event"
LONGEST_DELAY_S = "longest_delay_s"
LATE_PER_CENT = "late_per_cent"
LATE_S = 0.05
"""A delivery is late if it takes longer, which the metric's meaning says in ms: several times as long as without
failures, and half of the time-out.
"""

_BETWEEN_SITES = ("EVENT", "UPDATE")
"""The messages that go from broker to broker by themselves; within a site they travel inside other messages."""
_EVENTS, _STARTED_S = "events", "started_s"


def costs(traces: DataFrame) -> DataFrame:
    """A row for each run that publishes anything: what is sent from the first event on, over the number of events."""
    event, size = F.col(schema.EVENT), F.col(schema.BYTES)
    published = traces.where(event == schema.PUBLISH).groupBy(RUN)
    per_run = published.agg(F.count("*").alias(_EVENTS), F.min(schema.TIME_S).alias(_STARTED_S))
    sent = traces.where(event == schema.SEND).join(F.broadcast(per_run), RUN)
    since = _from_and_to_brokers(sent.where(F.col(schema.TIME_S) >= F.col(_STARTED_S)), traces)
    between = F.col("between_brokers") & F.col(schema.MESSAGE_TYPE).isin(*_BETWEEN_SITES)
    sums = since.groupBy(RUN, _EVENTS).agg(
        F.count("*").alias("all"),
        F.count_if(between).alias("messages"),
        F.coalesce(F.sum(F.when(between, size)), F.lit(0)).alias("size"),
    )
    names = {EVENT_MESSAGES: "all", SITE_MESSAGES: "messages", SITE_BYTES: "size"}
    return sums.select(RUN, *((F.col(sum_) / F.col(_EVENTS)).alias(name) for name, sum_ in names.items()))


def _from_and_to_brokers(sent: DataFrame, traces: DataFrame) -> DataFrame:
    """The messages with the column `between_brokers`: whether a broker sends them to a broker."""
    brokers = traces.where((F.col(schema.EVENT) == schema.ROLE) & (F.col(schema.DETAIL) == "broker"))
    to = brokers.select(RUN, F.col(schema.NODE).alias(schema.PEER), F.lit(True).alias("to_broker"))
    by = brokers.select(RUN, schema.NODE, F.lit(True).alias("by_broker"))
    joined = sent.join(F.broadcast(to), [RUN, schema.PEER], "left").join(F.broadcast(by), [RUN, schema.NODE], "left")
    return joined.withColumn("between_brokers", F.col("to_broker").isNotNull() & F.col("by_broker").isNotNull())


def held_up(traces: DataFrame) -> DataFrame:
    """A row for each run that delivers anything: the longest time that a delivery took, and the share of late ones."""
    event, time_s, keys = F.col(schema.EVENT), F.col(schema.TIME_S), [RUN, schema.NOTIFICATION_ID]
    published = traces.where(event == schema.PUBLISH).select(*keys, time_s.alias("published_s"))
    delivered = traces.where(event == schema.DELIVER).select(*keys, time_s.alias("delivered_s"))
    delay = F.col("delivered_s") - F.col("published_s")
    return (
        delivered.join(published, keys)
        .groupBy(RUN)
        .agg(
            F.max(delay).alias(LONGEST_DELAY_S), (100 * F.count_if(delay > LATE_S) / F.count("*")).alias(LATE_PER_CENT)
        )
    )


COSTS = (
    Metric(
        EVENT_MESSAGES,
        "messages per event",
        "Packets of all nodes from the first event on, everything included, over the number of events.",
    ),
    Metric(
        SITE_MESSAGES,
        "messages between sites per event",
        "Events and updates from site to site, over the number of events.",
    ),
    Metric(
        SITE_BYTES,
        "bytes between sites per event",
        "Bytes of events and updates from site to site, without headers, over the number of events.",
    ),
)
EXTRA = Extra(
    metrics=(
        ExtraMetrics(COSTS, costs),
        ExtraMetrics(
            (
                Metric(
                    LONGEST_DELAY_S,
                    "longest delay",
                    "The longest time that any event took until a subscriber had it.",
                    "s",
                ),
                Metric(
                    LATE_PER_CENT,
                    "late deliveries",
                    "The share of deliveries that took longer than 50 ms.",
                    "%",
                ),
            ),
            held_up,
        ),
    )
)
