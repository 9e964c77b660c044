"""Names of the rows of a trace.

Only the host writes rows of `HOST_EVENTS`, the source of metrics: an agent must not invent its delivery rate.
"""

from __future__ import annotations

from collections.abc import Iterable

from roambus.python_protocol.roles import NodeId

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
"""A packet arrives from `peer`, with the notifications that it carries (only at level full)."""
CRASH = "crash"
"""The node has failed: it has lost what is not in stable storage, and does nothing until it recovers."""
FREEZE = "freeze"
"""The node is stopped: it keeps its state, and does nothing until it recovers."""
RECOVER = "recover"
"""The node is up again after a crash or a freeze."""
UNREACHABLE = "unreachable"
"""The conductor of a live run has lost the node, which may go on."""
REACHABLE = "reachable"
"""The conductor of a live run has the node back: it has been the same process all the time."""
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

HOST_EVENTS = frozenset(
    {
        PUBLISH,
        SUBSCRIBE,
        UNSUBSCRIBE,
        DETACH,
        ATTACH,
        DELIVER,
        SEND,
        RECEIVE,
        CRASH,
        FREEZE,
        RECOVER,
        UNREACHABLE,
        REACHABLE,
        MOVE,
        DIE,
        ROLE,
        ENERGY,
        RADIO,
    }
)
"""The rows that only the host writes; agents write `drop` as well."""

ROUTE = "route"
"""The protocol begins to deliver a notification to the subscribers listed in `detail`, blanks between them."""
DROP = "drop"
"""A packet or notification is given up, and `detail` says why."""
MIGRATE = "migrate"
"""The node has another parent, which is `peer`, or it has none any more."""
STORE = "store"
"""A broker stores a notification for subscriber `peer`; a router has it when the run ends."""
KEEP = "keep"
"""A node keeps a notification for whoever lacks it."""
RELEASE = "release"
"""A node no longer keeps a notification, and `detail` says why."""
REPLAY = "replay"
"""A broker sends a stored notification towards subscriber `peer`."""
LIST_SEPARATOR = " "
"""Separates the node ids of a list in `detail`."""


def node_list(nodes: Iterable[NodeId]) -> str:
    """The nodes as a row's `detail` lists them."""
    return LIST_SEPARATOR.join(map(str, nodes))
