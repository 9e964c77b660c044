"""The messages of ferries and of the nodes of islands."""

from __future__ import annotations

from roambus.python_protocol.filters import Filter, Notification, NotificationId
from roambus.python_protocol.messages.fields import U8, U16
from roambus.python_protocol.messages.message import Message

SAIL = "sail"
"""A ferry sets out: `detail` is the number of the island."""

NOWHERE = 255
"""The island of a ferry that has none."""


class Here(Message, tag=0x01):
    """A ferry is here: bound for this island, or at it."""

    island: U8


class Wants(Message, tag=0x02):
    """A node answers a ferry: its filters, how many notifications wait at it, and how many it has published."""

    filters: tuple[Filter, ...]
    waiting: U16
    published: U16


class News(Message, tag=0x03, notation="{notification}"):
    """A notification that its publisher gives the nodes in range."""

    notification: Notification


class Carried(Message, tag=0x04, notation="{notification} hops={hops}"):
    """A notification that a node hands to a ferry, or a ferry to a subscriber."""

    hops: U8
    notification: Notification


class Taken(Message, tag=0x05, notation="{id}"):
    """The sender has this notification: a ferry its custody, or a subscriber the notification itself."""

    id: NotificationId
