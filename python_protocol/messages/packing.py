"""What becomes of fields that follow each other: numbers are packed at once, and bits share a byte.

A part of a layout writes its fields to a `Writer`, and reads them from a `Reader`. Writing is what every message on the
air costs, so its functions are made once, with all that they need at hand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from struct import Struct
from typing import Any, Protocol

from roambus.python_protocol.messages.bytes import Reader, Writer
from roambus.python_protocol.messages.fields import FieldError, FieldType, Integer, misfit
from roambus.python_protocol.messages.shapes import Flag, Flags, shape_of


@dataclass(frozen=True, slots=True)
class Declared:
    """A field; `mask` is that of its bit if it is a bit, or its presence is one (0: the next bit that is free)."""

    name: str
    kind: FieldType
    mask: int | None = None
    is_optional: bool = False


Writing = Callable[[Writer, Any], None]
"""Appends fields of the record to what was written."""


class Part(Protocol):
    """One field, or several that travel together."""

    @property
    def write(self) -> Writing:
        """What appends them, when it is called with a writer and the record."""

    def read(self, reader: Reader, values: dict[str, Any]) -> None:
        """Takes them off the front."""


class _Numbers:
    """Integers that are packed at once."""

    def __init__(self, fields: Sequence[Declared], codes: str) -> None:
        self._names = [one.name for one in fields]
        self._struct = Struct(f"!{codes}")
        self.write = _packing(self._struct, self._names)

    def read(self, reader: Reader, values: dict[str, Any]) -> None:
        values.update(zip(self._names, reader.unpack(self._struct), strict=True))


class _Flags:
    """Bits in one byte."""

    def __init__(self, fields: Sequence[Declared]) -> None:
        self._masks = [(one.name, mask) for one, mask in _masks(fields)]

    def write(self, writer: Writer, record: Any) -> None:
        byte = 0
        for name, mask in self._masks:
            value = getattr(record, name)
            if value is True:
                byte |= mask
            elif value is not False:
                raise misfit(value, bool)
        writer.data.append(byte)

    def read(self, reader: Reader, values: dict[str, Any]) -> None:
        byte = reader.u8()
        for name, mask in self._masks:
            values[name] = bool(byte & mask)


class _Optional:
    """Bits in one byte, and after it the optional fields that they say are there."""

    def __init__(self, fields: Sequence[Declared]) -> None:
        self._fields = _masks(fields)

    def write(self, writer: Writer, record: Any) -> None:
        byte, there = 0, []
        for one, mask in self._fields:
            value = getattr(record, one.name)
            if value is not None if one.is_optional else truth(value):
                byte |= mask
                there.append((one, value))
        writer.data.append(byte)
        for one, value in there:
            if one.is_optional:
                one.kind.write(writer, value)

    def read(self, reader: Reader, values: dict[str, Any]) -> None:
        byte = reader.u8()
        for one, mask in self._fields:
            if not one.is_optional:
                values[one.name] = bool(byte & mask)
            else:
                values[one.name] = one.kind.read(reader) if byte & mask else None


class _One:
    """Any other field."""

    def __init__(self, field: Declared) -> None:
        self._name, self._read = field.name, field.kind.read
        self.write = _writing_one(field.kind, field.name)

    def read(self, reader: Reader, values: dict[str, Any]) -> None:
        values[self._name] = self._read(reader)


def _packing(layout: Struct, names: Sequence[str]) -> Writing:
    """Packs the fields of these names, which may lead into a record: "leadership.started"."""
    pack, values = layout.pack, attrgetter(*names)

    def write_one(writer: Writer, record: Any) -> None:
        writer.data += pack(values(record))

    def write_several(writer: Writer, record: Any) -> None:
        writer.data += pack(*values(record))

    return write_one if len(names) == 1 else write_several


def _writing_one(kind: FieldType, name: str) -> Writing:
    write_value, value = kind.write, attrgetter(name)

    def write(writer: Writer, record: Any) -> None:
        write_value(writer, value(record))

    return write


def truth(value: Any) -> bool:
    """The value of a bit, if it is one; raises MisfitError."""
    if value is not True and value is not False:
        raise misfit(value, bool)
    return value


def _masks(fields: Sequence[Declared]) -> list[tuple[Declared, int]]:
    """Each of the fields that share a byte, with its bit."""
    if len(fields) > 8:
        raise FieldError(f"{fields[8].name} is the ninth bit in a row: put another field between")
    return [(one, one.mask or 1 << place) for place, one in enumerate(fields)]


def parts(declared: Sequence[Declared]) -> Iterator[Part]:
    """The parts of a layout with these fields, in their order; raises FieldError for the ninth bit in a row."""
    return map(_part, groups(declared))


def groups(declared: Sequence[Declared]) -> Iterator[Sequence[Declared]]:
    """The fields that travel together, in their order."""
    start = 0
    while start < len(declared):
        end = start + 1
        while end < len(declared) and sort_of(declared[end]) == sort_of(declared[start]) != "other":
            end += 1
        yield declared[start:end]
        start = end


def shape_of_bits(fields: Sequence[Declared]) -> Flags:
    """What a group of bits looks like, with the optional values that follow it."""
    flags = (Flag(one.name, mask, shape_of(one.kind) if one.is_optional else None) for one, mask in _masks(fields))
    return Flags(tuple(flags))


def sort_of(field: Declared) -> str:
    """The fields that travel together: "bit" and "number" do with their own sort, "other" alone."""
    if field.mask is not None:
        return "bit"
    return "number" if isinstance(field.kind, Integer) else "other"


def _part(fields: Sequence[Declared]) -> Part:
    match sort_of(fields[0]):
        case "bit":
            return _Optional(fields) if any(one.is_optional for one in fields) else _Flags(fields)
        case "number":
            return _Numbers(fields, "".join(one.kind.code for one in fields if isinstance(one.kind, Integer)))
    return _One(fields[0])
