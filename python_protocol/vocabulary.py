"""Words that all chapters share: nodes, their roles, and time.

A *node* is a number, which also is its address on the network. It can take any combination of *roles* (the thesis,
section 2.2), and has a process for each. A message tells which of them it speaks of by the type of its field, so that a
transcript can call each process by its own name.

*Time* is an integer number of nanoseconds. Seconds exist only at the edges, which are files, the command line and
figures. Inside, times are added and compared as integers, so that no time is ever rounded.
"""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from enum import Flag
from typing import Annotated

from roambus.python_protocol.messages.fields import Integer

# Nodes and roles


NodeId = Annotated[int, Integer("H", lambda node, names: str(names.node(node)))]
"""Index of a node, 0 to 65533, which also is its address on the network."""


SubscriberId = Annotated[int, Integer("H", lambda node, names: str(names.subscriber(node)))]
"""The node of a subscriber, in a message that speaks of the subscriber."""


BrokerId = Annotated[int, Integer("H", lambda node, names: str(names.broker(node)))]
"""The node of a broker, in a message that speaks of the broker."""


BROADCAST: NodeId = 65535
"""The destination that every node in range receives."""


class Role(Flag):
    """What a node does in the publish/subscribe system."""

    NONE = 0
    PUBLISHER = 1
    SUBSCRIBER = 2
    BROKER = 4


def parse_roles(text: str) -> Role:
    """Reads role names separated by blanks or commas; raises ValueError naming the unknown one."""
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
"""More nanoseconds than OMNeT++ can count, so larger numbers of other units are also too many."""


_TIME = re.compile(r"\s*([-+0-9.eE]+)\s*([a-z]*)\s*")


def from_seconds(seconds: float) -> SimTime:
    """The time nearest to `seconds`."""
    return round(seconds * SECOND)


def to_seconds(time: SimTime) -> float:
    """A time in seconds, for files and figures; it is rounded to a float."""
    return time / SECOND


def parse_time(text: str) -> SimTime:
    """Reads "1.5s", "20 ms", "100us" or "3" (seconds); raises ValueError that shows what was expected."""
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
    """A text that `parse_time` reads back as `time`, in the largest unit that it fills: "1.5s", "20ms"."""
    for unit in ("s", "ms", "us"):
        if abs(time) >= _UNITS[unit]:
            return f"{Decimal(time) / _UNITS[unit]:f}{unit}"
    return f"{time}ns" if time else "0s"
