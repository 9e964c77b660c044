"""The messages that more than one protocol of the family has (the thesis, tables 2.1 and 3.1).

`hops` of PUB counts radio hops, and includes the one that the message itself makes.
"""

from __future__ import annotations

from roambus.python_protocol.filters import Filter, Notification
from roambus.python_protocol.messages.fields import U8
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.roles import SubscriberId

MAX_HOPS = 0xFF
"""The most hops that a message can tell."""

Hops = U8
"""A number of hops, at most MAX_HOPS."""


class _Subscription(Message, notation="{filter} {subscriber}"):
    """What SUB and UNS have in common."""

    subscriber: SubscriberId
    filter: Filter


class Sub(_Subscription, tag=1):
    """(SUB, f, s): s subscribes to f (the thesis, algorithms 2.2 and 3.1)."""


class Uns(_Subscription, tag=2):
    """(UNS, f, s): s unsubscribes from f (the thesis, algorithms 2.2 and 3.1)."""


class Pub(Message, tag=3, notation="{notification} hops={hops}"):
    """(PUB, e): e is published."""

    hops: Hops
    notification: Notification


class Filters(Message, tag=6, notation="{filters}"):
    """(FILTERS, X): the subscriptions of the receiver that its new broker knows."""

    filters: tuple[Filter, ...]
