"""What becomes of fields that follow each other: numbers are packed at once, and bits share a byte.

A part of a layout writes its fields to a `Writer`, and reads them from a `Reader`. Writing is what every message on the
air costs, so its functions are made once, with all that they need at hand.

What may be shared: on the embedded back-ends all receivers of a frame get one object, which nobody may change.

The class of a message is refused if the type of one of its fields lets somebody change what the field holds, however
deep it lies. A value can be shared if it is a number, a text, bytes, a member of an enumeration, None, a message, or a
tuple, a frozen set, a `NamedTuple` or a frozen dataclass of such values. Type hints bind nobody, so fields also refuse
a value of another type when it is written (`messages.fields`).
"""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from operator import attrgetter
from struct import Struct
from types import NoneType, UnionType
from typing import Annotated, Any, Protocol, get_args, get_origin

from roambus.python_protocol.messages.fields import FieldError, FieldType, Integer, misfit
from roambus.python_protocol.messages.octets import Reader, Writer
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


_FIXED: tuple[type, ...] = (int, float, complex, str, bytes, NoneType)
_FROZEN_COLLECTIONS = (tuple, frozenset)
_CHANGEABLE: dict[type, str] = {
    list: "tuple[T, ...]",
    set: "frozenset[T]",
    dict: "tuple[tuple[K, V], ...]",
    bytearray: "bytes",
}


def what_can_be_changed(annotation: Any) -> str:
    """What of a field of this type others could change, and what to write instead; empty if nothing."""
    return _search(annotation, set())


def _search(annotation: Any, seen: set[Any]) -> str:
    origin = get_origin(annotation)
    if origin is Annotated:
        return _search(annotation.__origin__, seen)
    if origin in (UnionType, typing.Union) or origin in _FROZEN_COLLECTIONS:
        return _first(get_args(annotation), seen)
    kind = origin or annotation
    if kind is Ellipsis or kind is None:
        return ""
    if not isinstance(kind, type) or kind is Any:
        return f"{annotation} could be anything: write the type"
    return _search_class(kind, annotation if origin else kind.__name__, seen)


def _search_class(cls: Any, name: Any, seen: set[Any]) -> str:
    if cls in seen or hasattr(cls, "as_field") or issubclass(cls, Enum):
        return ""
    seen.add(cls)
    if dataclasses.is_dataclass(cls):
        return _search_dataclass(cls, seen)
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        return _first(typing.get_type_hints(cls, include_extras=True).values(), seen)
    if issubclass(cls, _FIXED + _FROZEN_COLLECTIONS) and not _has_attributes(cls):
        return ""
    advice = f"whoever receives a {name} could change it for everybody else: make it a frozen dataclass"
    return collection_problem(cls, name) or advice


def collection_problem(cls: Any, name: Any) -> str:
    """What to write instead of a list, a set, a dict or a bytearray; empty for every other class."""
    for changeable, instead in _CHANGEABLE.items():
        if issubclass(cls, changeable):
            return f"whoever receives a {name} could change it for everybody else who does: write {instead}"
    return ""


def _search_dataclass(cls: Any, seen: set[Any]) -> str:
    if not cls.__dataclass_params__.frozen:
        name = cls.__name__
        return f"whoever receives a {name} could change it for everybody else: write @dataclass(frozen=True)"
    hints = typing.get_type_hints(cls, include_extras=True)
    return _first((hints[field.name] for field in dataclasses.fields(cls)), seen)


def _has_attributes(cls: type[Any]) -> bool:
    """Whether instances of a subclass of something fixed have attributes, which can be set."""
    return cls.__dictoffset__ != 0


def _first(annotations: typing.Iterable[Any], seen: set[Any]) -> str:
    return next(filter(None, (_search(one, seen) for one in annotations)), "")
