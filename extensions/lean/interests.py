"""Interests: the filters of all subscribers, which every node keeps.

- A subscriber numbers its changes and sends all filters with each, in frame-sized parts, so that the newer set counts
  despite losses (T(s) of the thesis).
- News go on after a random time, in shared frames, unless enough neighbours sent them.
- Heartbeats carry a sum of all interests and the number of changes. At another sum a node sends its own, and some of
  others if it has more changes; with as many, a third of the nodes do, or all would fill the channel.
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
from roambus.python_protocol.parts.link import is_newer
from roambus.python_protocol.roles import NodeId, SubscriberId

MESSAGE_BYTES = 102
"""An IEEE 802.15.4 frame less the headers of network, MAC and PHY."""

_SOME = 4
"""Parts sent when sums differ: about two frames."""
_Key = tuple[NodeId, int]
"""A subscriber and a part of its filters."""


class Interest(NamedTuple):
    """A part of a subscriber's filters, and its last change's number."""

    subscriber: SubscriberId
    part: U8
    number: U16
    filters: tuple[Filter, ...]


class Wants(Message, tag=0x51, name="SUB", notation="{interests}"):
    """Interests of some subscribers."""

    interests: tuple[Interest, ...]


def in_parts(subscriber: NodeId, number: int, filters: Iterable[Filter], least: int) -> list[Interest]:
    """Split a subscriber's filters into frames; empty parts at the end replace former ones."""
    parts: list[tuple[Filter, ...]] = [()]
    for wanted in filters:
        longer = (*parts[-1], wanted)
        if parts[-1] and Wants((Interest(subscriber, 0, number, longer),)).encoded_size() > MESSAGE_BYTES:
            parts.append((wanted,))
        else:
            parts[-1] = longer
    parts += [()] * (least - len(parts))
    return [Interest(subscriber, part, number, own) for part, own in enumerate(parts)]


class Interests:
    """The filters that one node knows, and the parts to send."""

    def __init__(self, enough: int) -> None:
        """Take `enough`: a waiting part heard that often is not sent."""
        self._enough = enough
        self._known: dict[_Key, Interest] = {}
        self._pending: dict[_Key, int] = {}
        self.sum = 0
        """Equal for equal knowledge; modulo 2^16, as `changes` is."""
        self.changes = 0

    @property
    def subscribers(self) -> Iterable[NodeId]:
        """All who have ever subscribed."""
        return dict.fromkeys(subscriber for subscriber, _ in self._known)

    def wanting(self, notification: Notification) -> set[NodeId]:
        """The subscribers who want a notification."""
        return {interest.subscriber for interest in self._known.values() if wants(interest.filters, notification)}

    def learn(self, interest: Interest) -> bool:
        """Take a part, and send it on if it is new; return whether it was."""
        key = interest.subscriber, interest.part
        known = self._known.get(key)
        if known is not None and not is_newer(interest.number, known.number, 16):
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
        """Whether parts wait to be sent."""
        return bool(self._pending)

    def pending(self) -> Iterator[Wants]:
        """The waiting parts not heard often enough, in few frames."""
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
    return any(wanted.matches(notification) for wanted in filters)


def _digest(interest: Interest) -> int:
    packed = pack("!HBH", interest.subscriber, interest.part, interest.number)
    return int.from_bytes(blake2b(packed, digest_size=2).digest())
