"""Declares every metric once: its column, title, unit, scale, kind of values, and what it means.

Everything else is derived from the declaration: the column's type and what an empty run has in it, the axes of figures,
the tables of the report, what a comparison and an export call the metric, and the units of data frames. The value is
computed in `roambus.spark.metrics.run_metrics`, or by the study that adds the metric (`roambus.spark.metrics.extra`).
A new metric is a name, a declaration in METRICS, and a column of that name that the computation adds.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

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
LIFETIME_S = "lifetime_s"
DEAD_NODES = "dead_nodes"
MIGRATIONS = "migrations"
MESSAGES_PER_MIGRATION = "messages_per_migration"
BYTES_PER_MIGRATION = "bytes_per_migration"
MIGRATION_MESSAGE_MEAN_B = "migration_message_mean_b"
MIGRATION_MESSAGE_MAX_B = "migration_message_max_b"
SENT_PREFIX = "sent_"
"""`sent_RREQ` is the number of packets of message type RREQ."""


class Scale(Enum):
    """How the axis of a metric is drawn."""

    FROM_ZERO = "from 0"
    """A linear axis that begins at 0."""
    CUT = "cut"
    """A linear axis around the values, for those that differ by less than a line's width from each other."""
    SHARE = "share"
    """A linear axis from 0 to 1."""
    LOGARITHMIC = "logarithmic"


class Kind(Enum):
    """What values a metric has, and which one if there was nothing to measure."""

    COUNT = "count"
    """A whole number, which is 0 if nothing of the kind happened."""
    WHOLE = "whole"
    """A whole number, which is unknown if there was nothing to measure."""
    REAL = "real"
    """A number, which is unknown if there was nothing to measure."""


@dataclass(frozen=True, slots=True)
class Metric:
    """What is measured of a run."""

    column: str
    """The name in tables, on the command line and in exports."""
    title: str
    """The name for readers, without the unit."""
    meaning: str
    unit: str = ""
    """Empty for counts and shares."""
    scale: Scale = Scale.FROM_ZERO
    kind: Kind = Kind.REAL
    is_main: bool = False
    """Whether agents are compared by it unless something else is asked for."""

    @property
    def axis_title(self) -> str:
        """The title with the unit, as axes, tables and exports have it."""
        return f"{self.title} ({self.unit})" if self.unit else self.title


METRICS = (
    Metric(EXPECTED, "expected", "Pairs of a notification and a subscriber whose filter matches it.", kind=Kind.COUNT),
    Metric(ATTEMPTED, "attempted", "Expected pairs that the protocol began to deliver.", kind=Kind.COUNT),
    Metric(DELIVERED, "messages delivered", "Expected pairs that were delivered at least once.", kind=Kind.COUNT),
    Metric(DUPLICATES, "duplicates", "Deliveries of pairs that had been delivered before.", kind=Kind.COUNT),
    Metric(UNEXPECTED, "unexpected", "Pairs delivered to a subscriber whose filter does not match.", kind=Kind.COUNT),
    Metric(
        DELIVERY_RATE_THESIS,
        "delivery rate (thesis)",
        "Of the attempted pairs, the share that was delivered, as the thesis defines it.",
        scale=Scale.SHARE,
    ),
    Metric(
        DELIVERY_RATE_ALL,
        "delivery rate (all)",
        "Delivered pairs over expected pairs: one denominator for every protocol.",
        scale=Scale.SHARE,
        is_main=True,
    ),
    Metric(
        DELAY_MEAN_S,
        "end-to-end delay",
        "Time from publication to first delivery, mean over delivered pairs.",
        unit="s",
        scale=Scale.LOGARITHMIC,
        is_main=True,
    ),
    Metric(HOPS_MEAN, "hops, mean", "Radio hops of first deliveries; a replay starts again at 0.", is_main=True),
    Metric(HOPS_MAX, "hops, maximum", "The most radio hops of any first delivery.", kind=Kind.WHOLE),
    Metric(
        MESSAGES,
        "messages",
        "Packets that all nodes handed to the network stack, everything included.",
        kind=Kind.COUNT,
    ),
    Metric(
        MESSAGES_PER_NODE,
        "messages per node",
        "Packets that a node handed to the network stack, mean over all nodes.",
        scale=Scale.LOGARITHMIC,
        is_main=True,
    ),
    Metric(
        MESSAGES_PER_PUBLISHER,
        "messages per publisher",
        "Packets that a node handed to the network stack, mean over nodes that only publish.",
    ),
    Metric(
        MESSAGES_PER_SUBSCRIBER,
        "messages per subscriber",
        "Packets that a node handed to the network stack, mean over subscribers that are no brokers.",
    ),
    Metric(
        MESSAGES_PER_BROKER,
        "messages per broker",
        "Packets that a node handed to the network stack, mean over brokers, whatever else they are.",
    ),
    Metric(
        ENERGY_PER_NODE_MJ,
        "energy per node",
        "Energy that a node used in the whole run, mean over all nodes.",
        unit="mJ",
        scale=Scale.CUT,
        is_main=True,
    ),
    Metric(
        LIFETIME_S,
        "lifetime",
        "Time at which the first node's battery was empty; unknown if every battery outlasted the run.",
        unit="s",
    ),
    Metric(DEAD_NODES, "dead nodes", "Nodes whose battery was empty before the end.", kind=Kind.COUNT),
    Metric(
        MIGRATIONS,
        "migrations",
        "Times that a node which once had a parent, or a client which once had a broker, gets one again.",
        kind=Kind.COUNT,
    ),
    Metric(
        MESSAGES_PER_MIGRATION,
        "messages per migration",
        "Messages since the first migration, without notifications and upkeep, over the migrations; unknown where "
        "heartbeats carry more than themselves.",
        scale=Scale.LOGARITHMIC,
    ),
    Metric(
        BYTES_PER_MIGRATION,
        "bytes per migration",
        "Bytes of the messages of migrations, without headers, over the migrations; unknown as their number is.",
        scale=Scale.LOGARITHMIC,
    ),
    Metric(
        MIGRATION_MESSAGE_MEAN_B,
        "bytes per message of migrations",
        "Bytes of a message of migrations, without headers, mean over these messages; unknown as their number is.",
        scale=Scale.LOGARITHMIC,
    ),
    Metric(
        MIGRATION_MESSAGE_MAX_B,
        "largest message of migrations",
        "Bytes of the longest message of migrations, without headers; unknown as their number is.",
        unit="B",
        kind=Kind.WHOLE,
    ),
)
"""The metrics of every run, in the order of tables and reports."""
COUNTS = tuple(metric.column for metric in METRICS if metric.kind is Kind.COUNT)
MAIN_METRICS = tuple(metric.column for metric in METRICS if metric.is_main)


def sent_metric(column: str) -> Metric:
    """The metric of a column `sent_TYPE`."""
    kind = column.removeprefix(SENT_PREFIX)
    return Metric(column, f"packets of type {kind}", f"Packets of type {kind} that all nodes sent.", kind=Kind.COUNT)
