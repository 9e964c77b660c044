"""The schema of a trace, which is one Parquet file for a run, with one row for each thing that happens.

Everything that metrics are computed from is here; nothing else is shared between runs and their analysis. So a metric
that somebody thinks of later can be computed from traces that are there, without running anything again.

A row has a time, a node and an event; the other columns are empty where an event has no use for them. One table with
few columns of simple types, and not one for each kind of event: so Spark reads all runs of a sweep as one, and whoever
opens a file by hand sees what happened in its order. What is particular to one event stands in `detail` as text.

The names of events stand with the actions of agents, for agents write most of them; they are taken from there so that
whoever reads traces needs this module only.
"""

from __future__ import annotations

import pyarrow as pa

from roambus.python_protocol.actions import (
    ANSWER,
    ATTACH,
    CACHE,
    CRASH,
    DELIVER,
    DETACH,
    DIE,
    DROP,
    ENERGY,
    FORGET,
    FREEZE,
    LIST_SEPARATOR,
    MIGRATE,
    MOVE,
    OVERLAY,
    PUBLISH,
    RADIO,
    RECEIVE,
    RECOVER,
    REPLAY,
    ROLE,
    ROUTE,
    SEND,
    SERVE,
    STORE,
    SUBSCRIBE,
    UNSUBSCRIBE,
)

__all__ = [
    "ANSWER", "ATTACH", "BYTES", "CACHE", "CRASH", "DELIVER", "DETACH", "DETAIL", "DIE", "DROP", "ENERGY", "EVENT",
    "FORGET", "FREEZE", "HOPS", "LATEST_S", "LIST_SEPARATOR", "MESSAGE_TYPE", "MIGRATE", "MOVE", "NODE",
    "NOTIFICATION_ID", "OVERLAY", "PEER", "PUBLISH", "RADIO", "RECEIVE", "RECOVER", "REPLAY", "ROLE", "ROUTE",
    "SEND", "SERVE", "STORE", "SUBSCRIBE", "TIME_S", "TRACE_SCHEMA", "UNSUBSCRIBE",
]  # fmt: skip

TIME_S = "time_s"
NODE = "node"
EVENT = "event"
MESSAGE_TYPE = "message_type"
NOTIFICATION_ID = "notification_id"
PEER = "peer"
BYTES = "bytes"
HOPS = "hops"
DETAIL = "detail"

LATEST_S = 1e9
"""No row of a trace is later, and no way-point of a movement: times are exact to a microsecond at least up to here."""

TRACE_SCHEMA = pa.schema(
    [
        pa.field(TIME_S, pa.float64(), nullable=False),
        pa.field(NODE, pa.int32(), nullable=False),
        pa.field(EVENT, pa.string(), nullable=False),
        pa.field(MESSAGE_TYPE, pa.string()),
        pa.field(NOTIFICATION_ID, pa.string()),
        pa.field(PEER, pa.int32()),
        pa.field(BYTES, pa.int32()),
        pa.field(HOPS, pa.int32()),
        pa.field(DETAIL, pa.string()),
    ]
)
"""The columns of every trace, in this order; rows are sorted by time, then by order of occurrence."""
