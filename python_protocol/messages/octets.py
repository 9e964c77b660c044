"""Bytes in network byte order: writers and readers.

A `Writer` raises `struct.error`, or its kind `EncodingError`, for an unsuitable value, the author's mistake. A `Reader`
raises only `DecodeError`, because its bytes come from others. A type that is written by hand can declare the shape of
its bytes for dissectors.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from struct import Struct
from typing import Any

_pack_u8, _pack_u16, _pack_u32, _pack_i64, _pack_f64 = (struct.Struct(f"!{code}").pack for code in "BHIqd")

MAX_NESTING = 4
"""The depth of messages in messages."""


class DecodeError(ValueError):
    """The bytes are not a message: the peer misbehaved."""


class EncodingError(struct.error):
    """A value is not of its field's type."""


def wrong_type(value: Any, cls: type[Any]) -> EncodingError:
    """Return the error for a value of the wrong class."""
    return EncodingError(f"{value!r} is not of type {cls.__name__}, but of type {type(value).__name__}")


class Writer:
    """Appends values in network byte order; a value out of range raises struct.error."""

    __slots__ = ("data",)

    def __init__(self, start: bytes = b"") -> None:
        self.data = bytearray(start)
        """The bytes; frequent values are appended directly."""

    def u8(self, value: int) -> None:
        """An unsigned integer of one byte."""
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
        """A floating-point number of eight bytes (IEEE 754)."""
        self.data += _pack_f64(value)

    def pack(self, layout: Struct, *values: int) -> None:
        """Append several fields at once, in hardly more time than one."""
        self.data += layout.pack(*values)

    def raw(self, data: bytes) -> None:
        """Bytes as they are."""
        self.data += data

    def blob(self, data: bytes) -> None:
        """At most 255 bytes, their count before them."""
        self._counted(_pack_u8, data, "bytes hold at most 255: declare LongBytes, which hold 65535")

    def long_blob(self, data: bytes) -> None:
        """At most 65535 bytes, their count before them."""
        self._counted(_pack_u16, data, "LongBytes hold at most 65535")

    def _counted(self, pack: Callable[[int], bytes], data: bytes, limit: str) -> None:
        if type(data) is not bytes:
            raise wrong_type(data, bytes)
        try:
            self.data += pack(len(data)) + data
        except struct.error:
            raise EncodingError(f"{len(data)} bytes are too many: {limit}") from None

    def text(self, text: str) -> None:
        """At most 255 bytes of UTF-8, their count before them."""
        if type(text) is not str:
            raise EncodingError(f"{text!r} is not text, but of type {type(text).__name__}")
        try:
            data = text.encode()
        except UnicodeEncodeError:
            raise EncodingError(f"{text!r} is not to be written in UTF-8") from None
        self._counted(_pack_u8, data, "a str holds at most 255 of UTF-8: declare LongBytes, and encode the text")

    def zeros(self, count: int) -> None:
        """Append `count` zero bytes, content of size alone."""
        self.data += bytes(count)

    def getvalue(self) -> bytes:
        """All that was written."""
        return bytes(self.data)


class Reader:
    """Takes fields off the front of bytes; too few bytes raise DecodeError."""

    __slots__ = ("_data", "_nesting", "_offset", "messages")

    def __init__(self, data: bytes, messages: Any = None) -> None:
        """Take the set allowed inside a message (`messages.message.MessageSet`)."""
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
        """An unsigned integer of one byte."""
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
        """A floating-point number of eight bytes (IEEE 754)."""
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
        """Several fields at once, as in `Writer.pack`."""
        return layout.unpack(self._take(layout.size))

    def message(self) -> Any:
        """Take an inner message with its tag; raise DecodeError if it is too deep or not allowed.

        Bounded depth keeps foreign bytes from exhausting the stack.
        """
        self._nesting += 1
        if self._nesting > MAX_NESTING:
            raise DecodeError(f"messages nested deeper than {MAX_NESTING}")
        if self.messages is None:
            raise DecodeError("a message is not allowed here")
        message = self.messages.read(self)
        self._nesting -= 1
        return message

    def finish(self) -> None:
        """Raise DecodeError unless every byte was read."""
        if self._offset != len(self._data):
            raise DecodeError(f"{len(self._data) - self._offset} bytes left over")


def bytes_of(value: Any) -> bytes:
    """The bytes of something that can `write` itself."""
    writer = Writer()
    value.write(writer)
    return writer.getvalue()


Shape = dict[str, Any]
"""The layout of bytes written by hand, as the exported dissector reads it: {"kind": "number", "code": "H"}."""


def number(code: str) -> Shape:
    """A number in network byte order; `code` is that of `struct`."""
    return {"kind": "number", "code": code}


def repeated(item: Shape, code: str = "B") -> Shape:
    """A count, and as many values of one shape."""
    return {"kind": "repeated", "code": code, "item": item}


def fields(**shapes: Shape) -> Shape:
    """Named shapes, one after the other."""
    return {"kind": "fields", "fields": [{"name": name, "shape": shape} for name, shape in shapes.items()]}
