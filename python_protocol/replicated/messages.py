"""Subscriptions and events, between clients and brokers and between sites (002, sections 4 and 5).

Whatever must arrive once has a stream and a number in it: towards each neighbour, and in each stream, the sender
counts from 1 (section 5.1, "renumber"). Streams are those of each publisher's events, of events that the root has put
in order, and of subscriptions.
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import ClassVar, Self

from roambus.python_protocol.filters import Filter, Notification
from roambus.python_protocol.messages.codec import Message, Reader, Writer
from roambus.python_protocol.messages.names import Names

Stream = int
"""The publisher whose events are numbered, or one of the two below, which are no nodes."""
SUBSCRIPTIONS: Stream = 65534
ORDERED: Stream = 65535
"""Events with the sequencer's number (section 5.2)."""

Key = tuple[Stream, int]
"""Names a numbered message towards one neighbour."""

_KEY = Struct("!HI")
_MARKS = {SUBSCRIPTIONS: "", ORDERED: "order"}


def describe_key(stream: Stream, number: int, names: Names) -> str:
    """As transcripts write it: "p1#3", "order#3", for subscriptions "#3"."""
    mark = _MARKS[stream] if stream in _MARKS else names.node(stream)
    return f"{mark}#{number}"


@dataclass(frozen=True, slots=True)
class _Subscription(Message):
    """What SUB and UNS have in common."""

    number: int
    filter: Filter

    @property
    def stream(self) -> Stream:
        """All of them are in one."""
        return SUBSCRIPTIONS

    def write(self, writer: Writer) -> None:
        """Number, filter."""
        writer.u32(self.number)
        self.filter.write(writer)

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Inverse of `write`."""
        return cls(reader.u32(), Filter.read(reader))

    def describe(self, names: Names) -> str:
        """SUB f1 #3."""
        return f"{self.message_type} {names.filter(self.filter)} #{self.number}"


@dataclass(frozen=True, slots=True)
class Sub(_Subscription):
    """Somebody at or behind the sender subscribes (section 4)."""

    tag: ClassVar[int] = 1
    message_type: ClassVar[str] = "SUB"


@dataclass(frozen=True, slots=True)
class Uns(_Subscription):
    """Somebody at or behind the sender unsubscribes (section 4)."""

    tag: ClassVar[int] = 2
    message_type: ClassVar[str] = "UNS"


@dataclass(frozen=True, slots=True)
class Event(Message):
    """A notification on its way to subscribers (sections 4 and 5); `hops` counts the one that the message makes."""

    tag: ClassVar[int] = 3
    message_type: ClassVar[str] = "EVENT"
    stream: Stream
    number: int
    notification: Notification
    hops: int

    def write(self, writer: Writer) -> None:
        """Stream, number, hops, notification."""
        writer.pack(_KEY, self.stream, self.number)
        writer.u8(self.hops)
        self.notification.write(writer)

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Inverse of `write`."""
        stream, number, hops = reader.u16(), reader.u32(), reader.u8()
        return cls(stream, number, Notification.read(reader), hops)

    def describe(self, names: Names) -> str:
        """EVENT e1 p1#3 hops=2."""
        key = describe_key(self.stream, self.number, names)
        return f"EVENT {names.notification(self.notification)} {key} hops={self.hops}"


@dataclass(frozen=True, slots=True)
class _KeyMessage(Message):
    """A stream and a number, and nothing else."""

    stream: Stream
    number: int

    def write(self, writer: Writer) -> None:
        """Stream, number."""
        writer.pack(_KEY, self.stream, self.number)

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Inverse of `write`."""
        return cls(reader.u16(), reader.u32())

    def describe(self, names: Names) -> str:
        """UPDATE p1#3."""
        return f"{self.message_type} {describe_key(self.stream, self.number, names)}"


@dataclass(frozen=True, slots=True)
class Update(_KeyMessage):
    """In place of an event that is not for the receiver: expect the next number (section 7; `renumber` false)."""

    tag: ClassVar[int] = 4
    message_type: ClassVar[str] = "UPDATE"


@dataclass(frozen=True, slots=True)
class Accepted(_KeyMessage):
    """The reply to each of these (section 6.4)."""

    tag: ClassVar[int] = 5
    message_type: ClassVar[str] = "ACCEPTED"


Numbered = Sub | Uns | Event | Update
"""What is sent until it is accepted, and taken once."""
