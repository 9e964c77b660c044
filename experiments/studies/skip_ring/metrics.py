"""Measures what the lemmas and theorems of the skip ring's paper are about, from traces alone.

A state is what the last `overlay` rows of all nodes say. It is the skip ring if it has exactly the labels and edges
that `roambus.python_protocol.papers.skip_ring.corrupted` has for as many nodes, compared as sets of rows: one that is
wrong, missing or there twice shows. A round takes a second on average. A run has converged if the right state has been
there for ten rounds, because a state that is right for a moment can be on its way to another.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812  # the name that every text on Spark uses

from roambus.bridge.trace import schema
from roambus.python_protocol.messages.fields import NOBODY
from roambus.python_protocol.papers.skip_ring.corrupted import skip_ring
from roambus.python_protocol.papers.skip_ring.messages import GetConfiguration, SetData
from roambus.spark.metrics.catalogue import Metric, Scale
from roambus.spark.metrics.extra import Extra, ExtraMetrics
from roambus.spark.metrics.run_metrics import RUN

STATE = ("label", "left", "right", "ring", "shortcuts")
"""What an `overlay` row says of its node: label, edges by node, shortcuts."""


def is_event(event: str) -> Column:
    """Whether a row is of that event."""
    return F.col(schema.EVENT) == event


def is_of(message_type: str) -> Column:
    """Whether a row is about a message of that type."""
    return F.col(schema.MESSAGE_TYPE) == message_type


def count_of(condition: Column, name: str) -> Column:
    """An aggregate: how many rows there are of which this is true."""
    return F.sum(condition.cast("int")).alias(name)


def time_s() -> Column:
    """The time of a row."""
    return F.col(schema.TIME_S)


def overlay_rows(traces: DataFrame) -> DataFrame:
    """The `overlay` rows with node, time, number and STATE in columns.

    A node can have several at one instant; it numbers them, from 1 each time it joins.
    """
    parts = F.split(F.col(schema.DETAIL), " ", 7)
    columns = [parts[place + 1].alias(name) for place, name in enumerate(STATE)]
    number = parts[0].cast("int").alias("number")
    return traces.where(is_event(schema.OVERLAY)).select(RUN, schema.NODE, schema.TIME_S, number, *columns)


def last_states(traces: DataFrame) -> DataFrame:
    """The last state of each node, in columns. Who has left has no label in its last."""
    newest = F.max_by(F.struct(*STATE), F.struct(time_s(), "number")).alias("state")
    return overlay_rows(traces).groupBy(RUN, schema.NODE).agg(newest).select(RUN, schema.NODE, "state.*")


CONVERGED = "converged"
ROUNDS_TO_CONVERGE = "rounds_to_converge"
LEGITIMATE = "legitimate"
DEGREE_MEAN, DEGREE_MAX = "degree_mean", "degree_max"
REQUESTS_PER_ROUND = "requests_per_round"
SENT_PER_NODE_ROUND = "sent_per_node_round"
PER_SUBSCRIBE, PER_UNSUBSCRIBE = "answers_per_subscribe", "answers_per_unsubscribe"
FURTHER = "further_answers_per_operation"
CATCH_UP_ROUNDS, CAUGHT_UP = "catch_up_rounds", "caught_up"
ANSWERS_PER_ROUND = "answers_per_round"

CLOSURE_S = 10.0
"""A ring has converged if it is the right one, and has been for so long."""

_LABEL, _TARGET, _KIND = "label", "target", "kind"
_ITSELF = "itself"
"""The kind of the rows that say which labels there are."""
_RING = ("left", "right", "ring")
_REQUEST, _ANSWER = GetConfiguration.message_type, SetData.message_type
_EDGE = [RUN, _LABEL, _KIND, _TARGET]
UNTIL, SINCE = "until_s", "since_s"


def last_changes(traces: DataFrame) -> DataFrame:
    """SINCE and UNTIL of each run: the last change of a label or edge, and the end."""
    changed = F.when(is_event(schema.OVERLAY), time_s())
    return traces.groupBy(RUN).agg(F.max(changed).alias(SINCE), F.max(time_s()).alias(UNTIL))


def convergence(traces: DataFrame) -> DataFrame:
    """Whether the last state of a run is the skip ring, and when it was there."""
    judged = sound(edges(last_states(traces))).join(last_changes(traces), RUN)
    converged = F.col(LEGITIMATE) & (F.col(UNTIL) - F.col(SINCE) >= CLOSURE_S)
    return judged.select(
        RUN, converged.cast("int").alias(CONVERGED), F.when(converged, F.col(SINCE)).alias(ROUNDS_TO_CONVERGE)
    )


def legitimate_state(traces: DataFrame) -> DataFrame:
    """Whether the state before the first publication is the skip ring; degrees count different neighbours in it."""
    found = edges(last_states(_before_publications(traces)))
    neighbours = found.where(F.col(_LABEL) != F.col(_TARGET)).groupBy(RUN, _LABEL)
    degrees = neighbours.agg(F.countDistinct(_TARGET).alias("degree")).groupBy(RUN)
    ends = degrees.agg(F.avg("degree").alias(DEGREE_MEAN), F.max("degree").alias(DEGREE_MAX))
    return sound(found).join(ends, RUN, "left").withColumn(LEGITIMATE, F.col(LEGITIMATE).cast("int"))


def maintenance(traces: DataFrame) -> DataFrame:
    """What is sent a round between the last change and the first publication.

    Of subscribers these are requests, and everything; of the supervisor, configurations.
    """
    quiet = _before_publications(traces)
    settled = quiet.where(is_event(schema.OVERLAY)).groupBy(RUN, UNTIL)
    window = settled.agg(F.max(time_s()).alias(SINCE), F.countDistinct(schema.NODE).alias("members"))
    later = quiet.drop(UNTIL).join(window, RUN).where(time_s() > F.col(SINCE))
    sent = (
        later.where(is_event(schema.SEND))
        .groupBy(RUN, SINCE, UNTIL, "members")
        .agg(
            count_of(~is_of(_ANSWER), "sent"),
            count_of(is_of(_REQUEST), "requests"),
            count_of(is_of(_ANSWER), "answers"),
        )
    )
    rounds = F.col(UNTIL) - F.col(SINCE)
    return sent.select(
        RUN,
        (F.col("requests") / rounds).alias(REQUESTS_PER_ROUND),
        (F.col("sent") / rounds / F.col("members")).alias(SENT_PER_NODE_ROUND),
        (F.col("answers") / rounds).alias(ANSWERS_PER_ROUND),
    )


def operations(traces: DataFrame) -> DataFrame:
    """Messages of the supervisor for each subscription and unsubscription of the applications.

    Those count that it sends when it serves one. For each operation of either kind those count, too, that it sends
    at configuration requests, less as many as there were in the same time before the first publication.
    """
    later = traces.join(_first_publications(traces), RUN).where(time_s() >= F.col(UNTIL))
    commands = later.where(is_event(schema.SUBSCRIBE) | is_event(schema.UNSUBSCRIBE)).groupBy(RUN)
    asked = commands.agg(
        count_of(is_event(schema.SUBSCRIBE), "joins"), count_of(is_event(schema.UNSUBSCRIBE), "leaves")
    )
    # Two requests of one subscriber can come at one instant: each answer is to count once.
    at = [RUN, schema.NODE, schema.TIME_S]
    served = later.where(is_event(schema.SERVE)).select(*at, F.col(schema.MESSAGE_TYPE).alias("served")).distinct()
    sent = traces.where(is_event(schema.SEND)).select(*at).join(served, at).groupBy(RUN)
    kinds = {"to_join": "Subscribe", "to_leave": "Unsubscribe", "to_ask": _REQUEST}
    counts = sent.agg(*(count_of(F.col("served") == kind, name) for name, kind in kinds.items()))
    lasting = later.groupBy(RUN).agg((F.max(time_s()) - F.first(UNTIL)).alias("lasting"))
    usual = lasting.join(maintenance(traces), RUN).select(
        RUN, (F.col("lasting") * F.col(REQUESTS_PER_ROUND)).alias("usual")
    )
    return (
        asked.join(counts, RUN)
        .join(usual, RUN)
        .select(
            RUN,
            (F.col("to_join") / F.col("joins")).alias(PER_SUBSCRIBE),
            (F.col("to_leave") / F.col("leaves")).alias(PER_UNSUBSCRIBE),
            ((F.col("to_ask") - F.col("usual")) / (F.col("joins") + F.col("leaves"))).alias(FURTHER),
        )
    )


def catching_up(traces: DataFrame) -> DataFrame:
    """Rounds until a new subscriber has all that was published before it subscribed, and the share that gets all.

    The mean is over those that do.
    """
    published = traces.where(is_event(schema.PUBLISH)).select(
        RUN, schema.NOTIFICATION_ID, time_s().alias("published_s")
    )
    joined = traces.where(is_event(schema.SUBSCRIBE)).select(RUN, schema.NODE, time_s().alias("joined_s"))
    wanted = joined.join(published, RUN).where(F.col("published_s") < F.col("joined_s"))
    got = traces.where(is_event(schema.DELIVER)).select(
        RUN, schema.NODE, schema.NOTIFICATION_ID, time_s().alias("got_s")
    )
    pairs = wanted.join(got, [RUN, schema.NODE, schema.NOTIFICATION_ID], "left")
    late = pairs.groupBy(RUN, schema.NODE, "joined_s").agg(
        F.max("got_s").alias("last_s"), F.count("*").alias("wanted"), F.count("got_s").alias("got")
    )
    is_complete = F.col("wanted") == F.col("got")
    return late.groupBy(RUN).agg(
        F.avg(F.when(is_complete, F.col("last_s") - F.col("joined_s"))).alias(CATCH_UP_ROUNDS),
        F.avg(is_complete.cast("int")).alias(CAUGHT_UP),
    )


# States


def edges(states: DataFrame) -> DataFrame:
    """A row for each label and edge: label, kind, and the label of the node at the other end; a node without one: null.

    The kind of a shortcut names the label under which it is stored, so that a node with another label is wrong there.
    """
    ring = [F.struct(F.lit(name).alias(_KIND), F.col(name).alias("node")) for name in ("left", "right", "ring")]
    shortcuts = F.transform(
        F.filter(F.split("shortcuts", ","), lambda one: one != NOBODY),
        lambda one: F.struct(
            F.split_part(one, F.lit(":"), F.lit(1)).alias(_KIND), F.split_part(one, F.lit(":"), F.lit(2)).alias("node")
        ),
    )
    stored = states.select(RUN, _LABEL, F.explode(F.concat(F.array(*ring), shortcuts)).alias("edge"))
    known = stored.select(RUN, _LABEL, "edge.*").where((F.col("node") != NOBODY) | ~F.col(_KIND).isin(*_RING))
    ends = states.select(RUN, F.col(schema.NODE).cast("string").alias("node"), F.col(_LABEL).alias(_TARGET))
    itself = states.select(RUN, _LABEL, F.lit(_ITSELF).alias(_KIND), F.col(_LABEL).alias(_TARGET))
    found = known.join(ends, [RUN, "node"], "left").select(*_EDGE).unionByName(itself)
    return found.localCheckpoint()  # they are few, and what is asked of them asks several times


def sound(found: DataFrame) -> DataFrame:
    """LEGITIMATE of each run: whether these are the labels and edges of the definition, each once."""
    sizes = found.where(F.col(_KIND) == _ITSELF).groupBy(RUN).agg(F.count("*").alias("nodes"))
    numbers = [row["nodes"] for row in sizes.select("nodes").distinct().collect()]
    rows = [row for nodes in numbers for row in _defined(nodes)]
    defined = found.sparkSession.createDataFrame(
        rows, f"nodes bigint, {_LABEL} string, {_KIND} string, {_TARGET} string"
    )
    wanted = sizes.join(defined, "nodes").select(*_EDGE)
    sides = found.withColumn("side", F.lit(1)).unionByName(wanted.withColumn("side", F.lit(-1)))
    unequal = sides.groupBy(*_EDGE).agg(F.sum("side").alias("difference"), F.count("*").alias("copies"))
    right = (F.col("difference") == 0) & (F.col("copies") == 2)
    return unequal.groupBy(RUN).agg(F.min(right).alias(LEGITIMATE))


def _defined(nodes: int) -> Iterator[tuple[int, str, str, str]]:
    for label, place in skip_ring(nodes).items():
        yield nodes, label, _ITSELF, label
        ring = dict(zip(_RING, (place.left, place.right, place.ring), strict=True))
        yield from ((nodes, label, kind, target) for kind, target in ring.items() if target is not None)
        yield from ((nodes, label, shortcut, shortcut) for shortcut in place.shortcuts)


# Rows


def _before_publications(traces: DataFrame) -> DataFrame:
    """The rows before the first publication, with its time."""
    return traces.join(_first_publications(traces), RUN).where(time_s() < F.col(UNTIL))


def _first_publications(traces: DataFrame) -> DataFrame:
    return traces.where(is_event(schema.PUBLISH)).groupBy(RUN).agg(F.min(time_s()).alias(UNTIL))


MAINTENANCE = ExtraMetrics(
    (
        Metric(
            REQUESTS_PER_ROUND,
            "requests a round",
            "Configuration requests that all subscribers send in a round.",
        ),
        Metric(
            SENT_PER_NODE_ROUND,
            "messages a round",
            "Messages that a subscriber sends in a round, mean over all.",
        ),
        Metric(
            ANSWERS_PER_ROUND,
            "configurations a round",
            "Configurations that the supervisor sends in a round: one by turns, and one for each request.",
        ),
    ),
    maintenance,
)
CONVERGENCE = Extra(
    (
        ExtraMetrics(
            (
                Metric(
                    CONVERGED,
                    "share of runs that converge",
                    "Whether a run ends in a skip ring that is 10 rounds old: 1 or 0.",
                    scale=Scale.SHARE,
                ),
                Metric(
                    ROUNDS_TO_CONVERGE,
                    "rounds to converge",
                    "Rounds until the last change of a label or edge, in runs that converge.",
                ),
            ),
            convergence,
        ),
    )
)
STEADY = Extra(
    (
        ExtraMetrics(
            (
                Metric(
                    LEGITIMATE,
                    "share of legitimate states",
                    "Whether there is the skip ring when publishing begins: 1 or 0.",
                    scale=Scale.SHARE,
                ),
                Metric(DEGREE_MEAN, "mean degree", "Different neighbours by ring and shortcuts, mean over nodes."),
                Metric(
                    DEGREE_MAX,
                    "greatest degree",
                    "Different neighbours by ring and shortcuts of the node that has most.",
                ),
            ),
            legitimate_state,
        ),
        MAINTENANCE,
        ExtraMetrics(
            (
                Metric(
                    PER_SUBSCRIBE, "answers a subscription", "Messages of the supervisor that serve a subscription."
                ),
                Metric(
                    PER_UNSUBSCRIBE,
                    "answers an unsubscription",
                    "Messages of the supervisor that serve an unsubscription.",
                ),
                Metric(
                    FURTHER,
                    "further answers an operation",
                    "Messages of the supervisor to requests that there would not be without the operation.",
                ),
            ),
            operations,
        ),
        ExtraMetrics(
            (
                Metric(
                    CATCH_UP_ROUNDS,
                    "rounds to catch up",
                    "Rounds until a new subscriber has all that was published before it came, mean over those that do.",
                ),
                Metric(
                    CAUGHT_UP,
                    "share that catches up",
                    "New subscribers that have all that was published before they came, when the run ends.",
                    scale=Scale.SHARE,
                ),
            ),
            catching_up,
        ),
    )
)
