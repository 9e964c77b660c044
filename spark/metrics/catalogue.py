"""The metrics of every run, each declared and computed in one place.

A metric is a function of a `Run` under `metric`. `accounting` has those of pairs that were not delivered.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from roambus.spark.metrics.accounting import ENDS
from roambus.spark.metrics.metric import Kind, Metric, Scale, metric, metrics_in

if TYPE_CHECKING:
    from roambus.spark.metrics.run import Run


SENT_PREFIX = "sent_"
"""`sent_RREQ` is the number of packets of message type RREQ."""


def sent_metric(column: str) -> Metric:
    """The metric of a column `sent_TYPE`."""
    kind = column.removeprefix(SENT_PREFIX)
    return Metric(column, f"packets of type {kind}", f"Packets of type {kind} that all nodes sent.", kind=Kind.COUNT)


# Delivery


@metric("expected", kind=Kind.COUNT)
def expected(run: Run) -> float:
    """Pairs of a notification and a node, other than its publisher, that wanted it when it was published.

    A node that was down then and stayed down to the end of the run is not counted.
    """
    return len(run.arrays.pairs.routed)


@metric("down for good", kind=Kind.COUNT)
def down_for_good(run: Run) -> float:
    """Pairs that are not expected, because their node was down at the publication and never came back."""
    return run.arrays.lost_for_good


@metric("attempted", kind=Kind.COUNT)
def attempted(run: Run) -> float:
    """Expected pairs that the protocol began to deliver."""
    return int(run.arrays.pairs.routed.sum())


@metric("messages delivered", kind=Kind.COUNT)
def delivered(run: Run) -> float:
    """Expected pairs that were delivered at least once."""
    return len(present(run.arrays.pairs.delivered_s))


@metric("duplicates", kind=Kind.COUNT)
def duplicates(run: Run) -> float:
    """Deliveries of pairs that had been delivered before."""
    return int(run.arrays.pairs.deliveries.sum()) - len(present(run.arrays.pairs.delivered_s))


@metric("unexpected", kind=Kind.COUNT)
def unexpected(run: Run) -> float:
    """Pairs delivered to a node, not the publisher, that did not want the notification when it was published.

    Its filter does not match, or it subscribed later. Nothing that the warm-up published counts.
    """
    return run.arrays.unexpected


@metric("delivery rate (thesis)", scale=Scale.SHARE, of="attempted")
def delivery_rate_thesis(run: Run) -> float:
    """Of the attempted pairs, the share that was delivered, as the thesis defines it."""
    # Both numbers are over the same pairs. A pair can be delivered though nobody took it on: where subscribers pass
    # notifications on to each other (MFT-PubSub's `spreads`).
    return share(run.arrays.pairs.delivered_s[run.arrays.pairs.routed] >= 0)


@metric("delivery rate (all)", scale=Scale.SHARE, is_main=True, of="expected")
def delivery_rate_all(run: Run) -> float:
    """Delivered pairs over expected pairs: one denominator for every protocol."""
    return share(run.arrays.pairs.delivered_s >= 0)


@metric("delivery rate in time", scale=Scale.SHARE, of="expected")
def delivery_rate_in_time(run: Run) -> float:
    """Of the expected pairs, the share that was delivered within 1 s, or as many as ROAMBUS_DEADLINE_S says."""
    return share(run.arrays.pairs.delay_s <= run.deadline_s)


@metric("end-to-end delay", "s", scale=Scale.LOGARITHMIC, is_main=True)
def end_to_end_delay_mean_s(run: Run) -> float:
    """Time from publication to first delivery, mean over delivered pairs."""
    return mean(run.arrays.pairs.delay_s)


@metric("median delay", "s", scale=Scale.LOGARITHMIC)
def delay_median_s(run: Run) -> float:
    """Time from publication to first delivery that half of the delivered pairs took at most."""
    return percentile(run.arrays.pairs.delay_s, 0.5)


@metric("delay, 95th percentile", "s", scale=Scale.LOGARITHMIC)
def delay_p95_s(run: Run) -> float:
    """Time from publication to first delivery that 95 % of the delivered pairs took at most."""
    return percentile(run.arrays.pairs.delay_s, 0.95)


@metric("delay, 99th percentile", "s", scale=Scale.LOGARITHMIC)
def delay_p99_s(run: Run) -> float:
    """Time from publication to first delivery that 99 % of the delivered pairs took at most."""
    return percentile(run.arrays.pairs.delay_s, 0.99)


@metric("longest delay of all", "s", scale=Scale.LOGARITHMIC)
def delay_max_s(run: Run) -> float:
    """The longest time from a publication to a first delivery."""
    return greatest(run.arrays.pairs.delay_s)


@metric("hops, mean", is_main=True)
def hops_mean(run: Run) -> float:
    """Radio hops of first deliveries; a replay starts again at 0."""
    return average(run.arrays.pairs.hops)


@metric("hops, maximum", kind=Kind.WHOLE)
def hops_max(run: Run) -> float:
    """The most radio hops of any first delivery."""
    return greatest(run.arrays.pairs.hops)


# What nodes send and use


@metric("messages", kind=Kind.COUNT)
def messages(run: Run) -> float:
    """Packets that all nodes handed to the network stack, everything included."""
    return len(run.arrays.packets.bytes)


@metric("messages per node", scale=Scale.LOGARITHMIC, is_main=True)
def messages_per_node(run: Run) -> float:
    """Packets that a node handed to the network stack, mean over all nodes."""
    return average(run.arrays.nodes.messages)


@metric("messages per publisher")
def messages_per_publisher(run: Run) -> float:
    """Packets that a node handed to the network stack, mean over nodes that only publish."""
    return average(run.arrays.nodes.messages[run.arrays.nodes.role == "publisher"])


@metric("messages per subscriber")
def messages_per_subscriber(run: Run) -> float:
    """Packets that a node handed to the network stack, mean over subscribers that are no brokers."""
    return average(run.arrays.nodes.messages[run.arrays.nodes.role == "subscriber"])


@metric("messages per broker")
def messages_per_broker(run: Run) -> float:
    """Packets that a node handed to the network stack, mean over brokers, whatever else they are."""
    return average(run.arrays.nodes.messages[run.arrays.nodes.role == "broker"])


@metric("frames on the air per node", scale=Scale.LOGARITHMIC)
def air_frames_per_node(run: Run) -> float:
    """Frames that a node's radio sent, acknowledgements, retransmissions and preambles included, mean over all nodes.

    On ideal links, on Castalia and in live runs every packet is one frame.
    """
    return average(run.arrays.nodes.air_frames)


@metric("bytes on the air per node", "B", scale=Scale.LOGARITHMIC)
def air_bytes_per_node(run: Run) -> float:
    """Bytes of these frames with the headers of network, MAC and radio, mean over all nodes."""
    return average(run.arrays.nodes.air_bytes)


@metric("airtime", scale=Scale.LOGARITHMIC)
def airtime(run: Run) -> float:
    """Time that all these frames are on the air, at the radio's rate or by its own reception, over that of the run."""
    return run.arrays.air_s() / run.counted_s if run.counted_s else math.nan


@metric("copies heard")
def copies_heard(run: Run) -> float:
    """Times that a node hears a notification, mean over all that it hears; known of runs with --level full only."""
    return over(len(run.arrays.heard.node), run.arrays.count_heard())


@metric("energy per node", "mJ", scale=Scale.CUT, is_main=True)
def energy_per_node_mj(run: Run) -> float:
    """Energy that a node used in the whole run, mean over all nodes."""
    return mean(run.arrays.nodes.energy_mj, smallest=1e-6)


@metric("lifetime", "s")
def lifetime_s(run: Run) -> float:
    """Time at which the first node's battery was empty; unknown if every battery outlasted the run."""
    return -greatest(-run.arrays.nodes.died_s)


@metric("dead nodes", kind=Kind.COUNT)
def dead_nodes(run: Run) -> float:
    """Nodes whose battery was empty before the end."""
    return len(present(run.arrays.nodes.died_s))


# Migrations


@metric("migrations", kind=Kind.COUNT)
def migrations(run: Run) -> float:
    """Times that a node which once had a parent, or a client which once had a broker, gets one again."""
    return len(run.arrays.parents.node)


@metric("messages per migration", scale=Scale.LOGARITHMIC)
def messages_per_migration(run: Run) -> float:
    """Messages that migrations cause, by the agent's declaration, over the migrations; unknown without one."""
    return _over_migrations(run, len(run.arrays.migration_sizes))


@metric("bytes per migration", scale=Scale.LOGARITHMIC)
def bytes_per_migration(run: Run) -> float:
    """Bytes of the messages that migrations cause, without headers, over the migrations."""
    return _over_migrations(run, int(run.arrays.migration_sizes.sum()))


@metric("bytes per message of migrations", scale=Scale.LOGARITHMIC)
def migration_message_mean_b(run: Run) -> float:
    """Bytes of a message that migrations cause, without headers, mean over these messages."""
    return average(run.arrays.migration_sizes)


@metric("largest message of migrations", "B", kind=Kind.WHOLE)
def migration_message_max_b(run: Run) -> float:
    """Bytes of the longest message that migrations cause, without headers."""
    return greatest(run.arrays.migration_sizes)


def _over_migrations(run: Run, number: float) -> float:
    return over(number, len(run.arrays.parents.node)) if run.migration_messages else math.nan


# What metrics compute with


def over(part: float, whole: float) -> float:
    """Return the ratio; NaN for a zero denominator."""
    return float(part) / float(whole) if whole else math.nan


def share(conditions: Any) -> float:
    """How many of all are true."""
    return over(conditions.sum(), len(conditions))


def present(values: Any) -> Any:
    """Return the present values as an array."""
    numbers = values.to_numpy(float) if hasattr(values, "to_numpy") else values
    return numbers[numbers >= -math.inf]


def average(values: Any) -> float:
    """Return the mean of present whole numbers."""
    there = present(values)
    return over(there.sum(), len(there))


def greatest(values: Any) -> float:
    """Return the greatest of the present values."""
    there = present(values)
    return float(there.max()) if len(there) else math.nan


def mean(values: Any, smallest: float = 1e-9) -> float:
    """Return the mean of present values as integers of `smallest`, for any order."""
    there, digits = present(values), round(1 / smallest)
    return over(int((there * digits).round().astype("int64").sum()), len(there)) / digits


def percentile(values: Any, part: float) -> float:
    """Return this percentile of the present values, interpolated linearly."""
    there = present(values)
    if not len(there):
        return math.nan
    position = (len(there) - 1) * part
    places = [math.floor(position), math.ceil(position)]
    there.partition(places)  # `present` made a copy
    lower, higher = there[places]
    return float(lower + (higher - lower) * (position - math.floor(position)))


_OWN = metrics_in(globals())
_DELIVERY = _OWN.index(hops_max) + 1
METRICS = (*_OWN[:_DELIVERY], *ENDS, *_OWN[_DELIVERY:])
"""The metrics of every run, in the order of tables and reports."""
COUNTS = tuple(entry.column for entry in METRICS if entry.kind is Kind.COUNT)
MAIN_METRICS = tuple(entry.column for entry in METRICS if entry.is_main)

EXPECTED = expected.column
ATTEMPTED = attempted.column
DELIVERED = delivered.column
DELIVERY_RATE_THESIS = delivery_rate_thesis.column
DELIVERY_RATE_ALL = delivery_rate_all.column
DELAY_MEAN_S = end_to_end_delay_mean_s.column
HOPS_MEAN = hops_mean.column
HOPS_MAX = hops_max.column
MESSAGES = messages.column
MESSAGES_PER_NODE = messages_per_node.column
MESSAGES_PER_PUBLISHER = messages_per_publisher.column
MESSAGES_PER_SUBSCRIBER = messages_per_subscriber.column
MESSAGES_PER_BROKER = messages_per_broker.column
ENERGY_PER_NODE_MJ = energy_per_node_mj.column
