"""The messages of Phoenix (003, tables 2.1 and 2.4; algorithms 2.2 and 2.3); SUB and UNS are the family's.

`hops` of PUB and REP counts radio hops, the one that the message itself makes included.
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import ClassVar, NamedTuple, Self

from roambus.python_protocol.brokers import messages
from roambus.python_protocol.brokers.messages import Sub, Uns
from roambus.python_protocol.filters import Notification
from roambus.python_protocol.messages.codec import Message, Reader, Writer
from roambus.python_protocol.messages.names import Names, listed
from roambus.python_protocol.roles import NodeId

_STAMP = Struct("!HI")


class Stamp(NamedTuple):
    """ts, in six bytes: later is greater. Of one broker's; with numbered migrations, of one subscriber's."""

    stay: int
    """The number of the migration that brought the subscriber to the broker (see `numbered_broker`); else always 0."""
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
    """(PUB, e, ts): e is published.

    `subscribers` are those for whom it goes this way (see `numbered_broker`); else always none.
    """

    stamp: Stamp
    subscribers: tuple[NodeId, ...] = ()

    def write(self, writer: Writer) -> None:
        """Timestamp, hops, a count, subscribers, notification."""
        self.stamp.write(writer)
        writer.u8(self.hops)
        writer.u16(len(self.subscribers))
        for subscriber in self.subscribers:
            writer.u16(subscriber)
        self.notification.write(writer)

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Inverse of `write`."""
        stamp, hops = Stamp.read(reader), reader.u8()
        subscribers = tuple(reader.u16() for _ in range(reader.u16()))
        return cls(Notification.read(reader), hops, stamp, subscribers)

    def describe(self, names: Names) -> str:
        """PUB e1 ts=3 hops=2, and for whom if that is said."""
        subscribers = f" S={listed(map(names.subscriber, self.subscribers))}" if self.subscribers else ""
        return f"PUB {names.notification(self.notification)} ts={self.stamp} hops={self.hops}{subscribers}"


@dataclass(frozen=True, slots=True)
class Mig(Message):
    """(MIG, s, b, ts_last): s, whose last broker was b, has a new one, and received all up to ts_last.

    `stay` is the number of the migration (see `numbered_broker`); else always 0.
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
class Turn(Message):
    """(TURN, s, ts, n): after ts of its stay it is the turn of stay n. Not in the thesis; see `numbered_broker`."""

    tag: ClassVar[int] = 12
    message_type: ClassVar[str] = "TURN"
    subscriber: NodeId
    stamp: Stamp
    following: int
    is_over: bool
    """Whether ts is the last of its stay; else there can be more, later."""

    def write(self, writer: Writer) -> None:
        """Subscriber, timestamp, the stay that follows, whether this one is over."""
        writer.u16(self.subscriber)
        self.stamp.write(writer)
        writer.u16(self.following)
        writer.u8(self.is_over)

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Inverse of `write`."""
        return cls(reader.u16(), Stamp.read(reader), reader.u16(), bool(reader.u8()))

    def describe(self, names: Names) -> str:
        """TURN s1 ts=5.7 n=6 over."""
        over = " over" if self.is_over else ""
        return f"TURN {names.subscriber(self.subscriber)} ts={self.stamp} n={self.following}{over}"


PHOENIX_MESSAGES: tuple[type[Message], ...] = (Sub, Uns, Pub, Mig, Rep, Turn)
