"""The roles that a node can take on, in any combination (003, section 2.2)."""

from __future__ import annotations

from enum import Flag

NodeId = int
"""Index of a node, 0 to 65533; also its address on the network."""

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
