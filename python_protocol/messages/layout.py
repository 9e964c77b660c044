"""The layout of a class: how its fields become bytes, and bytes become fields again.

It is made once with the class; only closures run for each message, because attribute look-ups would cost as much as
packing.

- Fields travel in order; adjacent numbers are packed at once, those of records too.
- Adjacent bits share a byte, at the first one's place, lowest bit first or by mask. An optional field's presence is a
  bit; its value follows the byte.
- With numbers and bits only, the size is constant (`FixedSize`).
"""

from __future__ import annotations

import dataclasses
import struct
import typing
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import groupby
from operator import attrgetter
from struct import Struct
from types import NoneType, UnionType
from typing import Annotated, Any, NamedTuple, get_args, get_origin

from roambus.python_protocol.messages.fields import (
    BIT,
    ONE_BYTE,
    OTHERS,
    By,
    CustomCodec,
    FieldError,
    FieldType,
    Integer,
    Names,
    Notation,
    Repeated,
    collection_problem,
    described,
    names_of_fields,
    what_can_be_changed,
)
from roambus.python_protocol.messages.octets import DecodeError, Reader, Writer, number, wrong_type

_SHOWN = 60
"""Characters shown of an unsuitable value."""
ADVICE = "write U8, U16, U32, I64, NodeId, bool, str, bytes, tuple[T, ...], a record, a message, or T | None"

Writing = Callable[[Writer, Any], None]
"""Appends fields of the record to what was written."""
Reading = Callable[[Reader, dict[str, Any]], None]
"""Takes fields off the front, by name."""


class FixedSize(NamedTuple):
    """The size of all messages of a class; `pack` raises struct.error for unsuitable `values`.

    Values of other types than `types` must be written to find out.
    """

    size: int
    values: Callable[[Any], tuple[Any, ...]]
    types: tuple[type, ...]
    pack: Callable[..., bytes]


@dataclass(frozen=True, slots=True)
class Declared:
    """A field; `mask` is that of its bit or presence bit (0: the next free one)."""

    name: str
    kind: FieldType
    mask: int | None = None
    is_optional: bool = False

    @property
    def sort(self) -> str:
        """Return its group: "bit" and "number" travel with their own sort, "other" alone."""
        if self.mask is not None:
            return "bit"
        return "number" if isinstance(self.kind, Integer) else "other"


class Layout:
    """The bytes and the text of one class's fields."""

    def __init__(self, cls: Any, notation: str = OTHERS) -> None:
        """Raise FieldError for a field that cannot travel, ValueError for a notation of no field."""
        self.declared = declared = list(_declared(cls))
        self._readers = [_part(group).read for group in groups(declared)]
        written = (_part(group).write for group in groups(list(_flattened(declared))))
        # A record that is taken apart is written by its numbers, so that nobody would notice that an object of another
        # class has attributes of these names. The checks stand first: what is refused has written nothing.
        checks = (
            entry.kind.checking(entry.name)
            for entry in declared
            if isinstance(entry.kind, Record) and entry.kind.is_numbers and not entry.is_optional
        )
        self.writers = [*checks, *written]
        """Append the parts of a record, in order; called with a writer and the record."""
        # A bit is shown by its name, and an optional value, whose bit says only whether it is there, by its own type.
        kinds = {entry.name: entry.kind if entry.mask is None or entry.is_optional else None for entry in declared}
        self.notation = Notation(kinds, notation)

    def write(self, writer: Writer, record: Any) -> None:
        """Append all fields of a record; raise struct.error for an unsuitable number."""
        for write in self.writers:
            write(writer, record)

    def read(self, reader: Reader) -> dict[str, Any]:
        """Take all fields off the front; return values by name; raise DecodeError."""
        values: dict[str, Any] = {}
        for read in self._readers:
            read(reader, values)
        return values

    def unfit_field(self, record: Any) -> str:
        """Return the field whose value cannot be written, as "path = [1, 2]", or an empty text.

        It writes each field again: noting the current field would slow every message.
        """
        for field in self.declared:
            value = getattr(record, field.name)
            if not (value is None and field.is_optional):
                try:
                    field.kind.write(Writer(), value)
                except (struct.error, TypeError, ValueError, AttributeError):
                    text = repr(value)
                    return f"{field.name} = {text if len(text) <= _SHOWN else f'{text[:_SHOWN]}...'}"
        return ""

    def fixed_size(self) -> FixedSize | None:
        """Return the size with tag of a message of these fields; None if it depends on their values.

        It also tests the values: `struct` refuses large numbers; types are compared, because `struct` takes True for 1.
        """
        if any(field.sort == "other" or field.is_optional for field in self.declared):
            return None
        codes = [field.kind.code if isinstance(field.kind, Integer) else "?" for field in self.declared]
        bits = sum(group[0].sort == "bit" for group in groups(self.declared))
        size = 1 + struct.calcsize("".join(["!", *(code for code in codes if code != "?")])) + bits
        values = attrgetter(
            "tag", "tag", *(field.name for field in self.declared)
        )  # twice: of a single name it is no tuple
        types = (int, int, *(bool if code == "?" else int for code in codes))
        return FixedSize(size, values, types, Struct(f"!BB{''.join(codes)}").pack)


class Record:
    """The type of a NamedTuple or a frozen dataclass."""

    def __init__(self, cls: Any) -> None:
        self._cls = cls
        self.layout = Layout(cls)
        self.is_numbers = bool(self.layout.declared) and all(field.sort == "number" for field in self.layout.declared)
        """Whether it is written as its numbers."""

    def write(self, writer: Writer, value: Any) -> None:
        """Append the fields of a record of this class.

        A similar class would arrive as another one.
        """
        if not isinstance(value, self._cls):
            raise wrong_type(value, self._cls)
        self.layout.write(writer, value)

    def checking(self, name: str) -> Writing:
        """Return a check that raises EncodingError unless the field holds such a record."""
        value, cls = attrgetter(name), self._cls

        def check(_: Writer, record: Any) -> None:
            if not isinstance(found := value(record), cls):
                raise wrong_type(found, cls)

        return check

    def read(self, reader: Reader) -> Any:
        """Take the fields off the front."""
        return self._cls(**self.layout.read(reader))

    def show(self, value: Any, names: Names) -> str:
        """As the record describes itself, else its fields in parentheses."""
        return described(value, names) or f"({self.layout.notation.show(value, names)})"


# What travels together


class _Part(NamedTuple):
    """One field, or several that travel together."""

    write: Writing
    read: Reading


def groups(declared: Sequence[Declared]) -> list[list[Declared]]:
    """Return the fields that travel together, in order.

    Only adjacent ones are grouped: published formats have bytes in field order.
    """
    grouped = groupby(declared, key=lambda field: (field.sort, field.name if field.sort == "other" else ""))
    return [list(group) for _, group in grouped]


def _part(fields: Sequence[Declared]) -> _Part:
    if fields[0].sort == "bit":
        bits = _Bits(fields)
        return _Part(bits.write, bits.read)
    return _numbers(fields) if fields[0].sort == "number" else _other(fields[0])


def _numbers(fields: Sequence[Declared]) -> _Part:
    """Return numbers packed at once; a name may lead into a record: "leadership.started"."""
    names = [field.name for field in fields]
    packed = Struct("!" + "".join(field.kind.code for field in fields if isinstance(field.kind, Integer)))
    pack, values_of = packed.pack, attrgetter(*names)

    # Two functions, because the attrgetter of a single name gives the value and no tuple; to ask each time is slower.
    def write_one(writer: Writer, record: Any) -> None:
        writer.data += pack(values_of(record))

    def write_several(writer: Writer, record: Any) -> None:
        writer.data += pack(*values_of(record))

    def read(reader: Reader, values: dict[str, Any]) -> None:
        values.update(zip(names, reader.unpack(packed), strict=True))

    return _Part(write_one if len(names) == 1 else write_several, read)


class _Bits:
    """Bits in one byte, and the optional fields behind it."""

    def __init__(self, fields: Sequence[Declared]) -> None:
        places = masks(fields)
        self._bits = [(field.name, mask) for field, mask in places if not field.is_optional]
        self._optional = [(field.name, mask, field.kind) for field, mask in places if field.is_optional]

    def write(self, writer: Writer, record: Any) -> None:
        byte, there = 0, []
        for name, mask in self._bits:
            value = getattr(record, name)
            if value is True:
                byte |= mask
            elif value is not False:
                raise wrong_type(value, bool)
        for name, mask, kind in self._optional:
            value = getattr(record, name)
            if value is not None:
                byte |= mask
                there.append((kind, value))
        writer.data.append(byte)
        for kind, value in there:
            kind.write(writer, value)

    def read(self, reader: Reader, values: dict[str, Any]) -> None:
        byte = reader.u8()
        for name, mask in self._bits:
            values[name] = bool(byte & mask)
        for name, mask, kind in self._optional:
            values[name] = kind.read(reader) if byte & mask else None


def _other(field: Declared) -> _Part:
    name, write_value, read_value, value_of = field.name, field.kind.write, field.kind.read, attrgetter(field.name)

    def write(writer: Writer, record: Any) -> None:
        write_value(writer, value_of(record))

    def read(reader: Reader, values: dict[str, Any]) -> None:
        values[name] = read_value(reader)

    return _Part(write, read)


def masks(fields: Sequence[Declared]) -> list[tuple[Declared, int]]:
    """Return the fields that share a byte, with their bits; raise FieldError for the ninth bit in a row.

    A second byte's place would depend on the fields before, so a new field would move the bits of others.
    """
    if len(fields) > 8:
        raise FieldError(f"{fields[8].name} is the ninth bit in a row: put another field between")
    return [(field, field.mask or 1 << place) for place, field in enumerate(fields)]


def _flattened(declared: Iterable[Declared]) -> Iterator[Declared]:
    """The same fields for writing, with records of numbers taken apart."""
    for entry in declared:
        if isinstance(entry.kind, Record) and entry.kind.is_numbers and entry.mask is None:
            yield from (Declared(f"{entry.name}.{field.name}", field.kind) for field in entry.kind.layout.declared)
        else:
            yield entry


# What a field is


def _declared(cls: Any) -> Iterator[Declared]:
    try:
        hints = typing.get_type_hints(cls, include_extras=True)
    except NameError as error:  # a name that is imported for type checkers only, or inside a function
        advice = f"import the types of fields at the head of {cls.__module__}"
        raise FieldError(f"{cls.__name__}: {error}: {advice}") from None
    masks = {field.name: field.metadata.get(BIT, 0) for field in getattr(cls, "__dataclass_fields__", {}).values()}
    for name in names_of_fields(cls):
        try:
            declared = _declare(name, hints[name], masks.get(name, 0))
            if problem := what_can_be_changed(hints[name]):
                raise FieldError(problem)
        except FieldError as error:
            raise FieldError(f"{cls.__name__}, field {name}: {error}") from None
        yield declared


def _declare(name: str, annotation: Any, mask: int) -> Declared:
    if annotation is bool:
        return Declared(name, _BOOL, mask)
    alternatives = get_args(annotation) if get_origin(annotation) in (UnionType, typing.Union) else ()
    if len(alternatives) == 2 and NoneType in alternatives:
        (kind,) = (alternative for alternative in alternatives if alternative is not NoneType)
        return Declared(name, field_type(kind), mask, is_optional=True)
    return Declared(name, field_type(annotation))


def field_type(annotation: Any) -> FieldType:
    """Return the type of a field from its annotation; raise FieldError with an alternative.

    Metadata count first, then Python's types, then classes, so that NodeId says more than int.
    """
    origin = get_origin(annotation)
    if origin is Annotated:
        return _annotated(annotation.__origin__, annotation.__metadata__)
    if origin is tuple:
        return _several(annotation, ONE_BYTE)
    if origin is UnionType:
        return _one_of(annotation)
    if isinstance(annotation, type):
        return _PLAIN.get(annotation) or _of_class(annotation)
    problem = collection_problem(origin, annotation) if isinstance(origin, type) else ""
    raise FieldError(problem or _cannot_travel(annotation))


def _annotated(annotation: Any, metadata: tuple[Any, ...]) -> FieldType:
    """Return the type in an annotation's metadata; a tuple's is the number that counts its values."""
    for codec in metadata:
        if get_origin(annotation) is tuple and isinstance(codec, Integer):
            return _several(annotation, codec)
        if hasattr(codec, "write") and hasattr(codec, "read") and hasattr(codec, "show"):
            known: FieldType = codec
            return known
    return field_type(annotation)


def _several(annotation: Any, count: Integer) -> FieldType:
    arguments = get_args(annotation)
    if len(arguments) != 2 or arguments[1] is not Ellipsis:
        raise FieldError(f"{annotation} cannot travel: write tuple[T, ...], or a NamedTuple")
    return Repeated(field_type(arguments[0]), count)


def _one_of(union: Any) -> FieldType:
    first, *others = get_args(union)
    if not all(hasattr(message, "as_field") for message in (first, *others)):
        raise FieldError(_cannot_travel(union))
    own: FieldType = first.as_field(*others)
    return own


def _of_class(cls: Any) -> FieldType:
    if hasattr(cls, "as_field"):
        own: FieldType = cls.as_field()
        return own
    if hasattr(cls, "write") and hasattr(cls, "read"):
        return CustomCodec(cls)
    if issubclass(cls, Enum):
        return Enumeration(cls)
    if dataclasses.is_dataclass(cls) or (issubclass(cls, tuple) and hasattr(cls, "_fields")):
        return Record(cls)
    if cls is int:
        raise FieldError("int does not say how many bytes it takes: write U8, U16, U32 or I64")
    raise FieldError(collection_problem(cls, cls.__name__) or _cannot_travel(cls.__name__))


def _cannot_travel(annotation: Any) -> str:
    return f"{annotation} cannot travel: {ADVICE}"


class Enumeration:
    """The type of a member, which travels as its place, one byte; inserted members move the others."""

    def __init__(self, cls: type[Enum]) -> None:
        self._members = list(cls)
        self.names = [str(member.name).lower() for member in self._members]

    def write(self, writer: Writer, value: Any) -> None:
        """Append the place."""
        writer.u8(self._members.index(value))

    def read(self, reader: Reader) -> Enum:
        """Take the place off the front; raise DecodeError if it is no member's."""
        number = reader.u8()
        if number >= len(self._members):
            raise DecodeError(f"{type(self._members[0]).__name__} has no member number {number}")
        return self._members[number]

    def show(self, value: Any, _: Names) -> str:
        """The name in small letters."""
        return self.names[self._members.index(value)]


def _truth(value: Any) -> bool:
    """Return a bit's value; raise EncodingError, because 2 or "no" would arrive as True."""
    if value is not True and value is not False:
        raise wrong_type(value, bool)
    return value


_BOOL: FieldType = By(
    lambda writer, value: writer.u8(_truth(value)), lambda reader: bool(reader.u8()), shape=number("B")
)
_PLAIN: dict[Any, FieldType] = {
    bool: _BOOL,
    str: By(Writer.text, Reader.text, shape={"kind": "text"}),
    bytes: By(Writer.blob, Reader.blob, shape={"kind": "blob", "code": "B"}),
    float: By(Writer.f64, Reader.f64, shape=number("d")),
}
