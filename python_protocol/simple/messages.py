"""The messages of Simple Routing (003, table 2.1); PUB is the family's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from roambus.python_protocol.brokers.messages import Pub
from roambus.python_protocol.filters import Filter
from roambus.python_protocol.messages.codec import Message, Reader, Writer
from roambus.python_protocol.messages.names import Names


@dataclass(frozen=True, slots=True)
class _FilterMessage(Message):
    """What SUB and UNS have in common."""

    filter: Filter

    def write(self, writer: Writer) -> None:
        """The filter."""
        self.filter.write(writer)

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Inverse of `write`."""
        return cls(Filter.read(reader))

    def describe(self, names: Names) -> str:
        """SUB f1."""
        return f"{self.message_type} {names.filter(self.filter)}"


@dataclass(frozen=True, slots=True)
class Sub(_FilterMessage):
    """(SUB, f): somebody subscribes to f."""

    tag: ClassVar[int] = 1
    message_type: ClassVar[str] = "SUB"


@dataclass(frozen=True, slots=True)
class Uns(_FilterMessage):
    """(UNS, f): somebody unsubscribes from f."""

    tag: ClassVar[int] = 2
    message_type: ClassVar[str] = "UNS"


SIMPLE_MESSAGES: tuple[type[Message], ...] = (Sub, Uns, Pub)
