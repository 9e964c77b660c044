"""What every metric is called, measures and counts in: the one place for code, files, figures and report."""

from __future__ import annotations

from dataclasses import dataclass

EXPECTED = "expected"
ATTEMPTED = "attempted"
DELIVERED = "delivered"
DUPLICATES = "duplicates"
UNEXPECTED = "unexpected"
DELIVERY_RATE_THESIS = "delivery_rate_thesis"
DELIVERY_RATE_ALL = "delivery_rate_all"
DELAY_MEAN_S = "end_to_end_delay_mean_s"
HOPS_MEAN = "hops_mean"
HOPS_MAX = "hops_max"
MESSAGES = "messages"
MESSAGES_PER_NODE = "messages_per_node"
MESSAGES_PER_PUBLISHER = "messages_per_publisher"
MESSAGES_PER_SUBSCRIBER = "messages_per_subscriber"
MESSAGES_PER_BROKER = "messages_per_broker"
ENERGY_PER_NODE_MJ = "energy_per_node_mj"
MIGRATIONS = "migrations"
MESSAGES_PER_MIGRATION = "messages_per_migration"
BYTES_PER_MIGRATION = "bytes_per_migration"
MIGRATION_MESSAGE_MEAN_B = "migration_message_mean_b"
MIGRATION_MESSAGE_MAX_B = "migration_message_max_b"
SENT_PREFIX = "sent_"
"""`sent_RREQ` is the number of packets of message type RREQ."""


@dataclass(frozen=True, slots=True)
class Metric:
    """A column of the metrics: its name, a title with the unit for axes, and what it means in a sentence."""

    column: str
    title: str
    meaning: str


METRICS = (
    Metric(EXPECTED, "expected", "Pairs of a notification and a subscriber whose filter matches it."),
    Metric(ATTEMPTED, "attempted", "Of these, the pairs that the protocol took on."),
    Metric(DELIVERED, "messages delivered", "Of the expected pairs, those delivered at least once."),
    Metric(DUPLICATES, "duplicates", "Further deliveries of pairs already delivered."),
    Metric(UNEXPECTED, "unexpected", "Pairs delivered to a subscriber whose filter does not match."),
    Metric(DELIVERY_RATE_THESIS, "delivery rate (thesis)", "Delivered of attempted, the thesis' definition."),
    Metric(DELIVERY_RATE_ALL, "delivery rate (all)", "Delivered of expected: one denominator for every protocol."),
    Metric(DELAY_MEAN_S, "end-to-end delay (s)", "First delivery minus publication, mean over delivered pairs."),
    Metric(HOPS_MEAN, "hops, mean", "Radio hops of first deliveries; a replay starts again at 0."),
    Metric(HOPS_MAX, "hops, maximum", "The most hops of any first delivery."),
    Metric(MESSAGES, "messages", "Packets handed to the network stack by all nodes, everything included."),
    Metric(MESSAGES_PER_NODE, "messages per node", "Packets handed to the network stack, mean over nodes."),
    Metric(MESSAGES_PER_PUBLISHER, "messages per publisher", "The same over nodes that only publish."),
    Metric(MESSAGES_PER_SUBSCRIBER, "messages per subscriber", "The same over subscribers that are no brokers."),
    Metric(MESSAGES_PER_BROKER, "messages per broker", "The same over brokers, whatever else they are."),
    Metric(ENERGY_PER_NODE_MJ, "energy per node (mJ)", "Energy used in the whole run, mean over nodes."),
    Metric(
        MIGRATIONS, "migrations", "Times that a node which once had a parent, or a client a broker, gets one again."
    ),
    Metric(
        MESSAGES_PER_MIGRATION,
        "messages per migration",
        "Messages since the first migration, notifications and upkeep left out, over the number of migrations.",
    ),
    Metric(BYTES_PER_MIGRATION, "bytes per migration", "Bytes of these messages, without headers, likewise."),
    Metric(MIGRATION_MESSAGE_MEAN_B, "bytes per message of migrations", "Bytes of these messages, their mean."),
    Metric(MIGRATION_MESSAGE_MAX_B, "largest message of migrations (B)", "Bytes of the longest of these messages."),
)
TITLES = {metric.column: metric.title for metric in METRICS}
COUNTS = (EXPECTED, ATTEMPTED, DELIVERED, DUPLICATES, UNEXPECTED, MESSAGES, MIGRATIONS)
"""Metrics that are 0, not unknown, in a run in which nothing of the kind happened."""
