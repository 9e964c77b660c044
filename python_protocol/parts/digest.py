"""Digests: the newest notifications of a node in a few bytes, so that neighbours send the missing ones.

Each publisher has its newest number and 64 bits for the numbers up to it. The row's cost is fixed; a list would cost
most when the channel is fullest. Older notifications are neither requested nor sent. An unnamed publisher is unknown,
unless the digest is full.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated, NamedTuple

from roambus.python_protocol.filters import NotificationId
from roambus.python_protocol.messages.fields import U32, Integer, Names
from roambus.python_protocol.roles import NodeId

_BITS = 64
"""Of the newest notifications of a publisher."""


_MASK = (1 << _BITS) - 1


Bits = Annotated[int, Integer("Q")]
"""An unsigned integer of eight bytes, as a row of bits."""


class Held(NamedTuple):
    """A publisher's notifications that are held: bit i is number `newest` - i."""

    publisher: NodeId
    newest: U32
    bits: Bits

    def has(self, identifier: NotificationId) -> bool:
        """Whether it names a notification; too old ones have no bit."""
        age = self.newest - identifier.sequence
        return identifier.publisher == self.publisher and 0 <= age < _BITS and bool(self.bits >> age & 1)

    def describe(self, names: Names) -> str:
        """The ones that it names, as in "p1:7,6,4"."""
        numbers = ",".join(str(self.newest - age) for age in range(_BITS) if self.bits >> age & 1)
        return f"{names.node(self.publisher)}:{numbers}"


class Digest:
    """Of the `limit` publishers that were heard last."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._held: dict[NodeId, Held] = {}

    def outdated(self, publisher: NodeId, newest: int) -> int:
        """Count missing notifications that leave the window at the new `newest`."""
        known = self._held.get(publisher)
        first = 0 if known is None else max(0, known.newest - _BITS + 1)
        named = () if known is None else (known,)
        numbers = range(first, max(first, newest - _BITS + 1))
        return sum(not holds(named, NotificationId(publisher, number)) for number in numbers)

    def add(self, identifier: NotificationId) -> None:
        """A notification has arrived."""
        publisher, number = identifier.publisher, identifier.sequence
        # Taken out and put in again, so that the publisher that was heard longest ago stands first, and goes first.
        known = self._held.pop(publisher, None) or Held(publisher, number, 0)
        if number > known.newest:
            known = Held(publisher, number, known.bits << (number - known.newest) & _MASK)
        age = known.newest - number
        self._held[publisher] = known._replace(bits=known.bits | (1 << age & _MASK))
        self._keep_limit()

    def _keep_limit(self) -> None:
        if len(self._held) > self._limit:
            del self._held[next(iter(self._held))]

    def name(self, held: Held) -> None:
        """Name a publisher without bits: nothing of it may be here."""
        self._held.setdefault(held.publisher, Held(held.publisher, held.newest, 0))
        self._keep_limit()

    def summary(self) -> tuple[Held, ...]:
        """A frame's entries; the publisher heard last comes last."""
        return tuple(self._held.values())


def holds(digest: Iterable[Held], identifier: NotificationId) -> bool:
    """Whether a digest says that a notification is there."""
    return any(held.has(identifier) for held in digest)


def exceeds(held: Held, digest: Iterable[Held]) -> bool:
    """Whether one holds a notification that the other's digest misses."""
    own = next((summary for summary in digest if summary.publisher == held.publisher), None)
    if own is None or held.newest > own.newest:
        return True
    return bool(held.bits << (own.newest - held.newest) & _MASK & ~own.bits)


def beyond(held: Held, digest: Iterable[Held]) -> Iterator[NotificationId]:
    """The notifications that one holds and the other's digest misses."""
    own = next(
        (summary for summary in digest if summary.publisher == held.publisher), Held(held.publisher, held.newest, 0)
    )
    ages = (age for age in range(_BITS) if held.bits >> age & 1)
    found = (NotificationId(held.publisher, held.newest - age) for age in ages)
    return (
        notification
        for notification in found
        if notification.sequence > own.newest - _BITS and not own.has(notification)
    )
