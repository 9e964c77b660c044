"""Measures what happens to a skip ring, from traces alone: joins, crashes, and publications that only one has.

While the subscribers double (section 4.1 of the paper), a join concerns an old subscriber if it has another predecessor
or successor afterwards, which is what a configuration tells beside the label. What a subscription or unsubscription
costs the subscribers is what they send beyond maintenance, since an idle ring sends, too. After crashes (section 3.3)
those left are to be the skip ring of as many. In the sweep of publications (section 4.2) nobody publishes: all that is
sent is what tries lack, and each publication is delivered by the subscriber that has it.

1. Nothing is asked of an agent: overlay rows say what label and neighbours a node has, and since when. So the same
   measurements hold for a variant of the protocol, and for one that somebody else writes.
2. Times are rounds, because a round is a second.
3. Whatever a run never comes to is null and not the length of the run. Means are then of the runs that come to it, and
   the share of these is a metric of its own.
4. What is kept up is measured before what disturbs it: messages of the idle ring before the first publication are the
   measure of what operations add.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812  # the name that every text on Spark uses

from roambus.bridge.trace import schema
from roambus.experiments.studies.skip_ring.metrics import (
    CLOSURE_S,
    LEGITIMATE,
    SENT_PER_NODE_ROUND,
    SINCE,
    UNTIL,
    count_of,
    edges,
    is_event,
    is_of,
    last_changes,
    last_states,
    maintenance,
    overlay_rows,
    sound,
    time_s,
)
from roambus.python_protocol.messages.fields import NOBODY
from roambus.python_protocol.papers.skip_ring import messages
from roambus.python_protocol.papers.skip_ring.messages import Publish
from roambus.spark.metrics.catalogue import Metric, Scale
from roambus.spark.metrics.extra import Extra, ExtraMetrics
from roambus.spark.metrics.run_metrics import RUN

RESTORED = "restored"
ROUNDS_TO_RESTORE = "rounds_to_restore"


def recovery(traces: DataFrame) -> DataFrame:
    """Whether those that have not crashed end in the skip ring of as many, and the rounds from the crash until then.

    Rows of the crashed nodes are left out before the ring is worked out: their last state is no part of it. A ring that
    was never disturbed is restored after 0 rounds, though its last change is older than the crash.
    """
    crashed = traces.where(is_event(schema.CRASH)).select(RUN, schema.NODE).distinct()
    left = traces.join(crashed, [RUN, schema.NODE], "left_anti")
    times = last_changes(left)
    began = traces.where(is_event(schema.CRASH)).groupBy(RUN).agg(F.max(time_s()).alias("at"))
    restored = F.col(LEGITIMATE) & (F.col(UNTIL) - F.col(SINCE) >= CLOSURE_S)
    rounds = F.greatest(F.col(SINCE) - F.col("at"), F.lit(0.0))
    return (
        sound(edges(last_states(left)))
        .join(times, RUN)
        .join(began, RUN)
        .select(RUN, restored.cast("int").alias(RESTORED), F.when(restored, rounds).alias(ROUNDS_TO_RESTORE))
    )


CRASHES = Extra(
    (
        ExtraMetrics(
            (
                Metric(
                    RESTORED,
                    "share of runs that are restored",
                    "Whether those left end in the skip ring of as many that is 10 rounds old: 1 or 0.",
                    scale=Scale.SHARE,
                ),
                Metric(
                    ROUNDS_TO_RESTORE,
                    "rounds to restore the ring",
                    "Rounds from the crashes until the last change of a label or edge, in runs that are restored.",
                ),
            ),
            recovery,
        ),
    )
)


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
    is_sent = is_event(schema.SEND) & is_of(Publish.message_type)
    is_new = is_event(schema.DELIVER) & (F.col(schema.HOPS) > 0)
    sent = traces.groupBy(RUN).agg(count_of(is_sent, "sent"), count_of(is_new, "news"))
    known = 100 * F.try_divide(F.col("sent") - F.col("news"), F.col("sent"))
    return (
        asked.join(there, RUN)
        .join(complete, RUN)
        .join(sent, RUN, "left")
        .select(
            RUN,
            share.alias(INFORMED),
            F.when(share == 1, F.col("last")).alias(ROUNDS_TO_INFORM),
            known.alias(KNOWN_SENT),
        )
    )


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


TWO_CONSECUTIVE = "two_consecutive_joins"
MOST_JOINS = "most_joins_for_one"

_JOIN = "join"
_FIRST = "0"
"""The label that the first and the last join of a doubling concern, which are no neighbours in time."""


def concerned(traces: DataFrame) -> DataFrame:
    """The share of old subscribers, without that with label 0, that two consecutive joins concern and no other.

    Consecutive are joins whose numbers differ by one, in the order in which they were asked for.

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
    # When each join after the start was asked for, and its number, from 1.
    asked = traces.where(is_event(schema.SUBSCRIBE) & (time_s() > 0)).select(RUN, time_s().alias("at"))
    joins = asked.withColumn(_JOIN, F.row_number().over(Window.partitionBy(RUN).orderBy("at")))
    first = joins.groupBy(RUN).agg(F.min("at").alias("first"))
    # The first and the last of the list have one of their neighbours on the circle as ring.
    neighbours = [
        F.when(F.col(side) == NOBODY, F.col("ring")).otherwise(F.col(side)).alias(name)
        for side, name in (("left", "before"), ("right", "behind"))
    ]
    rows = overlay_rows(traces).select(RUN, schema.NODE, schema.TIME_S, "number", "label", *neighbours)
    states = rows.join(first, RUN)
    in_time = Window.partitionBy(RUN, schema.NODE).orderBy(schema.TIME_S, "number")
    moved = F.struct("before", "behind") != F.lag(F.struct("before", "behind")).over(in_time)
    later = states.withColumn("moved", moved).where((time_s() >= F.col("first")) & F.col("moved"))
    by = later.join(joins, RUN).where(F.col("at") <= time_s())
    found = by.groupBy(RUN, schema.NODE, schema.TIME_S, "number").agg(F.max(_JOIN).alias(_JOIN))
    old = states.where(time_s() < F.col("first")).groupBy(RUN, schema.NODE)
    labels = old.agg(F.max_by("label", F.struct(schema.TIME_S, "number")).alias("label"))
    return labels.join(found.select(RUN, schema.NODE, _JOIN).distinct(), [RUN, schema.NODE], "left")


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
