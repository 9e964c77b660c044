"""The messages that more than one protocol of the family has (003, tables 2.1 and 3.1).

`hops` of PUB counts radio hops, the one that the message itself makes included.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Self

from roambus.python_protocol.filters import Filter, Notification
from roambus.python_protocol.messages.codec import Message, Reader, Writer
from roambus.python_protocol.messages.names import Names
from roambus.python_protocol.roles import NodeId

MAX_HOPS = 0xFF
"""The most hops that a message can tell."""


@dataclass(frozen=True, slots=True)
class _FilterMessage(Message):
    """What SUB and UNS have in common."""

    filter: Filter
    subscriber: NodeId

    def write(self, writer: Writer) -> None:
        """Subscriber, filter."""
        writer.u16(self.subscriber)
        self.filter.write(writer)

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Inverse of `write`."""
        subscriber = reader.u16()
        return cls(Filter.read(reader), subscriber)

    def describe(self, names: Names) -> str:
        """SUB f1 s1."""
        return f"{self.message_type} {names.filter(self.filter)} {names.subscriber(self.subscriber)}"


@dataclass(frozen=True, slots=True)
class Sub(_FilterMessage):
    """(SUB, f, s): s subscribes to f (algorithms 2.2 and 3.1)."""

    tag: ClassVar[int] = 1
    message_type: ClassVar[str] = "SUB"


@dataclass(frozen=True, slots=True)
class Uns(_FilterMessage):
    """(UNS, f, s): s unsubscribes from f (algorithms 2.2 and 3.1)."""

    tag: ClassVar[int] = 2
    message_type: ClassVar[str] = "UNS"


@dataclass(frozen=True, slots=True)
class Pub(Message):
    """(PUB, e): e is published."""

    tag: ClassVar[int] = 3
    message_type: ClassVar[str] = "PUB"
    notification: Notification
    hops: int

    def write(self, writer: Writer) -> None:
        """Hops, notification."""
        writer.u8(self.hops)
        self.notification.write(writer)

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Inverse of `write`."""
        hops = reader.u8()
        return cls(Notification.read(reader), hops)

    def describe(self, names: Names) -> str:
        """PUB e1 hops=2."""
        return f"PUB {names.notification(self.notification)} hops={self.hops}"


@dataclass(frozen=True, slots=True)
class Filters(Message):
    """(FILTERS, X): the subscriptions of the receiver that its new broker knows."""

    tag: ClassVar[int] = 6
    message_type: ClassVar[str] = "FILTERS"
    filters: tuple[Filter, ...]

    def write(self, writer: Writer) -> None:
        """A count, filters."""
        write_filters(self.filters, writer)

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Inverse of `write`."""
        return cls(read_filters(reader))

    def describe(self, names: Names) -> str:
        """FILTERS [f1 f2]."""
        return f"FILTERS {names.filters(self.filters)}"


def write_filters(filters: Iterable[Filter], writer: Writer) -> None:
    """A count, filters."""
    listed = tuple(filters)
    writer.u8(len(listed))
    for one in listed:
        one.write(writer)


def read_filters(reader: Reader) -> tuple[Filter, ...]:
    """Inverse of `write_filters`."""
    return tuple(Filter.read(reader) for _ in range(reader.u8()))
