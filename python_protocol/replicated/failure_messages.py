"""Who is alive and who leads, among brokers and clients (002, sections 6.2 to 6.9)."""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import ClassVar, NamedTuple, Self

from roambus.python_protocol.messages.codec import Message, Reader, Writer
from roambus.python_protocol.messages.names import Names
from roambus.python_protocol.roles import NodeId

_POINT = Struct("!II")


class Point(NamedTuple):
    """How far a copy of a site's state has come: steps taken, the last of them under the leader of `term`.

    The greater of two points is the newer copy.
    """

    term: int
    step: int

    def __str__(self) -> str:
        return f"{self.term}.{self.step}"

    def write(self, writer: Writer) -> None:
        """Term, step."""
        writer.pack(_POINT, self.term, self.step)

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Inverse of `write`."""
        return cls(reader.u32(), reader.u32())


@dataclass(frozen=True, slots=True)
class AreYouAlive(Message):
    """A reply has not come in time (section 6.4)."""

    tag: ClassVar[int] = 6
    message_type: ClassVar[str] = "ARE_YOU_ALIVE"

    def write(self, writer: Writer) -> None:
        """Nothing."""

    @classmethod
    def read(cls, reader: Reader) -> Self:  # noqa: ARG003  # there is nothing to read
        """Inverse of `write`."""
        return cls()


@dataclass(frozen=True, slots=True)
class TermMessage(Message):
    """A term, and nothing else."""

    term: int

    def write(self, writer: Writer) -> None:
        """Term."""
        writer.u32(self.term)

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Inverse of `write`."""
        return cls(reader.u32())


@dataclass(frozen=True, slots=True)
class IAmAlive(TermMessage):
    """The answer, with the term in which the broker last took part."""

    tag: ClassVar[int] = 7
    message_type: ClassVar[str] = "I_AM_ALIVE"


@dataclass(frozen=True, slots=True)
class AssumedDead(Message):
    """Tells the other brokers of its site that `broker` does not answer (section 6.4)."""

    tag: ClassVar[int] = 8
    message_type: ClassVar[str] = "ASSUMED_DEAD"
    broker: NodeId

    def write(self, writer: Writer) -> None:
        """The broker."""
        writer.u16(self.broker)

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Inverse of `write`."""
        return cls(reader.u16())

    def describe(self, names: Names) -> str:
        """ASSUMED_DEAD b1."""
        return f"ASSUMED_DEAD {names.broker(self.broker)}"


@dataclass(frozen=True, slots=True)
class PointMessage(Message):
    """A term, and the point (`old_term`, `step`) of a copy."""

    term: int
    old_term: int
    step: int

    @property
    def point(self) -> Point:
        """Of the copy."""
        return Point(self.old_term, self.step)

    def write(self, writer: Writer) -> None:
        """Term, point."""
        writer.u32(self.term)
        self.point.write(writer)

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Inverse of `write`."""
        return cls(reader.u32(), reader.u32(), reader.u32())

    def describe(self, names: Names) -> str:  # noqa: ARG002  # it names nobody
        """I_AM_LEADER term=1 from 0.3."""
        return f"{self.message_type} term={self.term} from {self.point}"


@dataclass(frozen=True, slots=True)
class IAmLeader(PointMessage):
    """A new leader, to the brokers of its site and to the leaders of the neighbours (sections 6.6 and 6.8).

    It goes on from the copy at the point: a replica that has come to just that point follows.
    """

    tag: ClassVar[int] = 9
    message_type: ClassVar[str] = "I_AM_LEADER"


@dataclass(frozen=True, slots=True)
class Leader(Message):
    """`broker` leads its site since `term`: to one's replicas (section 6.9), and to who asks the wrong broker."""

    tag: ClassVar[int] = 10
    message_type: ClassVar[str] = "LEADER"
    broker: NodeId
    term: int

    def write(self, writer: Writer) -> None:
        """Broker, term."""
        writer.u16(self.broker)
        writer.u32(self.term)

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Inverse of `write`."""
        return cls(reader.u16(), reader.u32())

    def describe(self, names: Names) -> str:
        """LEADER b2 term=1."""
        return f"LEADER {names.broker(self.broker)} term={self.term}"
