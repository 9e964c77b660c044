"""What the brokers of one site say to each other, so that all have the same state (002, sections 6 to 6.7)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from roambus.python_protocol.messages.codec import Message, Reader, Writer
from roambus.python_protocol.messages.names import Names
from roambus.python_protocol.replicated.failure_messages import Point, PointMessage
from roambus.python_protocol.roles import NodeId


@dataclass(frozen=True, slots=True)
class Inform(Message):
    """The leader has taken this step: `message` of `peer` has changed its state (section 6)."""

    tag: ClassVar[int] = 11
    message_type: ClassVar[str] = "INFORM"
    term: int
    step: int
    peer: NodeId
    message: Message

    def write(self, writer: Writer) -> None:
        """Term, step, peer, message."""
        Point(self.term, self.step).write(writer)
        writer.u16(self.peer)
        writer.message(self.message)

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Inverse of `write`."""
        return cls(reader.u32(), reader.u32(), reader.u16(), reader.message())

    def describe(self, names: Names) -> str:
        """INFORM 0.3 p1: EVENT e1 p1#1 hops=1."""
        return f"INFORM {self.term}.{self.step} {names.node(self.peer)}: {self.message.describe(names)}"


@dataclass(frozen=True, slots=True)
class Informed(Message):
    """The sender's copy has come to this step under the leader of this term."""

    tag: ClassVar[int] = 12
    message_type: ClassVar[str] = "INFORMED"
    term: int
    step: int

    def write(self, writer: Writer) -> None:
        """Term, step."""
        Point(self.term, self.step).write(writer)

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Inverse of `write`."""
        return cls(reader.u32(), reader.u32())

    def describe(self, names: Names) -> str:  # noqa: ARG002  # it names nobody
        """INFORMED 0.3."""
        return f"INFORMED {self.term}.{self.step}"


@dataclass(frozen=True, slots=True)
class HandOver(Message):
    """To a new leader: a message of a client that the old one may not have taken in (section 6.6)."""

    tag: ClassVar[int] = 13
    message_type: ClassVar[str] = "HAND_OVER"
    peer: NodeId
    message: Message

    def write(self, writer: Writer) -> None:
        """Client, message."""
        writer.u16(self.peer)
        writer.message(self.message)

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Inverse of `write`."""
        return cls(reader.u16(), reader.message())

    def describe(self, names: Names) -> str:
        """HAND_OVER p1: EVENT e1 p1#1 hops=1."""
        return f"HAND_OVER {names.node(self.peer)}: {self.message.describe(names)}"


@dataclass(frozen=True, slots=True)
class TakeOver(PointMessage):
    """The sender wants to lead from `term` on; its copy has come to the point."""

    tag: ClassVar[int] = 14
    message_type: ClassVar[str] = "TAKE_OVER"


@dataclass(frozen=True, slots=True)
class Yield(PointMessage):
    """The answer: the sender follows no earlier leader any more. `snapshot` is its copy if that is the newer one."""

    tag: ClassVar[int] = 15
    message_type: ClassVar[str] = "YIELD"
    snapshot: bytes

    def write(self, writer: Writer) -> None:
        """Term, point, snapshot."""
        super(Yield, self).write(writer)
        writer.long_blob(self.snapshot)

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Inverse of `write`."""
        return cls(reader.u32(), reader.u32(), reader.u32(), reader.long_blob())

    def describe(self, names: Names) -> str:
        """YIELD term=1 from 0.3, and how large a copy comes with it."""
        copy = f" with a copy of {len(self.snapshot)} bytes" if self.snapshot else ""
        return f"{super(Yield, self).describe(names)}{copy}"


@dataclass(frozen=True, slots=True)
class CatchUp(Message):
    """The sender's copy is lost or of no use: it wants the leader's."""

    tag: ClassVar[int] = 16
    message_type: ClassVar[str] = "CATCH_UP"

    def write(self, writer: Writer) -> None:
        """Nothing."""

    @classmethod
    def read(cls, reader: Reader) -> Self:  # noqa: ARG003  # there is nothing to read
        """Inverse of `write`."""
        return cls()


@dataclass(frozen=True, slots=True)
class State(Message):
    """The leader's copy, at this step of its term."""

    tag: ClassVar[int] = 17
    message_type: ClassVar[str] = "STATE"
    term: int
    step: int
    snapshot: bytes

    def write(self, writer: Writer) -> None:
        """Term, step, snapshot."""
        Point(self.term, self.step).write(writer)
        writer.long_blob(self.snapshot)

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Inverse of `write`."""
        return cls(reader.u32(), reader.u32(), reader.long_blob())

    def describe(self, names: Names) -> str:  # noqa: ARG002  # it names nobody
        """STATE 1.4 of 123 bytes."""
        return f"STATE {self.term}.{self.step} of {len(self.snapshot)} bytes"
