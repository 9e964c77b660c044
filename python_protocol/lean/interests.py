"""Who wants what: the filters of all subscribers, which every node keeps, told once and compared by sums.

The thesis' brokers keep the filters of the subscribers behind each neighbour, with a timestamp of each subscriber
(tables 2.1 to 2.4). Here there are no neighbours behind whom anybody lasts, so a node keeps them for the subscriber
alone. The rules:

- *A subscriber numbers what it wants.* Each change has the next number, and all its filters, so that the newer one
  counts whatever was lost (T(s) of the thesis).
- *What is new is told on*, after a random time in which several share a frame, and not by those who have heard it often
  enough meanwhile: the counter-based scheme of gossip.
- *Heartbeats have a sum* over all that their senders know, and the number of changes in it. Who finds another sum tells
  what it wants itself, and everything if it knows of more changes. Of those who know of as many a third do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import blake2b
from random import Random
from struct import pack
from typing import NamedTuple

from roambus.python_protocol.filters import Filter, Notification
from roambus.python_protocol.messages.fields import U16
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.vocabulary import NodeId, SubscriberId

MESSAGE_BYTES = 102
"""What a frame of IEEE 802.15.4 leaves to a message after the headers of network, MAC and PHY."""


class Interest(NamedTuple):
    """All that a subscriber wants, and how often that has changed."""

    subscriber: SubscriberId
    number: U16
    filters: tuple[Filter, ...]


class Wants(Message, tag=0x51, name="SUB", notation="{interests}"):
    """What some subscribers want."""

    interests: tuple[Interest, ...]


class Interests:
    """What one node knows of everybody's filters, and what of that it has to tell."""

    def __init__(self, enough: int) -> None:
        """Who has heard something `enough` times since it was to be told need not tell it."""
        self._enough = enough
        self._known: dict[NodeId, Interest] = {}
        self._to_tell: dict[NodeId, int] = {}
        self.sum = 0
        """Equal for those who know the same; modulo 2^16, as `changes` is."""
        self.changes = 0

    @property
    def subscribers(self) -> Iterable[NodeId]:
        """All who have ever subscribed."""
        return self._known

    def wanting(self, notification: Notification) -> list[NodeId]:
        """The subscribers who want a notification."""
        return [one.subscriber for one in self._known.values() if wants(one.filters, notification)]

    def learn(self, interest: Interest) -> bool:
        """Takes what somebody wants, and is to tell it on if it is new."""
        subscriber = interest.subscriber
        known = self._known.get(subscriber)
        if known is not None and interest.number <= known.number:
            if interest.number == known.number and subscriber in self._to_tell:
                self._to_tell[subscriber] += 1
            return False
        self.sum = (self.sum + _digest(interest) - (_digest(known) if known else 0)) % 2**16
        self.changes = (self.changes + interest.number - (known.number if known else 0)) % 2**16
        self._known[subscriber] = interest
        self._to_tell[subscriber] = 0
        return True

    def differ(self, own: NodeId, changes: int, random: Random) -> None:
        """Somebody's sum is another, of so many changes."""
        tells_all = changes < self.changes or (changes == self.changes and random.random() < 1 / 3)
        for subscriber in self._known if tells_all else {own} & self._known.keys():
            self._to_tell.setdefault(subscriber, 0)

    @property
    def is_telling(self) -> bool:
        """Whether something waits to be told."""
        return bool(self._to_tell)

    def tell(self) -> Iterator[Wants]:
        """What has not been heard often enough, in as few frames as it fits into."""
        group: list[Interest] = []
        for subscriber in [one for one, heard in self._to_tell.items() if heard < self._enough]:
            interest = self._known[subscriber]
            if group and Wants((*group, interest)).encoded_size() > MESSAGE_BYTES:
                yield Wants(tuple(group))
                group = []
            group.append(interest)
        if group:
            yield Wants(tuple(group))
        self._to_tell.clear()


def wants(filters: Iterable[Filter], notification: Notification) -> bool:
    """Whether any of the filters matches."""
    return any(one.matches(notification) for one in filters)


def _digest(interest: Interest) -> int:
    told = pack("!HH", interest.subscriber, interest.number)
    return int.from_bytes(blake2b(told, digest_size=2).digest())
