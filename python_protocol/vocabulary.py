"""Words that all modules share: nodes, their roles, time, and the rows of a trace.

A node is a number, also its address, with any combination of roles (the thesis, section 2.2); a field's type names the
process for transcripts. Time is whole nanoseconds, so that sums and comparisons are exact. Only the host writes rows of
`HOST_EVENTS`, the source of metrics: an agent must not invent its delivery rate.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal, InvalidOperation
from enum import Flag
from typing import Annotated

from roambus.python_protocol.messages.fields import BROADCAST_ADDRESS, Integer

# Nodes and roles


NodeId = Annotated[int, Integer("H", lambda node, names: str(names.node(node)))]
"""Index of a node, 0 to 65533, and its address on the network."""


SubscriberId = Annotated[int, Integer("H", lambda node, names: str(names.subscriber(node)))]
"""A subscriber's node, in a message about it."""


BrokerId = Annotated[int, Integer("H", lambda node, names: str(names.broker(node)))]
"""A broker's node, in a message about it."""


BROADCAST: NodeId = BROADCAST_ADDRESS
"""The destination that every node in range receives."""


class Role(Flag):
    """The part of a node in the publish/subscribe system."""

    NONE = 0
    PUBLISHER = 1
    SUBSCRIBER = 2
    BROKER = 4


def parse_roles(text: str) -> Role:
    """Read role names separated by blanks or commas; raise ValueError naming the unknown one."""
    roles = Role.NONE
    for word in text.replace(",", " ").split():
        try:
            roles |= Role[word.upper()]
        except KeyError:
            raise ValueError(f"{word!r} is not a role; the roles are publisher, subscriber, broker") from None
    return roles


def format_roles(roles: Role) -> str:
    """The text that `parse_roles` reads back: "publisher broker"."""
    return " ".join(role.name.lower() for role in Role if role in roles and role.name)


# Time


SimTime = int
"""Nanoseconds of simulator time since the start of the run."""


NANOSECOND: SimTime = 1


MICROSECOND: SimTime = 1_000


MILLISECOND: SimTime = 1_000_000


SECOND: SimTime = 1_000_000_000


_UNITS = {"ns": NANOSECOND, "us": MICROSECOND, "ms": MILLISECOND, "s": SECOND, "min": 60 * SECOND, "h": 3600 * SECOND}


_GREATEST_NUMBER = 10**19
"""More nanoseconds than OMNeT++ can count: a limit for every unit."""


_TIME = re.compile(r"\s*([-+0-9.eE]+)\s*([a-z]*)\s*")


def from_seconds(seconds: float) -> SimTime:
    """The time nearest to `seconds`."""
    return round(seconds * SECOND)


def to_seconds(time: SimTime) -> float:
    """A time in seconds, rounded to a float."""
    return time / SECOND


def parse_time(text: str) -> SimTime:
    """Read "1.5s", "20 ms", "100us" or "3" (seconds); raises ValueError."""
    match = _TIME.fullmatch(text)
    unit = _UNITS.get(match[2] or "s") if match else None
    if match is None or unit is None:
        raise ValueError(f"{text!r} is not a time such as 1.5s, 20ms or 100us")
    try:
        number = Decimal(match[1])
    except InvalidOperation:
        raise ValueError(f"{text!r} is not a time such as 1.5s, 20ms or 100us") from None
    if number.copy_abs() > _GREATEST_NUMBER:
        raise ValueError(f"{text[:40]!r} is longer than any simulation lasts")
    return int((number * unit).to_integral_value())


def format_time(time: SimTime) -> str:
    """Write `time` for `parse_time` in the largest unit that it fills: "1.5s", "20ms"."""
    for unit in ("s", "ms", "us"):
        if abs(time) >= _UNITS[unit]:
            return f"{Decimal(time) / _UNITS[unit]:f}{unit}"
    return f"{time}ns" if time else "0s"


# Rows of a trace

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
"""A broker stores a notification for subscriber `peer`."""
REPLAY = "replay"
"""A broker sends a stored notification towards subscriber `peer`."""
LIST_SEPARATOR = " "
"""Separates the node ids of a list in `detail`."""


def node_list(nodes: Iterable[NodeId]) -> str:
    """The nodes as a row's `detail` lists them."""
    return LIST_SEPARATOR.join(map(str, nodes))
