"""Messages and their bytes.

A message's size on the air is the length of `encode()`: one tag byte, then the fields in network byte order.
`MessageSet.decode` is the inverse; anything malformed raises `DecodeError`, never another exception.
"""

from __future__ import annotations

import struct
from abc import abstractmethod
from collections.abc import Iterable, Iterator
from struct import Struct
from typing import TYPE_CHECKING, ClassVar, Self

if TYPE_CHECKING:
    from roambus.python_protocol.messages.names import Names

_pack_u8, _pack_u16, _pack_u32, _pack_i64, _pack_f64 = (struct.Struct(f"!{code}").pack for code in "BHIqd")

MAX_NESTING = 4
"""How deep a message may carry another."""


class DecodeError(ValueError):
    """Bytes that are no message of the set: the peer misbehaved."""


class Writer:
    """Appends fields in network byte order; a value out of range raises struct.error (we misused it)."""

    __slots__ = ("_parts",)

    def __init__(self) -> None:
        self._parts = bytearray()

    def u8(self, value: int) -> None:
        """An unsigned byte."""
        self._parts += _pack_u8(value)

    def u16(self, value: int) -> None:
        """An unsigned 16-bit integer."""
        self._parts += _pack_u16(value)

    def u32(self, value: int) -> None:
        """An unsigned 32-bit integer."""
        self._parts += _pack_u32(value)

    def i64(self, value: int) -> None:
        """A signed 64-bit integer."""
        self._parts += _pack_i64(value)

    def f64(self, value: float) -> None:
        """A double."""
        self._parts += _pack_f64(value)

    def pack(self, layout: Struct, *values: int) -> None:
        """Several fields at once, for messages that are sent often: takes hardly longer than one of them."""
        self._parts += layout.pack(*values)

    def blob(self, data: bytes) -> None:
        """At most 255 bytes, their count before them."""
        self._parts += _pack_u8(len(data))
        self._parts += data

    def long_blob(self, data: bytes) -> None:
        """At most 65535 bytes, their count before them."""
        self._parts += _pack_u16(len(data))
        self._parts += data

    def text(self, text: str) -> None:
        """At most 255 bytes of UTF-8, their count before them."""
        self.blob(text.encode())

    def zeros(self, count: int) -> None:
        """`count` zero bytes, for content whose size alone matters."""
        self._parts += bytes(count)

    def message(self, message: Message) -> None:
        """A whole message inside another."""
        self._parts += _pack_u8(message.tag)
        message.write(self)

    def getvalue(self) -> bytes:
        """All that was written."""
        return bytes(self._parts)


class Reader:
    """Takes fields off the front of some bytes; too few bytes raise DecodeError."""

    __slots__ = ("_data", "_messages", "_nesting", "_offset")

    def __init__(self, data: bytes, messages: MessageSet | None = None) -> None:
        self._data = data
        self._offset = 0
        self._messages = messages
        self._nesting = 0

    def _take(self, count: int) -> bytes:
        end = self._offset + count
        if end > len(self._data):
            raise DecodeError(f"{count} bytes expected at {self._offset}, the message has {len(self._data)}")
        start, self._offset = self._offset, end
        return self._data[start:end]

    def u8(self) -> int:
        """An unsigned byte."""
        return self._take(1)[0]

    def u16(self) -> int:
        """An unsigned 16-bit integer."""
        return int.from_bytes(self._take(2))

    def u32(self) -> int:
        """An unsigned 32-bit integer."""
        return int.from_bytes(self._take(4))

    def i64(self) -> int:
        """A signed 64-bit integer."""
        return int.from_bytes(self._take(8), signed=True)

    def f64(self) -> float:
        """A double."""
        value: float = struct.unpack("!d", self._take(8))[0]
        return value

    def blob(self) -> bytes:
        """Bytes with their count before them."""
        return self._take(self.u8())

    def long_blob(self) -> bytes:
        """Bytes with their count of two bytes before them."""
        return self._take(self.u16())

    def text(self) -> str:
        """UTF-8 with its count of bytes before it."""
        try:
            return self.blob().decode()
        except UnicodeDecodeError as error:
            raise DecodeError(f"text is not UTF-8: {error}") from None

    def zeros(self, count: int) -> None:
        """Skips `count` bytes of content."""
        self._take(count)

    def message(self) -> Message:
        """A message inside this one."""
        if self._messages is None:
            raise DecodeError("a message may not stand here")
        self._nesting += 1
        if self._nesting > MAX_NESTING:
            raise DecodeError(f"messages nested deeper than {MAX_NESTING}")
        message = self._messages.read(self)
        self._nesting -= 1
        return message

    def finish(self) -> None:
        """Raises DecodeError unless every byte was read."""
        if self._offset != len(self._data):
            raise DecodeError(f"{len(self._data) - self._offset} bytes left over")


class Message:
    """What nodes send each other: subclasses are frozen, slotted dataclasses with a tag, unique in their set."""

    __slots__ = ()
    tag: ClassVar[int]
    message_type: ClassVar[str]
    """The name in traces and transcripts, as the protocol's paper writes it: "RREQ", "BMIG"."""

    @abstractmethod
    def write(self, writer: Writer) -> None:
        """Writes the fields, without the tag."""

    @classmethod
    @abstractmethod
    def read(cls, reader: Reader) -> Self:
        """Reads what `write` wrote; raises DecodeError."""

    def encode(self) -> bytes:
        """The bytes on the air, tag first."""
        writer = Writer()
        writer.message(self)
        return writer.getvalue()

    def describe(self, names: Names) -> str:
        """The message with all that it holds, as transcripts write it: in its paper's notation if it has its own."""
        return f"{self.message_type} {names.fields(self)}".rstrip()


class MessageSet:
    """The messages of one protocol, by tag."""

    def __init__(self, classes: Iterable[type[Message]]) -> None:
        self._classes: dict[int, type[Message]] = {}
        for cls in classes:
            if cls.tag in self._classes:
                raise ValueError(f"{cls.__name__} and {self._classes[cls.tag].__name__} share tag {cls.tag}")
            self._classes[cls.tag] = cls

    def __iter__(self) -> Iterator[type[Message]]:
        return iter(self._classes.values())

    def read(self, reader: Reader) -> Message:
        """Reads one message off `reader`; raises DecodeError."""
        tag = reader.u8()
        if tag not in self._classes:
            raise DecodeError(f"no message has tag {tag}")
        return self._classes[tag].read(reader)

    def decode(self, data: bytes) -> Message:
        """The message that `data` is; raises DecodeError for anything else, bytes left over included."""
        reader = Reader(data, self)
        message = self.read(reader)
        reader.finish()
        return message
