"""The layout of a class: how the fields that it declares become bytes, and bytes become fields again.

The layout is made once, when the class is made; only what it has made then runs for each message. The rules:

- Fields travel in the order in which they are declared.
- Numbers that follow each other are packed at once, those of a record among them, because a call of `struct` costs
  much the same for one number and for five.
- Bits that follow each other share one byte, which stands where the first of them is declared. The first bit is the
  lowest, unless a field names its mask. Whether an optional field is there is such a bit, too, and the values of the
  optional fields come right after the byte.
- If all fields are numbers and bits, so is the size of every message of the class known (`FixedSize`). Back-ends ask
  for the size of each message that is sent, and most of them never need its bytes.
- A field of a type that cannot travel is refused with its name and with what to write instead. A type that others could
  change is refused, too (`messages.fields`).

How it is made: `_declare` finds the type of each field, `_groups` puts those together that travel together, and `_part`
makes the two functions that write and read a group. They are closures over what they need, such as the `pack` of a
`Struct`, because they run for every message that is sent or received, and looking an attribute up each time costs as
much as packing a number. A layout has no state beside these functions, so that all messages of a class share one.

Writing and reading group the fields differently in one point. For writing, a record of nothing but numbers is taken
apart, and its numbers are packed with those around it. Reading has to make the record anyway, and gains nothing.
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
    By,
    FieldError,
    FieldType,
    Integer,
    ItsOwn,
    Names,
    Several,
    collection_problem,
    described,
    names_of_fields,
    what_can_be_changed,
)
from roambus.python_protocol.messages.notation import OTHERS, Notation
from roambus.python_protocol.messages.octets import (
    BYTE,
    Blob,
    DecodeError,
    Enumerated,
    Fields,
    Flag,
    Flags,
    Number,
    Reader,
    Shape,
    Text,
    Writer,
    misfit,
    shape_of,
)

_SHOWN = 60
"""In characters: how much of a value that does not fit is shown."""
ADVICE = "write U8, U16, U32, I64, NodeId, bool, str, bytes, tuple[T, ...], a record, a message, or T | None"

Writing = Callable[[Writer, Any], None]
"""Appends fields of the record to what was written."""
Reading = Callable[[Reader, dict[str, Any]], None]
"""Takes fields off the front, and enters their values by their names."""


class FixedSize(NamedTuple):
    """The size of all messages of a class; `pack` raises struct.error for `values` of a message that do not fit.

    Values of other types than `types` may fit or not: to find out, they have to be written.
    """

    size: int
    values: Callable[[Any], tuple[Any, ...]]
    types: tuple[type, ...]
    pack: Callable[..., bytes]


@dataclass(frozen=True, slots=True)
class Declared:
    """A field; `mask` is that of its bit if it is a bit, or its presence is one (0: the next bit that is free)."""

    name: str
    kind: FieldType
    mask: int | None = None
    is_optional: bool = False

    @property
    def sort(self) -> str:
        """The fields that travel together: "bit" and "number" do with their own sort, "other" alone."""
        if self.mask is not None:
            return "bit"
        return "number" if isinstance(self.kind, Integer) else "other"


class Layout:
    """How the fields of one class travel, and how a transcript shows them."""

    def __init__(self, cls: Any, notation: str = OTHERS) -> None:
        """Raises FieldError for a field that cannot travel, ValueError for a notation that names no field."""
        self.declared = declared = list(_declared(cls))
        self._readers = [_part(group).read for group in _groups(declared)]
        written = (_part(group).write for group in _groups(list(_flattened(declared))))
        # A record that is taken apart is written by its numbers, so that nobody would notice that an object of another
        # class has attributes of these names. The checks stand first: what is refused has written nothing.
        checks = (
            one.kind.checking(one.name) for one in declared if isinstance(one.kind, Record) and one.kind.is_numbers
        )
        self.writers = [*checks, *written]
        """What appends the parts of a record, one after the other: each is called with a writer and the record."""
        # A bit is shown by its name, and an optional value, whose bit says only whether it is there, by its own type.
        kinds = {one.name: one.kind if one.mask is None or one.is_optional else None for one in declared}
        self.notation = Notation(kinds, notation)

    def write(self, writer: Writer, record: Any) -> None:
        """Appends all fields of a record; raises struct.error for a number that does not fit its field."""
        for write in self.writers:
            write(writer, record)

    def read(self, reader: Reader) -> dict[str, Any]:
        """Takes all fields off the front, and gives their values by name; raises DecodeError."""
        values: dict[str, Any] = {}
        for read in self._readers:
            read(reader, values)
        return values

    def misfit(self, record: Any) -> str:
        """The field whose value cannot be written, with how the value begins: "path = [1, 2]"; empty if there is none.

        It writes each field again by itself. That is slow, and happens only once something has been refused: to keep a
        record of the field at work would cost every message that is sent.
        """
        for one in self.declared:
            value = getattr(record, one.name)
            if not (value is None and one.is_optional):
                try:
                    one.kind.write(Writer(), value)
                except (struct.error, TypeError, ValueError, AttributeError):
                    text = repr(value)
                    return f"{one.name} = {text if len(text) <= _SHOWN else f'{text[:_SHOWN]}...'}"
        return ""

    def fixed_size(self) -> FixedSize | None:
        """The size of a message with these fields, tag included; None if it depends on their values.

        What is returned can tell whether the values would fit, because the size of a message that cannot be sent must
        not be told: `struct` refuses a number that is too large, and the types are compared besides, since `struct`
        would take a subclass of int, or True for 1.
        """
        if any(one.sort == "other" or one.is_optional for one in self.declared):
            return None
        codes = [one.kind.code if isinstance(one.kind, Integer) else "?" for one in self.declared]
        bits = sum(group[0].sort == "bit" for group in _groups(self.declared))
        size = 1 + struct.calcsize("".join(["!", *(code for code in codes if code != "?")])) + bits
        values = attrgetter(
            "tag", "tag", *(one.name for one in self.declared)
        )  # twice: of a single name it is no tuple
        types = (int, int, *(bool if code == "?" else int for code in codes))
        return FixedSize(size, values, types, Struct(f"!BB{''.join(codes)}").pack)

    @property
    def shape(self) -> Fields:
        """What the bytes of all fields look like; a byte of bits has no name of its own."""
        pairs: list[tuple[str, Shape]] = []
        for group in _groups(self.declared):
            if group[0].sort == "bit":
                flags = (
                    Flag(one.name, mask, shape_of(one.kind) if one.is_optional else None) for one, mask in _masks(group)
                )
                pairs.append(("", Flags(tuple(flags))))
            else:
                pairs += [(one.name, shape_of(one.kind)) for one in group]
        return Fields(tuple(pairs))


class Record:
    """The type of a NamedTuple or a frozen dataclass: its fields, one after the other."""

    def __init__(self, cls: Any) -> None:
        self._cls = cls
        self.layout = Layout(cls)
        self.is_numbers = bool(self.layout.declared) and all(one.sort == "number" for one in self.layout.declared)
        """Whether it can be taken apart, because it is written as its numbers one after the other."""

    def write(self, writer: Writer, value: Any) -> None:
        """Appends the fields of a record, after it is known to be one of this class.

        Without that, a value of another class that happens to have the same attributes would travel, and arrive as
        something else than was sent.
        """
        if not isinstance(value, self._cls):
            raise misfit(value, self._cls)
        self.layout.write(writer, value)

    def checking(self, name: str) -> Writing:
        """What raises MisfitError unless the field of this name holds such a record; it writes nothing."""
        value, cls = attrgetter(name), self._cls

        def check(_: Writer, record: Any) -> None:
            if not isinstance(found := value(record), cls):
                raise misfit(found, cls)

        return check

    def read(self, reader: Reader) -> Any:
        """Takes the fields off the front."""
        return self._cls(**self.layout.read(reader))

    def show(self, value: Any, names: Names) -> str:
        """As the record describes itself; otherwise its fields in parentheses."""
        return described(value, names) or f"({self.layout.notation.show(value, names)})"

    @property
    def shape(self) -> Fields:
        """The fields, one after the other."""
        return self.layout.shape


# What travels together


class _Part(NamedTuple):
    """One field, or several that travel together."""

    write: Writing
    read: Reading


def _groups(declared: Sequence[Declared]) -> list[list[Declared]]:
    """The fields that travel together, in their order.

    Only neighbours are grouped: to collect all bits of a message in one byte would make it shorter, and its bytes would
    no longer be in the order of the fields, in which formats are published.
    """
    grouped = groupby(declared, key=lambda one: (one.sort, one.name if one.sort == "other" else ""))
    return [list(group) for _, group in grouped]


def _part(fields: Sequence[Declared]) -> _Part:
    if fields[0].sort == "bit":
        bits = _Bits(fields)
        return _Part(bits.write, bits.read)
    return _numbers(fields) if fields[0].sort == "number" else _other(fields[0])


def _numbers(fields: Sequence[Declared]) -> _Part:
    """Numbers that are packed at once; a name may lead into a record: "leadership.started"."""
    names = [one.name for one in fields]
    packed = Struct("!" + "".join(one.kind.code for one in fields if isinstance(one.kind, Integer)))
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
    """Bits in one byte, and after it the optional fields that they say are there."""

    def __init__(self, fields: Sequence[Declared]) -> None:
        masks = _masks(fields)
        self._bits = [(one.name, mask) for one, mask in masks if not one.is_optional]
        self._optional = [(one.name, mask, one.kind) for one, mask in masks if one.is_optional]

    def write(self, writer: Writer, record: Any) -> None:
        byte, there = 0, []
        for name, mask in self._bits:
            value = getattr(record, name)
            if value is True:
                byte |= mask
            elif value is not False:
                raise misfit(value, bool)
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
    """Any other field, which travels alone."""
    name, write_value, read_value, value_of = field.name, field.kind.write, field.kind.read, attrgetter(field.name)

    def write(writer: Writer, record: Any) -> None:
        write_value(writer, value_of(record))

    def read(reader: Reader, values: dict[str, Any]) -> None:
        values[name] = read_value(reader)

    return _Part(write, read)


def _masks(fields: Sequence[Declared]) -> list[tuple[Declared, int]]:
    """Each of the fields that share a byte, with its bit; raises FieldError for the ninth bit in a row.

    A second byte is not begun by itself: where it begins would depend on how many fields stand before it, and a field
    that is added would move the bits of all others.
    """
    if len(fields) > 8:
        raise FieldError(f"{fields[8].name} is the ninth bit in a row: put another field between")
    return [(one, one.mask or 1 << place) for place, one in enumerate(fields)]


def _flattened(declared: Iterable[Declared]) -> Iterator[Declared]:
    """The same fields for writing: records of numbers are taken apart, so that they are packed with what is around."""
    for one in declared:
        if isinstance(one.kind, Record) and one.kind.is_numbers and one.mask is None:
            yield from (Declared(f"{one.name}.{field.name}", field.kind) for field in one.kind.layout.declared)
        else:
            yield one


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
        (kind,) = (one for one in alternatives if one is not NoneType)
        return Declared(name, field_type(kind), mask, is_optional=True)
    return Declared(name, field_type(annotation))


def field_type(annotation: Any) -> FieldType:
    """The type of a field from its annotation; raises FieldError, which says what to write instead.

    What the annotation brings along counts first, then the forms of Python's own types, and a class is asked last: so
    an alias such as NodeId can say more of an int than the int itself.
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
    """A type that the annotation brings along; that of a tuple is the number that counts its values."""
    for one in metadata:
        if get_origin(annotation) is tuple and isinstance(one, Integer):
            return _several(annotation, one)
        if hasattr(one, "write") and hasattr(one, "read") and hasattr(one, "show"):
            known: FieldType = one
            return known
    return field_type(annotation)


def _several(annotation: Any, count: Integer) -> FieldType:
    arguments = get_args(annotation)
    if len(arguments) != 2 or arguments[1] is not Ellipsis:
        raise FieldError(f"{annotation} cannot travel: write tuple[T, ...], or a NamedTuple")
    return Several(field_type(arguments[0]), count)


def _one_of(union: Any) -> FieldType:
    """The type of a field that holds a message of one of several classes."""
    first, *others = get_args(union)
    if not all(hasattr(one, "as_field") for one in (first, *others)):
        raise FieldError(_cannot_travel(union))
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


def _cannot_travel(annotation: Any) -> str:
    return f"{annotation} cannot travel: {ADVICE}"


def _enumeration(cls: type[Enum]) -> FieldType:
    """A member travels as its place in the enumeration, one byte.

    Its value does not travel, so that a member can stand for anything; one that is put in between moves the others.
    """
    members = list(cls)
    names = [str(member.name).lower() for member in members]

    def write(writer: Writer, value: Any) -> None:
        writer.u8(members.index(value))

    def read(reader: Reader) -> Enum:
        number = reader.u8()
        if number >= len(members):
            raise DecodeError(f"{cls.__name__} has no member number {number}")
        return members[number]

    return By(write, read, lambda value, _: names[members.index(value)], Enumerated(tuple(names)))


def _truth(value: Any) -> bool:
    """The value of a bit, if it is one; raises MisfitError, because 2 or "no" would arrive as True."""
    if value is not True and value is not False:
        raise misfit(value, bool)
    return value


_BOOL: FieldType = By(lambda writer, value: writer.u8(_truth(value)), lambda reader: bool(reader.u8()), shape=BYTE)
_PLAIN: dict[Any, FieldType] = {
    bool: _BOOL,
    str: By(Writer.text, Reader.text, shape=Text()),
    bytes: By(Writer.blob, Reader.blob, shape=Blob()),
    float: By(Writer.f64, Reader.f64, shape=Number("d")),
}
