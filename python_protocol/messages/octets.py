"""Bytes in network byte order: what fields are written to and read from.

A `Writer` appends values; a `Reader` takes them off the front again. Whatever bytes a `Reader` is given, the worst that
it does is to raise `DecodeError`, because they come from somebody else.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from struct import Struct
from typing import Any

_pack_u8, _pack_u16, _pack_u32, _pack_i64, _pack_f64 = (struct.Struct(f"!{code}").pack for code in "BHIqd")

MAX_NESTING = 4
"""How deep a message may carry another."""


class DecodeError(ValueError):
    """The bytes are not what they should be: the peer misbehaved."""


class MisfitError(struct.error):
    """A value is none of its field's type: whoever made the message misused it."""


class Writer:
    """Appends values in network byte order; a value out of range raises struct.error, because we misused it."""

    __slots__ = ("data",)

    def __init__(self, start: bytes = b"") -> None:
        self.data = bytearray(start)
        """All that was written; what is sent most often is appended to it without another call."""

    def u8(self, value: int) -> None:
        """An unsigned byte."""
        self.data += _pack_u8(value)

    def u16(self, value: int) -> None:
        """An unsigned 16-bit integer."""
        self.data += _pack_u16(value)

    def u32(self, value: int) -> None:
        """An unsigned 32-bit integer."""
        self.data += _pack_u32(value)

    def i64(self, value: int) -> None:
        """A signed 64-bit integer."""
        self.data += _pack_i64(value)

    def f64(self, value: float) -> None:
        """A double."""
        self.data += _pack_f64(value)

    def pack(self, layout: Struct, *values: int) -> None:
        """Several fields at once, for messages that are sent often: takes hardly longer than one of them."""
        self.data += layout.pack(*values)

    def raw(self, data: bytes) -> None:
        """Bytes as they are."""
        self.data += data

    def blob(self, data: bytes) -> None:
        """At most 255 bytes, their count before them."""
        if type(data) is not bytes:
            raise MisfitError(f"{data!r} is no bytes, but of type {type(data).__name__}")
        self.data += _pack_u8(len(data))
        self.data += data

    def long_blob(self, data: bytes) -> None:
        """At most 65535 bytes, their count before them."""
        if type(data) is not bytes:
            raise MisfitError(f"{data!r} is no bytes, but of type {type(data).__name__}")
        self.data += _pack_u16(len(data))
        self.data += data

    def text(self, text: str) -> None:
        """At most 255 bytes of UTF-8, their count before them."""
        if type(text) is not str:
            raise MisfitError(f"{text!r} is no text, but of type {type(text).__name__}")
        try:
            data = text.encode()
        except UnicodeEncodeError:
            raise MisfitError(f"{text!r} is not to be written in UTF-8") from None
        self.data += _pack_u8(len(data))
        self.data += data

    def zeros(self, count: int) -> None:
        """`count` zero bytes, for content whose size alone matters."""
        self.data += bytes(count)

    def getvalue(self) -> bytes:
        """All that was written."""
        return bytes(self.data)


class Reader:
    """Takes fields off the front of some bytes; too few bytes raise DecodeError."""

    __slots__ = ("_data", "_nesting", "_offset", "messages")

    def __init__(self, data: bytes, messages: Any = None) -> None:
        """`messages` is the set of those that may stand inside another message (`messages.message.MessageSet`)."""
        self._data = data
        self._offset = 0
        self._nesting = 0
        self.messages = messages

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

    def unpack(self, layout: Struct) -> tuple[Any, ...]:
        """Several fields at once, as `Writer.pack` wrote them."""
        return layout.unpack(self._take(layout.size))

    @contextmanager
    def nested(self) -> Iterator[None]:
        """Reads a message inside this one; raises DecodeError if that is too deep."""
        self._nesting += 1
        if self._nesting > MAX_NESTING:
            raise DecodeError(f"messages nested deeper than {MAX_NESTING}")
        if self.messages is None:
            raise DecodeError("a message may not stand here")
        yield
        self._nesting -= 1

    def finish(self) -> None:
        """Raises DecodeError unless every byte was read."""
        if self._offset != len(self._data):
            raise DecodeError(f"{len(self._data) - self._offset} bytes left over")
