"""The layout of a class: how the fields that it declares become bytes, and bytes become fields again.

The layout is made once, when the class is made. Fields travel in the order in which they are declared. Numbers that
follow each other are packed at once. Bits that follow each other share one byte, which stands where the first of them
is declared; whether an optional field is there is such a bit, and the values of the optional fields come right after
the byte. The first bit is the lowest, unless a field names its mask.
"""

from __future__ import annotations

import dataclasses
import struct
import typing
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from operator import attrgetter
from struct import Struct
from types import NoneType, UnionType
from typing import Annotated, Any, Protocol, get_args, get_origin

from roambus.python_protocol.messages.bytes import DecodeError, Reader, Writer
from roambus.python_protocol.messages.fields import (
    BIT,
    ONE_BYTE,
    By,
    CountedBy,
    FieldType,
    Integer,
    ItsOwn,
    Names,
    Several,
    described,
    misfit,
)
from roambus.python_protocol.messages.notation import Notation, plain_notation
from roambus.python_protocol.messages.sharing import collection_problem, what_can_be_changed

ADVICE = "write U8, U16, U32, I64, NodeId, bool, str, bytes, tuple[T, ...], a record, a message, or T | None"
_PLAIN: dict[Any, FieldType] = {
    str: By(Writer.text, Reader.text),
    bytes: By(Writer.blob, Reader.blob),
    float: By(Writer.f64, Reader.f64),
}


class FieldError(TypeError):
    """A field has a type that cannot travel; the text says which field, and what to write instead."""


class Layout:
    """How the fields of one class travel, and how a transcript shows them."""

    def __init__(self, cls: Any, notation: str | None = None) -> None:
        """Raises FieldError for a field that cannot travel, ValueError for a notation that names no field."""
        self._declared = declared = list(_declared(cls))
        kinds = {one.name: one.kind if one.mask is None or one.is_optional else None for one in declared}
        self._parts: list[_Part] = list(_parts(declared))
        self.writers = [part.write for part in self._parts]
        """What appends the parts of a record, one after the other: each is called with a writer and the record."""
        self._notation = Notation(kinds, plain_notation(kinds) if notation is None else notation)

    def write(self, writer: Writer, record: Any) -> None:
        """Appends all fields of a record; raises struct.error for a number that does not fit its field."""
        for write in self.writers:
            write(writer, record)

    def read(self, reader: Reader) -> dict[str, Any]:
        """Takes all fields off the front, and gives their values by name; raises DecodeError."""
        values: dict[str, Any] = {}
        for part in self._parts:
            part.read(reader, values)
        return values

    def misfit(self, record: Any) -> str:
        """The field whose value cannot be written, with the value: "path = [1, 2]"; empty if there is none."""
        for one in self._declared:
            value = getattr(record, one.name)
            if not (value is None and one.is_optional):
                try:
                    one.kind.write(Writer(), value)
                except (struct.error, TypeError, ValueError, AttributeError):
                    return f"{one.name} = {value!r}"
        return ""

    def show(self, record: Any, names: Names) -> str:
        """The fields of a record as its notation has them."""
        return self._notation.show(record, names)


class Record:
    """The type of a NamedTuple or a frozen dataclass: its fields, one after the other."""

    def __init__(self, cls: Any) -> None:
        self._cls = cls
        self._layout = Layout(cls)

    def write(self, writer: Writer, value: Any) -> None:
        """Appends the fields."""
        if not isinstance(value, self._cls):
            raise misfit(value, self._cls)
        self._layout.write(writer, value)

    def read(self, reader: Reader) -> Any:
        """Takes the fields off the front."""
        return self._cls(**self._layout.read(reader))

    def show(self, value: Any, names: Names) -> str:
        """As the record describes itself; otherwise its fields in parentheses."""
        return described(value, names) or f"({self._layout.show(value, names)})"


# What a field is


@dataclass(frozen=True, slots=True)
class _Declared:
    """A field; `mask` is that of its bit if it is a bit, or its presence is one (0: the next bit that is free)."""

    name: str
    kind: FieldType
    mask: int | None = None
    is_optional: bool = False


def _declared(cls: Any) -> Iterator[_Declared]:
    hints = _hints(cls)
    for name, metadata in _names(cls):
        try:
            declared = _declare(name, hints[name], metadata.get(BIT, 0))
            if problem := what_can_be_changed(hints[name]):
                raise FieldError(problem)
        except FieldError as error:
            raise FieldError(f"{cls.__name__}, field {name}: {error}") from None
        yield declared


def _hints(cls: Any) -> dict[str, Any]:
    try:
        return typing.get_type_hints(cls, include_extras=True)
    except NameError as error:
        raise FieldError(
            f"{cls.__name__}: {error}: import the types of fields at the head of {cls.__module__}"
        ) from None


def _names(cls: Any) -> Iterator[tuple[str, Any]]:
    if dataclasses.is_dataclass(cls):
        return ((field.name, field.metadata) for field in dataclasses.fields(cls))
    return ((name, {}) for name in cls._fields)


def _declare(name: str, annotation: Any, mask: int) -> _Declared:
    if annotation is bool:
        return _Declared(name, _BOOL, mask)
    optional = _optional_part(annotation)
    if optional is not None:
        return _Declared(name, field_type(optional), mask, is_optional=True)
    return _Declared(name, field_type(annotation))


def _optional_part(annotation: Any) -> Any:
    """The T of T | None, and None for every other type."""
    if get_origin(annotation) not in (UnionType, typing.Union):
        return None
    others = [one for one in get_args(annotation) if one is not NoneType]
    return others[0] if len(others) == 1 and len(get_args(annotation)) == 2 else None


def field_type(annotation: Any) -> FieldType:
    """The type of a field from its annotation; raises FieldError, which says what to write instead."""
    if annotation is bool:
        return _BOOL
    if get_origin(annotation) is Annotated:
        return _annotated(annotation)
    if get_origin(annotation) is tuple:
        return _several(annotation)
    if get_origin(annotation) is UnionType:
        return _one_of(annotation)
    if isinstance(annotation, type):
        return _PLAIN.get(annotation) or _of_class(annotation)
    origin = get_origin(annotation)
    problem = collection_problem(origin, annotation) if isinstance(origin, type) else ""
    raise FieldError(problem or _cannot_travel(str(annotation)))


def _annotated(annotation: Any) -> FieldType:
    for one in annotation.__metadata__:
        if isinstance(one, CountedBy):
            return _several(annotation.__origin__, one.count)
        if hasattr(one, "write") and hasattr(one, "read") and hasattr(one, "show"):
            known: FieldType = one
            return known
        if isinstance(one, CountedBy):
            return _several(annotation.__origin__, one.count)
    return field_type(annotation.__origin__)


def _several(annotation: Any, count: Integer = ONE_BYTE) -> FieldType:
    arguments = get_args(annotation)
    if len(arguments) != 2 or arguments[1] is not Ellipsis:
        raise FieldError(f"{annotation} cannot travel: write tuple[T, ...], or a NamedTuple")
    return Several(field_type(arguments[0]), count)


def _one_of(union: Any) -> FieldType:
    """The type of a field that holds a message of one of several classes."""
    first, *others = get_args(union)
    if not all(hasattr(one, "as_field") for one in (first, *others)):
        raise FieldError(_cannot_travel(str(union)))
    own: FieldType = first.as_field(*others)
    return own


def _of_class(cls: Any) -> FieldType:
    if hasattr(cls, "as_field"):
        own: FieldType = cls.as_field()
        return own
    if hasattr(cls, "write") and hasattr(cls, "read"):
        return ItsOwn(cls)
    if issubclass(cls, Enum):
        return _enumeration(cls)
    if dataclasses.is_dataclass(cls) or (issubclass(cls, tuple) and hasattr(cls, "_fields")):
        return Record(cls)
    if cls is int:
        raise FieldError("int does not say how many bytes it takes: write U8, U16, U32 or I64")
    raise FieldError(collection_problem(cls, cls.__name__) or _cannot_travel(cls.__name__))


def _cannot_travel(name: str) -> str:
    return f"{name} cannot travel: {ADVICE}"


def _enumeration(cls: type[Enum]) -> FieldType:
    """A member travels as its place in the enumeration, one byte."""
    members = list(cls)

    def read(reader: Reader) -> Enum:
        number = reader.u8()
        if number >= len(members):
            raise DecodeError(f"{cls.__name__} has no member number {number}")
        return members[number]

    return By(lambda writer, value: writer.u8(members.index(value)), read, lambda value, _: str(value.name).lower())


def _truth(value: Any) -> bool:
    """The value of a bit, if it is one; raises MisfitError."""
    if value is not True and value is not False:
        raise misfit(value, bool)
    return value


_BOOL: FieldType = By(lambda writer, value: writer.u8(_truth(value)), lambda reader: bool(reader.u8()))


# What becomes of fields that follow each other


class _Part(Protocol):
    """One field, or several that travel together."""

    def write(self, writer: Writer, record: Any) -> None:
        """Appends them."""

    def read(self, reader: Reader, values: dict[str, Any]) -> None:
        """Takes them off the front."""


class _Numbers:
    """Integers that are packed at once."""

    def __init__(self, fields: Sequence[_Declared], codes: str) -> None:
        self._names = [one.name for one in fields]
        self._struct = Struct(f"!{codes}")
        values = attrgetter(*self._names)
        self._values = values if len(fields) > 1 else lambda record: (values(record),)

    def write(self, writer: Writer, record: Any) -> None:
        writer.raw(self._struct.pack(*self._values(record)))

    def read(self, reader: Reader, values: dict[str, Any]) -> None:
        values.update(zip(self._names, reader.unpack(self._struct), strict=True))


class _Flags:
    """Bits in one byte."""

    def __init__(self, fields: Sequence[_Declared]) -> None:
        self._masks = [(one.name, mask) for one, mask in _masks(fields)]

    def write(self, writer: Writer, record: Any) -> None:
        byte = 0
        for name, mask in self._masks:
            value = getattr(record, name)
            if value is True:
                byte |= mask
            elif value is not False:
                raise misfit(value, bool)
        writer.u8(byte)

    def read(self, reader: Reader, values: dict[str, Any]) -> None:
        byte = reader.u8()
        for name, mask in self._masks:
            values[name] = bool(byte & mask)


class _Optional:
    """Bits in one byte, and after it the optional fields that they say are there."""

    def __init__(self, fields: Sequence[_Declared]) -> None:
        self._fields = _masks(fields)

    def write(self, writer: Writer, record: Any) -> None:
        byte, there = 0, []
        for one, mask in self._fields:
            value = getattr(record, one.name)
            if value is not None if one.is_optional else _truth(value):
                byte |= mask
                there.append((one, value))
        writer.u8(byte)
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

    def __init__(self, field: _Declared) -> None:
        self._name, self._read, self._write = field.name, field.kind.read, field.kind.write
        self._value = attrgetter(field.name)

    def write(self, writer: Writer, record: Any) -> None:
        self._write(writer, self._value(record))

    def read(self, reader: Reader, values: dict[str, Any]) -> None:
        values[self._name] = self._read(reader)


def _masks(fields: Sequence[_Declared]) -> list[tuple[_Declared, int]]:
    """Each of the fields that share a byte, with its bit."""
    if len(fields) > 8:
        raise FieldError(f"{fields[8].name} is the ninth bit in a row: put another field between")
    return [(one, one.mask or 1 << place) for place, one in enumerate(fields)]


def _parts(declared: Sequence[_Declared]) -> Iterator[_Part]:
    start = 0
    while start < len(declared):
        end = start + 1
        while end < len(declared) and _sort(declared[end]) == _sort(declared[start]) != "other":
            end += 1
        yield _part(declared[start:end])
        start = end


def _sort(field: _Declared) -> str:
    if field.mask is not None:
        return "bit"
    return "number" if isinstance(field.kind, Integer) else "other"


def _part(fields: Sequence[_Declared]) -> _Part:
    match _sort(fields[0]):
        case "bit":
            return _Optional(fields) if any(one.is_optional for one in fields) else _Flags(fields)
        case "number":
            return _Numbers(fields, "".join(one.kind.code for one in fields if isinstance(one.kind, Integer)))
    return _One(fields[0])
