"""The messages of MFT-PubSub (the thesis, tables 2.1, 2.4 and 4.1).

`hops` of SUB, UNS, MIG, BMIG and BSUB is the algorithms' h: 0 where the message begins, and one more with each broker
that passes it on. `hops` of PUB and REP counts radio hops, and includes the one that the message itself makes.
"""

from __future__ import annotations

from typing import NamedTuple

from roambus.python_protocol.brokers.messages import Hops
from roambus.python_protocol.filters import Filter, Notification
from roambus.python_protocol.messages.fields import Names
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.mft.interests import InterestSum
from roambus.python_protocol.mft.timestamps import Counter, Distance, Timestamp, describe_hops
from roambus.python_protocol.parts.digest import Held, holds
from roambus.python_protocol.parts.election import Heartbeat
from roambus.python_protocol.roles import BrokerId, SubscriberId


class _Subscription(Message, notation="{filter} {subscriber} t={timestamp} h={hops}"):
    """What SUB and UNS have in common."""

    subscriber: SubscriberId
    timestamp: Counter
    hops: Hops
    filter: Filter


class Sub(_Subscription, tag=1):
    """(SUB, f, s, t, h): s subscribes to f."""


class Uns(_Subscription, tag=2):
    """(UNS, f, s, t, h): s unsubscribes from f."""


class Mig(Message, tag=4, notation="{subscriber} b={broker} t={timestamp} h={hops}"):
    """(MIG, s, b, t, h): s, whose last broker was b, has a new one."""

    subscriber: SubscriberId
    broker: BrokerId
    timestamp: Counter
    hops: Hops


class Rep(Message, tag=5, notation="{subscriber} {notifications} hops={hops}"):
    """(REP, e..., s): stored notifications are replayed towards s, several at once (the thesis, section 4.3)."""

    subscriber: SubscriberId
    hops: Hops
    notifications: tuple[Notification, ...]


class Known(NamedTuple):
    """(s, t, h): what a BMIG tells of a subscriber."""

    subscriber: SubscriberId
    timestamp: Counter
    hops: Distance

    def describe(self, names: Names) -> str:
        """The three as transcripts write them: "(s3,1,inf)"."""
        return f"({names.subscriber(self.subscriber)},{self.timestamp},{describe_hops(self.hops)})"


class Bmig(Message, tag=7, notation="C={children} O={others} h={hops}"):
    """(BMIG, C, O, h): a broker has migrated with the subscribers C below it, and knows the others O.

    A subscriber takes seven bytes, so that a frame of 1024 bytes has room for 140.
    """

    hops: Hops
    children: tuple[Known, ...]
    others: tuple[Known, ...]


class Bquery(Message, tag=8, notation="{subscriber} T={known}"):
    """(BQUERY, s, t, h): the sender knows s up to T = (t, h), and asks for its subscriptions."""

    subscriber: SubscriberId
    known: Timestamp


class Bsub(Message, tag=9, notation="{subscriber} {filters} T={known} h={hops}"):
    """(BSUB, s, S, T(s), h): all subscriptions of s, with the T(s) of the broker where the message began."""

    subscriber: SubscriberId
    known: Timestamp
    hops: Hops
    filters: tuple[Filter, ...]


class Place(NamedTuple):
    """(s, T): a subscriber, and what somebody knows of it."""

    subscriber: SubscriberId
    known: Timestamp

    def describe(self, names: Names) -> str:
        """The two as transcripts write them: "s3:(4,2)"."""
        return f"{names.subscriber(self.subscriber)}:{self.known}"


class Bqueries(Message, tag=10, name="BQUERY", notation="{places}"):
    """BQUERYs for several subscribers (`batches`)."""

    places: tuple[Place, ...]


class Bsubs(Message, tag=11, name="BSUB", notation="{places} {filters} h={hops}"):
    """BSUBs of several subscribers that have the same filters (`batches`)."""

    hops: Hops
    filters: tuple[Filter, ...]
    places: tuple[Place, ...]


class Below(NamedTuple):
    """(s, n): a subscriber below the sender of a heartbeat, where its migration n has led."""

    subscriber: SubscriberId
    place: Counter

    def describe(self, names: Names) -> str:
        """The two as transcripts write them: "(s3,1)"."""
        return f"({names.subscriber(self.subscriber)},{self.place})"


class Beat(Message, tag=12, name="HEARTBEAT", notation="{heartbeat} C={below} sum={about}"):
    """A heartbeat that is the MIG of a client, or the BMIG of a broker, to its parent (`beats_migrate`)."""

    heartbeat: Heartbeat
    about: InterestSum
    """Of all subscriptions that the sender knows; a client knows its own."""
    below: tuple[Below, ...]


class Ask(Message, tag=13, notation="{filters} {missing}"):
    """A subscriber lacks what others tell that they have: whoever has it may send it (`ask_after`)."""

    filters: tuple[Filter, ...]
    missing: tuple[Held, ...]

    def asks_for(self, notification: Notification) -> bool:
        """Whether it is one of those that are missing, and is wanted."""
        return holds(self.missing, notification.id) and any(one.matches(notification) for one in self.filters)
