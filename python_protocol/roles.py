"""Nodes, and the roles that a node can take on in any combination (the thesis, section 2.2).

A node with several roles has a process for each. A message tells which of them it speaks of by the type of its field,
so that a transcript can call each process by its own name.
"""

from __future__ import annotations

from enum import Flag
from typing import Annotated

from roambus.python_protocol.messages.fields import Integer

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
            raise ValueError(f"{word!r} is no role; the roles are publisher, subscriber, broker") from None
    return roles


def format_roles(roles: Role) -> str:
    """The text that `parse_roles` reads back: "publisher broker"."""
    return " ".join(role.name.lower() for role in Role if role in roles and role.name)
