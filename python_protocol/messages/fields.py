"""Fields of messages: how a value of each type travels, and how a transcript shows it.

A message states a field once, as a name with a type. The type is one of

- a number whose width the type tells: `U8`, `U16`, `U32`, `I64`, `float` (eight bytes), or an alias with a meaning of
  its own, such as `NodeId`. An `Annotated[int, Integer(...)]` makes another alias;
- `bool`, a bit; `str`, at most 255 bytes of UTF-8; `bytes`, at most 255 of them;
- `tuple[T, ...]`, at most 255 values of one type, a count before them; `LongTuple[T]`, at most 65535 of them;
- an enumeration, a byte; a record: a `NamedTuple` or a frozen dataclass whose own fields have such types, or a class
  that can `write` itself to a `Writer` and `read` itself from a `Reader`;
- a message: a certain one, one of several (`Sub | Uns`), or `Message` for any of the agent's set;
- `T | None`, whose presence is a bit.

Anything else is refused (`messages.layout`) when the class of the message is made. In particular a field cannot be a
list, a dict or a set, nor hold one (`messages.sharing`): on the embedded radio all receivers of a broadcast share one
object, and must not be able to change it. As Python does not look at type hints, a value of another type than its
field's is refused when it is written: a list in place of a tuple, or another class in place of a record.

How a transcript writes the fields of a message: "SUB f1 s3 t=4 h=1".

A notation is a text with the names of fields in braces, as `str.format` has them: "{filter} {subscriber}
t={timestamp}". The type of a field tells how its value is shown. A word that comes out empty is left out, which is
what becomes of a bit that is not set; one that is set is shown by the name of its field. A word that ends with a
question mark is also left out when its values are zero, empty or None: "stay={stay}?". The word "..." stands for all
fields that the others do not name, each as in a message without a notation: a new field needs no new notation then.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from string import Formatter
from struct import Struct
from typing import Annotated, Any, Literal, NamedTuple, Protocol, Self, TypeVar

from roambus.python_protocol.messages.octets import MisfitError, Reader, Writer
from roambus.python_protocol.messages.shapes import OPAQUE, Blob, Number, Repeated, Shape, shape_of

T = TypeVar("T")
Names = Any
"""A `messages.names.Names`, which knows the messages and so cannot be named here."""


class FieldError(TypeError):
    """A field has a type that cannot travel; the text says which field, and what to write instead."""


class FieldType(Protocol):
    """How values of one type travel, and how a transcript shows them."""

    def write(self, writer: Writer, value: Any) -> None:
        """Appends the value."""

    def read(self, reader: Reader) -> Any:
        """Takes a value off the front; raises DecodeError."""

    def show(self, value: Any, names: Names) -> str:
        """The value in a transcript."""


@dataclasses.dataclass(frozen=True, slots=True)
class Integer:
    """An integer of a fixed width: `code` is the one of `struct`, `shown(value, names)` a text other than digits."""

    code: str
    shown: Callable[[Any, Names], str] | None = None
    layout: Struct = dataclasses.field(init=False, repr=False, compare=False)
    """The integer alone, in network byte order."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "layout", Struct(f"!{self.code}"))

    def write(self, writer: Writer, value: Any) -> None:
        """Appends the integer in network byte order."""
        writer.data += self.layout.pack(value)

    def read(self, reader: Reader) -> Any:
        """Takes the integer off the front."""
        return reader.unpack(self.layout)[0]

    def show(self, value: Any, names: Names) -> str:
        """Digits, unless the type says something else."""
        return str(value) if self.shown is None else self.shown(value, names)

    @property
    def shape(self) -> Number:
        """A number of this code."""
        return Number(self.code)


ONE_BYTE, TWO_BYTES = Integer("B"), Integer("H")
U8 = Annotated[int, ONE_BYTE]
"""An unsigned integer of one byte."""
U16 = Annotated[int, TWO_BYTES]
"""An unsigned integer of two bytes."""
U32 = Annotated[int, Integer("I")]
"""An unsigned integer of four bytes."""
I64 = Annotated[int, Integer("q")]
"""A signed integer of eight bytes."""


@dataclasses.dataclass(frozen=True, slots=True)
class By:
    """A type of which two functions write and read the values, and `shown(value, names)` their texts.

    `shape` says what the bytes look like, for other programs.
    """

    writing: Callable[[Writer, Any], None]
    reading: Callable[[Reader], Any]
    shown: Callable[[Any, Names], str] = lambda value, _: str(value)
    shape: Shape = OPAQUE

    def write(self, writer: Writer, value: Any) -> None:
        """Appends the value."""
        self.writing(writer, value)

    def read(self, reader: Reader) -> Any:
        """Takes a value off the front."""
        return self.reading(reader)

    def show(self, value: Any, names: Names) -> str:
        """The value in a transcript."""
        return self.shown(value, names)


LongBytes = Annotated[bytes, By(Writer.long_blob, Reader.long_blob, shape=Blob(Number("H")))]
"""At most 65535 bytes, with their count of two bytes before them."""


@dataclasses.dataclass(frozen=True, slots=True)
class Maybe:
    """A number in which one value stands for None."""

    kind: Integer
    none: int

    @property
    def code(self) -> str:
        """That of the number."""
        return self.kind.code

    def write(self, writer: Writer, value: Any) -> None:
        """Appends the number, or the value that stands for None."""
        self.kind.write(writer, self.none if value is None else value)

    def read(self, reader: Reader) -> Any:
        """Takes the number off the front."""
        value = self.kind.read(reader)
        return None if value == self.none else value

    def show(self, value: Any, names: Names) -> str:
        """As the number's type shows it."""
        return self.kind.show(value, names)

    @property
    def shape(self) -> Number:
        """That of the number."""
        return self.kind.shape


@dataclasses.dataclass(frozen=True, slots=True)
class Several:
    """A tuple of values of one type, with their count before them."""

    kind: FieldType
    count: Integer = ONE_BYTE

    def write(self, writer: Writer, value: Any) -> None:
        """Appends the count and the values."""
        if not isinstance(value, tuple):
            raise misfit(value, tuple)
        writer.data += self.count.layout.pack(len(value))
        write = self.kind.write
        for one in value:
            write(writer, one)

    def read(self, reader: Reader) -> Any:
        """Takes the count and as many values off the front."""
        return tuple(self.kind.read(reader) for _ in range(self.count.read(reader)))

    def show(self, value: Any, names: Names) -> str:
        """In brackets, with blanks between."""
        return listed(self.kind.show(one, names) for one in value)

    @property
    def shape(self) -> Repeated:
        """The count and the values."""
        return Repeated(shape_of(self.kind), self.count.shape)


@dataclasses.dataclass(frozen=True, slots=True)
class CountedBy:
    """What the annotation of a tuple says of the number that counts its values."""

    count: Integer


LongTuple = Annotated[tuple[T, ...], CountedBy(TWO_BYTES)]
"""At most 65535 values of one type, with their count of two bytes before them: `LongTuple[Filter]`."""


@dataclasses.dataclass(frozen=True, slots=True)
class ItsOwn:
    """A class that can write itself, read itself and, perhaps, describe itself."""

    cls: Any

    def write(self, writer: Writer, value: Any) -> None:
        """As the class does it."""
        if not isinstance(value, self.cls):
            raise misfit(value, self.cls)
        value.write(writer)

    def read(self, reader: Reader) -> Any:
        """As the class does it."""
        return self.cls.read(reader)

    def show(self, value: Any, names: Names) -> str:
        """As the class describes itself, or else as its `str`."""
        return described(value, names) or str(value)

    @property
    def shape(self) -> Shape:
        """The one that the class declares."""
        return shape_of(self.cls)


def misfit(value: Any, cls: type[Any]) -> MisfitError:
    """The error for a value that is none of its field's class."""
    return MisfitError(f"{value!r} is no {cls.__name__}, but of type {type(value).__name__}")


def described(value: Any, names: Names) -> str:
    """What a value says of itself by its method `describe`; empty if it has none."""
    describe = getattr(value, "describe", None)
    return "" if describe is None else str(describe(names))


def listed(texts: Iterable[str]) -> str:
    """A list as a transcript writes it: "[a b]"."""
    return f"[{' '.join(texts)}]"


def bit(mask: int, *, default: bool, kw_only: Literal[True]) -> Any:  # type checkers read kw_only
    """A field of type `bool` that travels in the bit of this mask, as a published format has it.

    It is given by name only, so that it can stand before fields without a default. Type checkers read both of the
    keywords.
    """
    return dataclasses.field(default=default, kw_only=kw_only, metadata={BIT: mask})


BIT = "bit"
"""Where the metadata of a field keep the mask of its bit."""


NOBODY = "-"
"""In place of a value, such as a node, where there is none."""
OTHERS = "..."
"""The word for all fields that are not named; alone it is the notation of a message that declares none."""


class _Word(NamedTuple):
    """A word of a notation: literal texts, each with the field that follows it, if one does."""

    pieces: tuple[tuple[str, str | None], ...]
    is_optional: bool

    @classmethod
    def of(cls, text: str) -> Self:
        """The word that this text is."""
        parsed = Formatter().parse(text.removesuffix("?"))
        return cls(tuple((literal, name) for literal, name, _, _ in parsed), text.endswith("?"))


class Notation:
    """The notation of one class; raises ValueError if it names a field that the class does not have."""

    def __init__(self, kinds: Mapping[str, FieldType | None], text: str) -> None:
        """`kinds` has the type of each field, and None for those that are bits."""
        self._kinds = kinds
        for name in (named := _named(text)):
            if name not in kinds:
                raise ValueError(f"the notation {text!r} names {name}, which is no field; there is {', '.join(kinds)}")
        others = _plain({name: kind for name, kind in kinds.items() if name not in named})
        words = (others if word == OTHERS else word for word in text.split())
        self._words = [_Word.of(word) for word in " ".join(words).split()]

    def show(self, record: Any, names: Names) -> str:
        """The fields of a record."""
        words = (self._word(word, record, names) for word in self._words)
        return " ".join(filter(None, words))

    def _word(self, word: _Word, record: Any, names: Names) -> str:
        if word.is_optional and not any(getattr(record, name) for _, name in word.pieces if name):
            return ""
        return "".join(literal + (self._value(name, record, names) if name else "") for literal, name in word.pieces)

    def _value(self, name: str, record: Any, names: Names) -> str:
        value, kind = getattr(record, name), self._kinds[name]
        if kind is None:
            return name if value else ""
        return NOBODY if value is None else kind.show(value, names)


def _named(text: str) -> list[str]:
    """The fields that a notation names."""
    return [name for _, name, _, _ in Formatter().parse(text) if name is not None]


def _plain(kinds: Mapping[str, FieldType | None]) -> str:
    """Every field as "name=value", a message in parentheses, the bits by their names, in the order of the fields."""
    return " ".join(_plain_word(name, kind) for name, kind in kinds.items())


def _plain_word(name: str, kind: FieldType | None) -> str:
    if kind is None:
        return f"{{{name}}}"
    return f"{name}=({{{name}}})" if getattr(kind, "holds_message", False) else f"{name}={{{name}}}"
