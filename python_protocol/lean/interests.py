"""Who wants what: the filters of all subscribers, which every node keeps, told once and compared by sums.

The thesis' brokers keep the filters of the subscribers behind each neighbour, with a timestamp of each subscriber
(tables 2.1 to 2.4). Here there are no neighbours behind whom anybody lasts, so a node keeps them for the subscriber
alone. The rules:

- *A subscriber numbers what it wants.* Each change has the next number, and all its filters, so that the newer one
  counts whatever was lost (T(s) of the thesis). Filters that need more than a frame are told in parts, each for itself.
- *What is new is told on*, after a random time in which several share a frame, and not by those who have heard it often
  enough meanwhile: the counter-based scheme of gossip.
- *Heartbeats have a sum* over all that their senders know, and the number of changes in it. Who finds another sum tells
  what it wants itself, and of some others if it knows of more changes. Of those who know of as many a third do. They
  are few, because many notice at once: with all that is known they would fill the channel.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import blake2b
from random import Random
from struct import pack
from typing import NamedTuple

from roambus.python_protocol.filters import Filter, Notification
from roambus.python_protocol.messages.fields import U8, U16
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.vocabulary import NodeId, SubscriberId

MESSAGE_BYTES = 102
"""What a frame of IEEE 802.15.4 leaves to a message after the headers of network, MAC and PHY."""

_SOME = 4
"""Parts that are told when sums differ: about two frames."""
_Key = tuple[NodeId, int]
"""A subscriber and a part of what it wants."""


class Interest(NamedTuple):
    """A part of what a subscriber wants, and how often that has changed."""

    subscriber: SubscriberId
    part: U8
    number: U16
    filters: tuple[Filter, ...]


class Wants(Message, tag=0x51, name="SUB", notation="{interests}"):
    """What some subscribers want."""

    interests: tuple[Interest, ...]


def in_parts(subscriber: NodeId, number: int, filters: Iterable[Filter], least: int) -> list[Interest]:
    """What a subscriber wants, in parts that fit into a frame; the last ones are empty if there were more before."""
    parts: list[tuple[Filter, ...]] = [()]
    for one in filters:
        longer = (*parts[-1], one)
        if parts[-1] and Wants((Interest(subscriber, 0, number, longer),)).encoded_size() > MESSAGE_BYTES:
            parts.append((one,))
        else:
            parts[-1] = longer
    parts += [()] * (least - len(parts))
    return [Interest(subscriber, part, number, own) for part, own in enumerate(parts)]


class Interests:
    """What one node knows of everybody's filters, and what of that it has to tell."""

    def __init__(self, enough: int) -> None:
        """Who has heard something `enough` times since it was to be told need not tell it."""
        self._enough = enough
        self._known: dict[_Key, Interest] = {}
        self._pending: dict[_Key, int] = {}
        self.sum = 0
        """Equal for those who know the same; modulo 2^16, as `changes` is."""
        self.changes = 0

    @property
    def subscribers(self) -> Iterable[NodeId]:
        """All who have ever subscribed."""
        return dict.fromkeys(subscriber for subscriber, _ in self._known)

    def wanting(self, notification: Notification) -> set[NodeId]:
        """The subscribers who want a notification."""
        return {one.subscriber for one in self._known.values() if wants(one.filters, notification)}

    def learn(self, interest: Interest) -> bool:
        """Takes what somebody wants, and is to tell it on if it is new."""
        key = interest.subscriber, interest.part
        known = self._known.get(key)
        if known is not None and interest.number <= known.number:
            if interest.number == known.number and key in self._pending:
                self._pending[key] += 1
            return False
        self.sum = (self.sum + _digest(interest) - (_digest(known) if known else 0)) % 2**16
        self.changes = (self.changes + interest.number - (known.number if known else 0)) % 2**16
        self._known[key] = interest
        self._pending[key] = 0
        return True

    def differ(self, own: NodeId, changes: int, random: Random) -> None:
        """Somebody's sum is another, of so many changes."""
        tells_others = changes < self.changes or (changes == self.changes and random.random() < 1 / 3)
        others = random.sample(sorted(self._known), min(len(self._known), _SOME)) if tells_others else []
        for key in [*others, *(key for key in self._known if key[0] == own)]:
            self._pending.setdefault(key, 0)

    @property
    def is_pending(self) -> bool:
        """Whether something waits to be told."""
        return bool(self._pending)

    def pending(self) -> Iterator[Wants]:
        """What has not been heard often enough, in as few frames as it fits into."""
        group: list[Interest] = []
        for interest in [self._known[key] for key, heard in self._pending.items() if heard < self._enough]:
            if group and Wants((*group, interest)).encoded_size() > MESSAGE_BYTES:
                yield Wants(tuple(group))
                group = []
            group.append(interest)
        if group:
            yield Wants(tuple(group))
        self._pending.clear()


def wants(filters: Iterable[Filter], notification: Notification) -> bool:
    """Whether any of the filters matches."""
    return any(one.matches(notification) for one in filters)


def _digest(interest: Interest) -> int:
    told = pack("!HBH", interest.subscriber, interest.part, interest.number)
    return int.from_bytes(blake2b(told, digest_size=2).digest())
