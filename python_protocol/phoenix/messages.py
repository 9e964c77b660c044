"""The messages of Phoenix (003, tables 2.1 and 2.4; algorithms 2.2 and 2.3); SUB and UNS are the family's.

`hops` of PUB and REP counts radio hops, the one that the message itself makes included.
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import ClassVar, NamedTuple, Self

from python_protocol.brokers import messages
from python_protocol.brokers.messages import Sub, Uns
from python_protocol.codec import Message, Reader, Writer
from python_protocol.filters import Notification
from python_protocol.names import Names
from python_protocol.roles import NodeId

_STAMP = Struct("!HI")


class Stamp(NamedTuple):
    """ts, in six bytes. Later is greater: at one broker, with numbered migrations (see `stays`) for one subscriber."""

    stay: int
    """How often the subscriber had migrated when it came to the broker; 0 in the thesis, which has no such number."""
    tick: int
    """The broker's clock: counts what it stamps, from 1."""

    def __str__(self) -> str:
        return f"{self.stay}.{self.tick}" if self.stay else str(self.tick)

    def write(self, writer: Writer) -> None:
        """Stay, tick."""
        writer.pack(_STAMP, self.stay, self.tick)

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Inverse of `write`."""
        return cls(reader.u16(), reader.u32())


NEVER = Stamp(0, 0)
"""Before any other: the ts of what nobody has stamped yet, and the ts_last of who has received nothing."""


@dataclass(frozen=True, slots=True)
class Pub(messages.Pub):
    """(PUB, e, ts): e is published."""

    stamp: Stamp

    def write(self, writer: Writer) -> None:
        """Timestamp, hops, notification."""
        self.stamp.write(writer)
        writer.u8(self.hops)
        self.notification.write(writer)

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Inverse of `write`."""
        stamp, hops = Stamp.read(reader), reader.u8()
        return cls(Notification.read(reader), hops, stamp)

    def describe(self, names: Names) -> str:
        """PUB e1 ts=3 hops=2."""
        return f"PUB {names.notification(self.notification)} ts={self.stamp} hops={self.hops}"


@dataclass(frozen=True, slots=True)
class Mig(Message):
    """(MIG, s, b, ts_last): s, whose last broker was b, has a new one, and received all up to ts_last.

    `stay` numbers the migrations of s; always 0 in the thesis.
    """

    tag: ClassVar[int] = 4
    message_type: ClassVar[str] = "MIG"
    subscriber: NodeId
    broker: NodeId
    last: Stamp
    stay: int = 0

    def write(self, writer: Writer) -> None:
        """Subscriber, broker, timestamp, number."""
        writer.u16(self.subscriber)
        writer.u16(self.broker)
        self.last.write(writer)
        writer.u16(self.stay)

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Inverse of `write`."""
        return cls(reader.u16(), reader.u16(), Stamp.read(reader), reader.u16())

    def describe(self, names: Names) -> str:
        """MIG s1 b=b1 ts_last=3, and the number that the thesis has not if there is one."""
        stay = f" stay={self.stay}" if self.stay else ""
        return f"MIG {names.subscriber(self.subscriber)} b={names.broker(self.broker)} ts_last={self.last}{stay}"


@dataclass(frozen=True, slots=True)
class Rep(Message):
    """(REP, e, s, ts): e is replayed towards s."""

    tag: ClassVar[int] = 5
    message_type: ClassVar[str] = "REP"
    notification: Notification
    subscriber: NodeId
    stamp: Stamp
    hops: int

    def write(self, writer: Writer) -> None:
        """Subscriber, timestamp, hops, notification."""
        writer.u16(self.subscriber)
        self.stamp.write(writer)
        writer.u8(self.hops)
        self.notification.write(writer)

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Inverse of `write`."""
        subscriber, stamp, hops = reader.u16(), Stamp.read(reader), reader.u8()
        return cls(Notification.read(reader), subscriber, stamp, hops)

    def describe(self, names: Names) -> str:
        """REP e1 s1 ts=3 hops=2."""
        parts = (names.notification(self.notification), names.subscriber(self.subscriber))
        return f"REP {' '.join(parts)} ts={self.stamp} hops={self.hops}"


@dataclass(frozen=True, slots=True)
class End(Message):
    """(END, s, ts): what s has to get from a stay is all before ts. Not in the thesis; see `stays`."""

    tag: ClassVar[int] = 12
    message_type: ClassVar[str] = "END"
    subscriber: NodeId
    stamp: Stamp

    def write(self, writer: Writer) -> None:
        """Subscriber, timestamp."""
        writer.u16(self.subscriber)
        self.stamp.write(writer)

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Inverse of `write`."""
        return cls(reader.u16(), Stamp.read(reader))

    def describe(self, names: Names) -> str:
        """END s1 ts=3."""
        return f"END {names.subscriber(self.subscriber)} ts={self.stamp}"


PHOENIX_MESSAGES: tuple[type[Message], ...] = (Sub, Uns, Pub, Mig, Rep, End)
