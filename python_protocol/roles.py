"""Nodes and their roles.

A node is a number, also its address, with any combination of roles (the thesis, section 2.2). The type of a field
names the node for transcripts.
"""

from __future__ import annotations

from enum import Flag
from typing import Annotated

from roambus.python_protocol.messages.fields import BROADCAST_ADDRESS, Integer

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
