"""The messages of the first approach (003, tables 2.4 and 3.1); SUB, UNS, PUB and FILTERS are the family's.

`hops` of REP counts radio hops, the one that the message itself makes included.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from roambus.python_protocol.brokers.messages import Filters, Pub, Sub, Uns
from roambus.python_protocol.brokers.routing import Entry
from roambus.python_protocol.filters import Filter, Notification
from roambus.python_protocol.messages.codec import Message, Reader, Writer
from roambus.python_protocol.messages.names import Names, listed
from roambus.python_protocol.roles import NodeId


@dataclass(frozen=True, slots=True)
class Mig(Message):
    """(MIG, s, b): s, whose last broker was b, has a new one (algorithm 3.2)."""

    tag: ClassVar[int] = 4
    message_type: ClassVar[str] = "MIG"
    subscriber: NodeId
    broker: NodeId

    def write(self, writer: Writer) -> None:
        """Subscriber, broker."""
        writer.u16(self.subscriber)
        writer.u16(self.broker)

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Inverse of `write`."""
        return cls(reader.u16(), reader.u16())

    def describe(self, names: Names) -> str:
        """MIG s1 b=b1."""
        return f"MIG {names.subscriber(self.subscriber)} b={names.broker(self.broker)}"


@dataclass(frozen=True, slots=True)
class Rep(Message):
    """(REP, e, s): a stored notification is replayed towards s (algorithm 3.2)."""

    tag: ClassVar[int] = 5
    message_type: ClassVar[str] = "REP"
    notification: Notification
    subscriber: NodeId
    hops: int

    def write(self, writer: Writer) -> None:
        """Subscriber, hops, notification."""
        writer.u16(self.subscriber)
        writer.u8(self.hops)
        self.notification.write(writer)

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Inverse of `write`."""
        subscriber, hops = reader.u16(), reader.u8()
        return cls(Notification.read(reader), subscriber, hops)

    def describe(self, names: Names) -> str:
        """REP e1 s1 hops=2."""
        return f"REP {names.notification(self.notification)} {names.subscriber(self.subscriber)} hops={self.hops}"


@dataclass(frozen=True, slots=True)
class Bmig(Message):
    """(BMIG, C_j, b_j): broker b_j has migrated with its local subscribers C_j (algorithm 3.3)."""

    tag: ClassVar[int] = 7
    message_type: ClassVar[str] = "BMIG"
    subscribers: tuple[NodeId, ...]
    broker: NodeId

    def write(self, writer: Writer) -> None:
        """Broker, a count, subscribers."""
        writer.u16(self.broker)
        writer.u8(len(self.subscribers))
        for subscriber in self.subscribers:
            writer.u16(subscriber)

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Inverse of `write`."""
        broker = reader.u16()
        return cls(tuple(reader.u16() for _ in range(reader.u8())), broker)

    def describe(self, names: Names) -> str:
        """BMIG C=[s3] b=b3."""
        return f"BMIG C={listed(map(names.subscriber, self.subscribers))} b={names.broker(self.broker)}"


@dataclass(frozen=True, slots=True)
class Btab(Message):
    """(BTAB, R_j): the full routing table of the sender (algorithm 3.3)."""

    tag: ClassVar[int] = 10
    message_type: ClassVar[str] = "BTAB"
    entries: tuple[Entry, ...]

    def write(self, writer: Writer) -> None:
        """A count; interface, subscriber, filter of each entry."""
        writer.u16(len(self.entries))
        for wanted, interface, subscriber in self.entries:
            writer.u16(interface)
            writer.u16(subscriber)
            wanted.write(writer)

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Inverse of `write`."""
        return cls(tuple(_read_entry(reader) for _ in range(reader.u16())))

    def describe(self, names: Names) -> str:
        """BTAB R=[(f1,b1,s1) (f3,s3,s3)]."""
        rows = (f"({names.filter(f)},{names.node(z)},{names.subscriber(s)})" for f, z, s in self.entries)
        return f"BTAB R={listed(rows)}"


@dataclass(frozen=True, slots=True)
class Fmig(Message):
    """(FMIG): the receiver shall migrate to the sender (algorithm 3.3)."""

    tag: ClassVar[int] = 11
    message_type: ClassVar[str] = "FMIG"

    def write(self, writer: Writer) -> None:
        """Nothing."""

    @classmethod
    def read(cls, reader: Reader) -> Self:  # noqa: ARG003  # there is nothing to read
        """Inverse of `write`."""
        return cls()


FIRST_APPROACH_MESSAGES: tuple[type[Message], ...] = (Sub, Uns, Pub, Mig, Rep, Filters, Bmig, Btab, Fmig)


def _read_entry(reader: Reader) -> Entry:
    interface, subscriber = reader.u16(), reader.u16()
    return Entry(Filter.read(reader), interface, subscriber)
