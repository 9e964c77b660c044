"""Messages whose fields are written by hand, until the last of them are declared (`messages.message`)."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Self

from roambus.python_protocol.messages import bytes as base
from roambus.python_protocol.messages.bytes import MAX_NESTING, DecodeError
from roambus.python_protocol.messages.message import MessageSet

__all__ = ["MAX_NESTING", "DecodeError", "Message", "MessageSet", "Reader", "Writer"]


class Writer(base.Writer):
    __slots__ = ()

    def message(self, message: Any) -> None:
        self.u8(message.tag)
        message.write(self)


class Reader(base.Reader):
    __slots__ = ()

    def message(self) -> Any:
        with self.nested():
            return self.messages.read(self)


class Message:
    __slots__ = ()
    tag: ClassVar[int]
    message_type: ClassVar[str]

    @abstractmethod
    def write(self, writer: Any) -> None: ...

    @classmethod
    @abstractmethod
    def read(cls, reader: Any) -> Self: ...

    def encode(self) -> bytes:
        writer = Writer()
        writer.message(self)
        return writer.getvalue()

    def describe(self, names: Any) -> str:
        return f"{self.message_type} {names.fields(self)}".rstrip()
