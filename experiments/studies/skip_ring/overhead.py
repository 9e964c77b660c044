"""Measures what a subscription or unsubscription costs the subscribers of a skip ring (section 4.1 of its paper)."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812  # the name that every text on Spark uses

from roambus.bridge.trace import schema
from roambus.experiments.studies.skip_ring.metrics import SENT_PER_NODE_ROUND, maintenance
from roambus.experiments.studies.skip_ring.rows import count_of, is_event, time_s
from roambus.python_protocol.skip_ring import messages
from roambus.spark.metrics.catalogue import Metric
from roambus.spark.metrics.extra import ExtraMetrics
from roambus.spark.metrics.run_metrics import RUN

BY_SUBSCRIBERS = "subscribers_messages_per_operation"

_OF_OVERLAY = tuple(
    one.message_type
    for one in (
        messages.GetConfiguration,
        messages.Introduce,
        messages.IntroduceShortcut,
        messages.Linearize,
        messages.RemoveConnections,
        messages.Subscribe,
        messages.Unsubscribe,
    )
)
"""What subscribers send for the sake of labels and edges; the others are about publications."""


def overhead(traces: DataFrame) -> DataFrame:
    """What subscribers send for labels and edges beyond maintenance, over the number of operations.

    The operations are the subscriptions and unsubscriptions after the start, and the time is from the first of them to
    the end of the run. Maintenance is what those there send in as many rounds before the first publication.
    """
    of_application = is_event(schema.SUBSCRIBE) | is_event(schema.UNSUBSCRIBE)
    commands = traces.where(of_application).withColumn("change", F.when(is_event(schema.SUBSCRIBE), 1).otherwise(-1))
    ends = traces.groupBy(RUN).agg(F.max(time_s()).alias("end"))
    first = (
        commands.where(time_s() > 0).groupBy(RUN).agg(F.min(time_s()).alias("first"), F.count("*").alias("operations"))
    )
    window = first.join(ends, RUN)
    there = F.col("end") - F.greatest(time_s(), F.col("first"))
    rounds = commands.join(window, RUN).groupBy(RUN).agg(F.sum(F.col("change") * there).alias("rounds"))
    sent = traces.join(window, RUN).where((time_s() >= F.col("first")) & is_event(schema.SEND)).groupBy(RUN)
    counted = sent.agg(count_of(F.col(schema.MESSAGE_TYPE).isin(*_OF_OVERLAY), "sent"))
    usual = F.col(SENT_PER_NODE_ROUND) * F.col("rounds")
    joined = counted.join(rounds, RUN).join(first, RUN).join(maintenance(traces), RUN)
    return joined.select(RUN, ((F.col("sent") - usual) / F.col("operations")).alias(BY_SUBSCRIBERS))


OVERHEAD = ExtraMetrics(
    (
        Metric(
            BY_SUBSCRIBERS,
            "messages of subscribers an operation",
            "What subscribers send for labels and edges beyond maintenance, over subscriptions and unsubscriptions.",
        ),
    ),
    overhead,
)
