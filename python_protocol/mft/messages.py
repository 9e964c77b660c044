"""The messages of MFT-PubSub (003, tables 2.1, 2.4 and 4.1).

`hops` of SUB, UNS, MIG, BMIG and BSUB is the algorithms' h: 0 where the message begins, one more with each broker that
passes it on. `hops` of PUB and REP counts radio hops, the one that the message itself makes included.
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import ClassVar, NamedTuple, Self

from roambus.python_protocol.brokers.messages import Filters, Pub, read_filters, write_filters
from roambus.python_protocol.filters import Filter, Notification
from roambus.python_protocol.messages.codec import Message, Reader, Writer
from roambus.python_protocol.messages.names import Names, listed
from roambus.python_protocol.mft.timestamps import Timestamp, describe_hops
from roambus.python_protocol.roles import NodeId

_KNOWN = Struct("!HIB")


@dataclass(frozen=True, slots=True)
class _FilterMessage(Message):
    """What SUB and UNS have in common."""

    filter: Filter
    subscriber: NodeId
    timestamp: int
    hops: int

    def write(self, writer: Writer) -> None:
        """Subscriber, timestamp, hops, filter."""
        writer.u16(self.subscriber)
        writer.u32(self.timestamp)
        writer.u8(self.hops)
        self.filter.write(writer)

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Inverse of `write`."""
        subscriber, timestamp, hops = reader.u16(), reader.u32(), reader.u8()
        return cls(Filter.read(reader), subscriber, timestamp, hops)

    def describe(self, names: Names) -> str:
        """SUB f1 s1 t=1 h=0."""
        parts = (self.message_type, names.filter(self.filter), names.subscriber(self.subscriber))
        return f"{' '.join(parts)} t={self.timestamp} h={self.hops}"


@dataclass(frozen=True, slots=True)
class Sub(_FilterMessage):
    """(SUB, f, s, t, h): s subscribes to f."""

    tag: ClassVar[int] = 1
    message_type: ClassVar[str] = "SUB"


@dataclass(frozen=True, slots=True)
class Uns(_FilterMessage):
    """(UNS, f, s, t, h): s unsubscribes from f."""

    tag: ClassVar[int] = 2
    message_type: ClassVar[str] = "UNS"


@dataclass(frozen=True, slots=True)
class Mig(Message):
    """(MIG, s, b, t, h): s, whose last broker was b, has a new one."""

    tag: ClassVar[int] = 4
    message_type: ClassVar[str] = "MIG"
    subscriber: NodeId
    broker: NodeId
    timestamp: int
    hops: int

    def write(self, writer: Writer) -> None:
        """Subscriber, broker, timestamp, hops."""
        writer.u16(self.subscriber)
        writer.u16(self.broker)
        writer.u32(self.timestamp)
        writer.u8(self.hops)

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Inverse of `write`."""
        return cls(reader.u16(), reader.u16(), reader.u32(), reader.u8())

    def describe(self, names: Names) -> str:
        """MIG s1 b=b1 t=2 h=0."""
        return f"MIG {names.subscriber(self.subscriber)} b={names.broker(self.broker)} t={self.timestamp} h={self.hops}"


@dataclass(frozen=True, slots=True)
class Rep(Message):
    """(REP, e..., s): stored notifications are replayed towards s, several at once (003, section 4.3)."""

    tag: ClassVar[int] = 5
    message_type: ClassVar[str] = "REP"
    subscriber: NodeId
    notifications: tuple[Notification, ...]
    hops: int

    def write(self, writer: Writer) -> None:
        """Subscriber, hops, a count, notifications."""
        writer.u16(self.subscriber)
        writer.u8(self.hops)
        writer.u8(len(self.notifications))
        for notification in self.notifications:
            notification.write(writer)

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Inverse of `write`."""
        subscriber, hops, count = reader.u16(), reader.u8(), reader.u8()
        return cls(subscriber, tuple(Notification.read(reader) for _ in range(count)), hops)

    def describe(self, names: Names) -> str:
        """REP s1 [e1 e2] hops=1."""
        return f"REP {names.subscriber(self.subscriber)} {names.notifications(self.notifications)} hops={self.hops}"


class Known(NamedTuple):
    """(s, t, h): what a BMIG tells of a subscriber."""

    subscriber: NodeId
    timestamp: int
    hops: int


@dataclass(frozen=True, slots=True)
class Bmig(Message):
    """(BMIG, C, O, h): a broker has migrated with the subscribers C below it, and knows the others O.

    Seven bytes a subscriber: a frame of 1024 bytes has room for 140.
    """

    tag: ClassVar[int] = 7
    message_type: ClassVar[str] = "BMIG"
    children: tuple[Known, ...]
    others: tuple[Known, ...]
    hops: int

    def write(self, writer: Writer) -> None:
        """Hops, children, others."""
        writer.u8(self.hops)
        _write_known(self.children, writer)
        _write_known(self.others, writer)

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Inverse of `write`."""
        hops = reader.u8()
        return cls(_read_known(reader), _read_known(reader), hops)

    def describe(self, names: Names) -> str:
        """BMIG C=[(s3,1,1) (s6,1,2)] O=[(s1,1,2)] h=0."""
        return f"BMIG C={_list_known(self.children, names)} O={_list_known(self.others, names)} h={self.hops}"


@dataclass(frozen=True, slots=True)
class Bquery(Message):
    """(BQUERY, s, t, h): the sender knows s up to T = (t, h), and asks for its subscriptions."""

    tag: ClassVar[int] = 8
    message_type: ClassVar[str] = "BQUERY"
    subscriber: NodeId
    known: Timestamp

    def write(self, writer: Writer) -> None:
        """Subscriber, T."""
        writer.u16(self.subscriber)
        self.known.write(writer)

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Inverse of `write`."""
        return cls(reader.u16(), Timestamp.read(reader))

    def describe(self, names: Names) -> str:
        """BQUERY s1 T=(1,2)."""
        return f"BQUERY {names.subscriber(self.subscriber)} T={self.known}"


@dataclass(frozen=True, slots=True)
class Bsub(Message):
    """(BSUB, s, S, T(s), h): all subscriptions of s, with the T(s) of the broker where the message began."""

    tag: ClassVar[int] = 9
    message_type: ClassVar[str] = "BSUB"
    subscriber: NodeId
    filters: tuple[Filter, ...]
    known: Timestamp
    hops: int

    def write(self, writer: Writer) -> None:
        """Subscriber, T, hops, filters."""
        writer.u16(self.subscriber)
        self.known.write(writer)
        writer.u8(self.hops)
        write_filters(self.filters, writer)

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Inverse of `write`."""
        subscriber, known, hops = reader.u16(), Timestamp.read(reader), reader.u8()
        return cls(subscriber, read_filters(reader), known, hops)

    def describe(self, names: Names) -> str:
        """BSUB s1 [f1 f2] T=(1,1) h=0."""
        return f"BSUB {names.subscriber(self.subscriber)} {names.filters(self.filters)} T={self.known} h={self.hops}"


MFT_MESSAGES: tuple[type[Message], ...] = (Sub, Uns, Pub, Mig, Rep, Filters, Bmig, Bquery, Bsub)


def _write_known(known: tuple[Known, ...], writer: Writer) -> None:
    writer.u8(len(known))
    for subscriber, timestamp, hops in known:
        writer.pack(_KNOWN, subscriber, timestamp, hops)


def _read_known(reader: Reader) -> tuple[Known, ...]:
    return tuple(Known(reader.u16(), reader.u32(), reader.u8()) for _ in range(reader.u8()))


def _list_known(known: tuple[Known, ...], names: Names) -> str:
    return listed(f"({names.subscriber(one.subscriber)},{one.timestamp},{describe_hops(one.hops)})" for one in known)
