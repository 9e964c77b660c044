"""The schema of a trace, which is one Parquet file for a run, with one row for each thing that happens.

Everything that metrics are computed from is here; nothing else is shared between runs and their analysis.
"""

from __future__ import annotations

import pyarrow as pa

from roambus.python_protocol.notes import (
    ANSWER,
    CACHE,
    DROP,
    FORGET,
    LIST_SEPARATOR,
    MIGRATE,
    OVERLAY,
    REPLAY,
    ROUTE,
    SERVE,
    STORE,
)

__all__ = [
    "ANSWER",
    "ATTACH",
    "BYTES",
    "CACHE",
    "CRASH",
    "DELIVER",
    "DETACH",
    "DETAIL",
    "DIE",
    "DROP",
    "ENERGY",
    "EVENT",
    "FORGET",
    "FREEZE",
    "HOPS",
    "LATEST_S",
    "LIST_SEPARATOR",
    "MESSAGE_TYPE",
    "MIGRATE",
    "MOVE",
    "NODE",
    "NOTIFICATION_ID",
    "OVERLAY",
    "PEER",
    "PUBLISH",
    "RADIO",
    "RECEIVE",
    "RECOVER",
    "REPLAY",
    "ROLE",
    "ROUTE",
    "SEND",
    "SERVE",
    "STORE",
    "SUBSCRIBE",
    "TIME_S",
    "TRACE_SCHEMA",
    "UNSUBSCRIBE",
]

TIME_S = "time_s"
NODE = "node"
EVENT = "event"
MESSAGE_TYPE = "message_type"
NOTIFICATION_ID = "notification_id"
PEER = "peer"
BYTES = "bytes"
HOPS = "hops"
DETAIL = "detail"

PUBLISH = "publish"
"""A publisher's application publishes: `notification_id`; `detail` is a list of the subscribers that want it."""
SUBSCRIBE = "subscribe"
"""A subscriber's application subscribes: `detail` is the filter."""
UNSUBSCRIBE = "unsubscribe"
"""A subscriber's application unsubscribes: `detail` is the filter."""
DETACH = "detach"
"""A client's application leaves its broker on purpose: the agent has been told."""
ATTACH = "attach"
"""A client's application is back."""
DELIVER = "deliver"
"""The application gets `notification_id` after `hops` radio hops."""
SEND = "send"
"""A packet is handed to the network stack: `message_type`, `peer` (null for broadcast), `bytes` of the message."""
RECEIVE = "receive"
"""A packet arrives from `peer` (only at level full)."""
CRASH = "crash"
"""The node has failed: it has lost what is not in stable storage, and does nothing until it recovers."""
FREEZE = "freeze"
"""The node is stopped: it keeps its state, and does nothing until it recovers."""
RECOVER = "recover"
"""The node is up again after a crash or a freeze."""
MOVE = "move"
"""The node is at `detail` = "x y" (m), and goes straight to the place of its next move row."""
DIE = "die"
"""The node's battery is empty: it sends and hears nothing any more."""
ROLE = "role"
"""Written for each node at its start: `detail` is its roles, blanks between them."""
ENERGY = "energy"
"""Written for each node at the end: `detail` is the energy used, in mJ."""
RADIO = "radio"
"""Written for each node at the end: `message_type` names a count of the radio's, `detail` is its value."""

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
