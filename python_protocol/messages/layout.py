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
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum
from operator import attrgetter
from types import NoneType, UnionType
from typing import Annotated, Any, NamedTuple, get_args, get_origin

from roambus.python_protocol.messages.fields import (
    BIT,
    ONE_BYTE,
    OTHERS,
    By,
    CountedBy,
    FieldError,
    FieldType,
    Integer,
    ItsOwn,
    Names,
    Notation,
    Several,
    described,
    misfit,
)
from roambus.python_protocol.messages.octets import DecodeError, Reader, Writer
from roambus.python_protocol.messages.packing import (
    Declared,
    Writing,
    collection_problem,
    groups,
    parts,
    shape_of_bits,
    sort_of,
    truth,
    what_can_be_changed,
)
from roambus.python_protocol.messages.shapes import BYTE, Blob, Enumerated, Fields, Number, Shape, Text, shape_of

ADVICE = "write U8, U16, U32, I64, NodeId, bool, str, bytes, tuple[T, ...], a record, a message, or T | None"
_PLAIN: dict[Any, FieldType] = {
    str: By(Writer.text, Reader.text, shape=Text()),
    bytes: By(Writer.blob, Reader.blob, shape=Blob()),
    float: By(Writer.f64, Reader.f64, shape=Number("d")),
}


class FixedSize(NamedTuple):
    """The size of all messages of a class; `pack` raises struct.error for `values` of a message that do not fit.

    Values of other types than `types` may fit or not: to find out, they have to be written.
    """

    size: int
    values: Callable[[Any], tuple[Any, ...]]
    types: tuple[type, ...]
    pack: Callable[..., bytes]


class Layout:
    """How the fields of one class travel, and how a transcript shows them."""

    def __init__(self, cls: Any, notation: str = OTHERS) -> None:
        """Raises FieldError for a field that cannot travel, ValueError for a notation that names no field."""
        self._declared = declared = list(_declared(cls))
        kinds = {one.name: one.kind if one.mask is None or one.is_optional else None for one in declared}
        self._readers = [part.read for part in parts(declared)]
        written = parts(list(_flattened(declared)))
        self.writers = [*_record_checks(declared), *(part.write for part in written)]
        """What appends the parts of a record, one after the other: each is called with a writer and the record."""
        self._notation = Notation(kinds, notation)

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

    def fixed_size(self) -> FixedSize | None:
        """The size of a message with these fields, tag included; None if it depends on their values."""
        if any(sort_of(one) == "other" or one.is_optional for one in self._declared):
            return None
        codes = [one.kind.code if isinstance(one.kind, Integer) else "?" for one in self._declared]
        bits = sum(sort_of(group[0]) == "bit" for group in groups(self._declared))
        size = 1 + struct.calcsize("".join(["!", *(code for code in codes if code != "?")])) + bits
        names = [one.name for one in self._declared]
        values = attrgetter("tag", "tag", *names)  # twice, for of a single name it gets no tuple
        types = (int, int, *(bool if code == "?" else int for code in codes))
        return FixedSize(size, values, types, struct.Struct(f"!BB{''.join(codes)}").pack)

    @property
    def shape(self) -> Fields:
        """What the bytes of all fields look like."""
        return Fields(tuple(pair for group in groups(self._declared) for pair in _shapes(group)))


def _shapes(group: Sequence[Declared]) -> Iterator[tuple[str, Shape]]:
    """The names and shapes of fields that travel together; a byte of flags has no name of its own."""
    if sort_of(group[0]) == "bit":
        yield "", shape_of_bits(group)
    else:
        yield from ((one.name, shape_of(one.kind)) for one in group)


class Record:
    """The type of a NamedTuple or a frozen dataclass: its fields, one after the other."""

    def __init__(self, cls: Any) -> None:
        self._cls = cls
        self._layout = Layout(cls)
        self.declared = tuple(_declared(cls))
        self.is_numbers = bool(self.declared) and all(sort_of(field) == "number" for field in self.declared)
        """Whether it can be taken apart, because it is written as its numbers one after the other."""

    def write(self, writer: Writer, value: Any) -> None:
        """Appends the fields."""
        if not isinstance(value, self._cls):
            raise misfit(value, self._cls)
        self._layout.write(writer, value)

    def checking(self, name: str) -> Writing:
        """What raises MisfitError unless the field of this name holds such a record; it writes nothing."""
        value, cls = attrgetter(name), self._cls

        def check(_: Writer, record: Any) -> None:
            if not isinstance(found := value(record), cls):
                raise misfit(found, cls)

        return check

    def read(self, reader: Reader) -> Any:
        """Takes the fields off the front."""
        return self._cls(**self._layout.read(reader))

    def show(self, value: Any, names: Names) -> str:
        """As the record describes itself; otherwise its fields in parentheses."""
        return described(value, names) or f"({self._layout.show(value, names)})"

    @property
    def shape(self) -> Fields:
        """The fields, one after the other."""
        return self._layout.shape


# What a field is


def _declared(cls: Any) -> Iterator[Declared]:
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


def _declare(name: str, annotation: Any, mask: int) -> Declared:
    if annotation is bool:
        return Declared(name, _BOOL, mask)
    optional = _optional_part(annotation)
    if optional is not None:
        return Declared(name, field_type(optional), mask, is_optional=True)
    return Declared(name, field_type(annotation))


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

    shape = Enumerated(tuple(str(member.name).lower() for member in members))
    return By(
        lambda writer, value: writer.u8(members.index(value)), read, lambda value, _: str(value.name).lower(), shape
    )


_BOOL: FieldType = By(lambda writer, value: writer.u8(truth(value)), lambda reader: bool(reader.u8()), shape=BYTE)


def _flattened(declared: Iterable[Declared]) -> Iterator[Declared]:
    """The same fields for writing: records of numbers are taken apart, so that they are packed with what is around."""
    for one in declared:
        if isinstance(one.kind, Record) and one.kind.is_numbers and one.mask is None:
            yield from (Declared(f"{one.name}.{field.name}", field.kind) for field in one.kind.declared)
        else:
            yield one


def _record_checks(declared: Iterable[Declared]) -> Iterator[Writing]:
    """What raises MisfitError if there is something else in place of a record that is taken apart."""
    return (one.kind.checking(one.name) for one in declared if isinstance(one.kind, Record) and one.kind.is_numbers)
