"""Fields of messages: how a value of each type travels, and how a transcript shows it.

- `U8`, `U16`, `U32`, `I64`, `float` (eight bytes), or an alias such as `NodeId`, an `Annotated[int, Integer(...)]`;
  `bool`, a bit;
- `str` (UTF-8) and `bytes`, at most 255 bytes; `tuple[T, ...]`, at most 255 values; `LongTuple[T]`, at most 65535;
- an enumeration, a byte; a record: a `NamedTuple`, a frozen dataclass, or a class with `write` and `read`;
- a message, one of several (`Sub | Uns`), or any (`Message`); `T | None`, whose presence is a bit.

Receivers of a broadcast share one object, so changeable types are refused.
"""

from __future__ import annotations

import dataclasses
import struct
import typing
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from string import Formatter
from struct import Struct
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, Protocol, Self, TypeVar, get_args, get_origin

from roambus.python_protocol.messages.octets import EncodingError, Reader, Shape, Writer, wrong_type

T = TypeVar("T")
BROADCAST_ADDRESS = 0xFFFF
"""The destination that every node in range receives."""
NOBODY = "-"
"""Stands for an absent value, such as a node."""


class Names:
    """Names of nodes, filters and notifications in transcripts; subclasses replace some."""

    def node(self, node: int | None) -> str:
        """A node as a sender or receiver."""
        if node is None:
            return NOBODY
        return "*" if node == BROADCAST_ADDRESS else f"n{node}"

    def broker(self, node: int | None) -> str:
        """The broker on a node."""
        return self.node(node)

    def subscriber(self, node: int | None) -> str:
        """The subscriber on a node."""
        return self.node(node)

    def interface(self, interface: int | None, broker: int) -> str:
        """Return the z of a routing table: another node, or the own client."""
        return self.subscriber(interface) if interface == broker else self.node(interface)

    def filter(self, wanted: Any) -> str:
        """A filter, here by its text in braces."""
        return f"{{{wanted}}}"

    def notification(self, event: Any) -> str:
        """A notification, here by its identifier."""
        return self.notification_id(str(event.id))

    def notification_id(self, identifier: str) -> str:
        """A notification known only by its identifier."""
        return identifier

    def filters(self, several: Iterable[Any]) -> str:
        """As a list: "[f1 f2]"."""
        return listed(map(self.filter, several))

    def notifications(self, several: Iterable[Any]) -> str:
        """As a list: "[e1 e2]"."""
        return listed(map(self.notification, several))


class FieldError(TypeError):
    """A field's type cannot travel; the text names it and an alternative."""


class FieldType(Protocol):
    """The bytes of a type's values, and their text in transcripts."""

    def write(self, writer: Writer, value: Any) -> None:
        """Append the value; raise struct.error, also an EncodingError, if it does not fit."""

    def read(self, reader: Reader) -> Any:
        """Take a value off the front; raise DecodeError."""

    def show(self, value: Any, names: Names) -> str:
        """The value in a transcript."""


@dataclasses.dataclass(frozen=True, slots=True)
class Integer:
    """An integer of fixed width: `code` is that of `struct`, `shown(value, names)` a text other than digits."""

    code: str
    shown: Callable[[Any, Names], str] | None = None
    layout: Struct = dataclasses.field(init=False, repr=False, compare=False)
    """The integer alone, in network byte order."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "layout", Struct(f"!{self.code}"))

    def write(self, writer: Writer, value: Any) -> None:
        """Append the integer in network byte order."""
        writer.data += self.layout.pack(value)

    def read(self, reader: Reader) -> Any:
        """Take the integer off the front."""
        return reader.unpack(self.layout)[0]

    def show(self, value: Any, names: Names) -> str:
        """Digits, unless the type says otherwise."""
        return str(value) if self.shown is None else self.shown(value, names)


ONE_BYTE, TWO_BYTES = Integer("B"), Integer("H")
U8 = Annotated[int, ONE_BYTE]
"""An unsigned integer of one byte."""
U16 = Annotated[int, TWO_BYTES]
"""An unsigned integer of two bytes."""
U32 = Annotated[int, Integer("I")]
"""An unsigned integer of four bytes."""
I64 = Annotated[int, Integer("q")]
"""A signed integer of eight bytes."""


@dataclasses.dataclass(frozen=True, slots=True, eq=False)  # `Annotated` keeps the first of equals, whatever its shape
class By:
    """A type of functions that write, read and show; `shape` describes the bytes for dissectors."""

    write: Callable[[Writer, Any], None]
    read: Callable[[Reader], Any]
    show: Callable[[Any, Names], str] = lambda value, _: str(value)
    shape: Shape | None = None


LongBytes = Annotated[bytes, By(Writer.long_blob, Reader.long_blob, shape={"kind": "blob", "code": "H"})]
"""At most 65535 bytes after a count of two bytes."""


@dataclasses.dataclass(frozen=True, slots=True)
class Maybe:
    """A number in which one value stands for None."""

    kind: Integer
    none: int

    def write(self, writer: Writer, value: Any) -> None:
        """Append the number, or the value that stands for None."""
        self.kind.write(writer, self.none if value is None else value)

    def read(self, reader: Reader) -> Any:
        """Take the number off the front."""
        value = self.kind.read(reader)
        return None if value == self.none else value

    def show(self, value: Any, names: Names) -> str:
        """As the number's type shows it."""
        return self.kind.show(value, names)


@dataclasses.dataclass(frozen=True, slots=True)
class Repeated:
    """A tuple of values of one type after their count."""

    kind: FieldType
    count: Integer = ONE_BYTE

    def write(self, writer: Writer, value: Any) -> None:
        """Append the count and the values."""
        if not isinstance(value, tuple):
            raise wrong_type(value, tuple)
        try:
            writer.data += self.count.layout.pack(len(value))
        except struct.error:
            limit = "LongTuple holds at most 65535"
            if self.count is ONE_BYTE:
                limit = "tuple[T, ...] holds at most 255: declare LongTuple[T], which holds 65535"
            raise EncodingError(f"{len(value)} values are too many: {limit}") from None
        write = self.kind.write
        for element in value:
            write(writer, element)

    def read(self, reader: Reader) -> Any:
        """Take the count and the values off the front."""
        return tuple(self.kind.read(reader) for _ in range(self.count.read(reader)))

    def show(self, value: Any, names: Names) -> str:
        """In brackets, with blanks between."""
        return listed(self.kind.show(element, names) for element in value)


LongTuple = Annotated[tuple[T, ...], TWO_BYTES]
"""At most 65535 values after a count of two bytes: `LongTuple[Filter]`."""


@dataclasses.dataclass(frozen=True, slots=True)
class CustomCodec:
    """A class that writes, reads and, perhaps, describes itself."""

    cls: Any

    def write(self, writer: Writer, value: Any) -> None:
        """As the class does it."""
        if not isinstance(value, self.cls):
            raise wrong_type(value, self.cls)
        value.write(writer)

    def read(self, reader: Reader) -> Any:
        """As the class does it."""
        return self.cls.read(reader)

    def show(self, value: Any, names: Names) -> str:
        """As the class describes itself, else its `str`."""
        return described(value, names) or str(value)


def described(value: Any, names: Names) -> str:
    """The text of a value's `describe`, or empty."""
    describe = getattr(value, "describe", None)
    return "" if describe is None else str(describe(names))


def listed(texts: Iterable[str]) -> str:
    """A list as a transcript writes it: "[a b]"."""
    return f"[{' '.join(texts)}]"


def bit(mask: int, *, default: bool, kw_only: Literal[True]) -> Any:  # type checkers read kw_only
    """Declare a `bool` in the bit of this mask, as in a published format.

    Keyword-only, so that fields without a default can follow; type checkers read both keywords.
    """
    return dataclasses.field(default=default, kw_only=kw_only, metadata={BIT: mask})


BIT = "bit"
"""The key of a bit's mask in a field's metadata."""


# What may be shared: on the embedded back-ends all receivers of a frame get one object, which nobody may change. The
# class of a message is refused if the type of one of its fields lets somebody change what the field holds, however deep
# it lies. A number, a text, bytes, a member of an enumeration, None, a message, or a tuple, a frozen set, a NamedTuple
# or a frozen dataclass of such values can be shared.

_FIXED: tuple[type, ...] = (int, float, complex, str, bytes, NoneType)
_FROZEN_COLLECTIONS = (tuple, frozenset)
_CHANGEABLE: dict[type, str] = {
    list: "tuple[T, ...]",
    set: "frozenset[T]",
    dict: "tuple[tuple[K, V], ...]",
    bytearray: "bytes",
}


def what_can_be_changed(annotation: Any) -> str:
    """Return the problem with a changeable field and an alternative, or an empty text."""
    return _search(annotation, set())


def _search(annotation: Any, seen: set[Any]) -> str:
    origin = get_origin(annotation)
    if origin is Annotated:
        return _search(annotation.__origin__, seen)
    if origin in (UnionType, typing.Union, *_FROZEN_COLLECTIONS):
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
    seen.add(cls)  # a record that holds others of its own class is looked at once
    made = getattr(cls, "__dataclass_params__", None)
    if made is not None and not made.frozen:
        return f"whoever receives a {cls.__name__} could change it for everybody else: write @dataclass(frozen=True)"
    if names := names_of_fields(cls):
        hints = typing.get_type_hints(cls, include_extras=True)
        return _first((hints[hint] for hint in names), seen)
    has_attributes = cls.__dictoffset__ != 0  # which a subclass of something fixed may have, and they can be set
    if issubclass(cls, _FIXED + _FROZEN_COLLECTIONS) and not has_attributes:
        return ""
    problem = collection_problem(cls, name)
    return problem or f"whoever receives a {name} could change it for everybody else: make it a frozen dataclass"


def names_of_fields(cls: Any) -> tuple[str, ...]:
    """Return the fields of a dataclass or a NamedTuple; none of another class."""
    if dataclasses.is_dataclass(cls):
        return tuple(field.name for field in dataclasses.fields(cls))
    return getattr(cls, "_fields", ())


def _first(annotations: Iterable[Any], seen: set[Any]) -> str:
    return next(filter(None, (_search(annotation, seen) for annotation in annotations)), "")


def collection_problem(cls: Any, name: Any) -> str:
    """Return the alternative to a list, set, dict or bytearray, or an empty text."""
    for changeable, instead in _CHANGEABLE.items():
        if issubclass(cls, changeable):
            return f"whoever receives a {name} could change it for everybody else who does: write {instead}"
    return ""


# Notations


OTHERS = "..."
"""The word for all other fields; the default notation."""


class Notation:
    """The notation of one class; raises ValueError if it names no field."""

    def __init__(self, kinds: Mapping[str, FieldType | None], text: str) -> None:
        """`kinds` has the type of each field, None for bits."""
        self._kinds = kinds
        named = {name for _, name, _, _ in Formatter().parse(text) if name is not None}
        for name in named:
            if name not in kinds:
                raise ValueError(
                    f"the notation {text!r} names {name}, which is not a field; there is {', '.join(kinds)}"
                )
        others = " ".join(_plain(name, kind) for name, kind in kinds.items() if name not in named)
        words = " ".join(others if word == OTHERS else word for word in text.split())
        self._words = [_Word.of(word) for word in words.split()]

    def show(self, record: Any, names: Names) -> str:
        """The fields of a record."""
        return " ".join(filter(None, (self._word(word, record, names) for word in self._words)))

    def _word(self, word: _Word, record: Any, names: Names) -> str:
        if word.is_optional and not any(getattr(record, name) for _, name in word.pieces if name):
            return ""
        return "".join(literal + (self._value(name, record, names) if name else "") for literal, name in word.pieces)

    def _value(self, name: str, record: Any, names: Names) -> str:
        value, kind = getattr(record, name), self._kinds[name]
        if kind is None:
            return name if value else ""
        return NOBODY if value is None else kind.show(value, names)


class _Word(NamedTuple):
    """A word of a notation: literal texts, each with any field behind it."""

    pieces: tuple[tuple[str, str | None], ...]
    is_optional: bool

    @classmethod
    def of(cls, text: str) -> Self:
        """The word that this text is."""
        pieces = ((literal, name) for literal, name, _, _ in Formatter().parse(text.removesuffix("?")))
        return cls(tuple(pieces), text.endswith("?"))


def _plain(name: str, kind: FieldType | None) -> str:
    """Return the word of an unnamed field: "name=value", a message in parentheses, a bit's name."""
    if kind is None:
        return f"{{{name}}}"
    return f"{name}=({{{name}}})" if getattr(kind, "holds_message", False) else f"{name}={{{name}}}"
