"""Shapes: what bytes look like, as plain data, for programs that are not written in Python.

A field's type writes and reads its values by code. Its shape says the same of the bytes as data, so that a dissector
for a network analyser can be generated from the messages of any agent. Each type that fields can have has a shape of
its own accord. A type whose bytes are written by hand can declare one, as `By` takes it, or as the attribute `shape` of
a class that writes itself; without one its bytes, and all that follow, are shown as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


class Shape:
    """What the bytes of a value look like."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Number(Shape):
    """A number in network byte order; `code` is that of `struct`."""

    code: str


BYTE, TWO_BYTES = Number("B"), Number("H")


@dataclass(frozen=True, slots=True)
class Enumerated(Shape):
    """A byte that is the place of one of these names."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Blob(Shape):
    """A count, and so many bytes."""

    count: Number = BYTE


@dataclass(frozen=True, slots=True)
class Text(Shape):
    """A count of a byte, and so many bytes of UTF-8."""


@dataclass(frozen=True, slots=True)
class Padding(Shape):
    """A count of two bytes, and so many bytes whose size alone matters."""


@dataclass(frozen=True, slots=True)
class Fixed(Shape):
    """So many bytes."""

    size: int


@dataclass(frozen=True, slots=True)
class BitText(Shape):
    """A count of bits in a byte, and as many bytes as they fill."""


@dataclass(frozen=True, slots=True)
class Repeated(Shape):
    """A count, and so many values of one shape."""

    item: Shape
    count: Number = BYTE


@dataclass(frozen=True, slots=True)
class Fields(Shape):
    """Fields, one after the other: pairs of name and shape. A field `Flags` has no name of its own."""

    fields: tuple[tuple[str, Shape], ...]


@dataclass(frozen=True, slots=True)
class Flag:
    """A bit of a byte of flags; if it says whether an optional value is there, `shape` is that value's."""

    name: str
    mask: int
    shape: Shape | None = None


@dataclass(frozen=True, slots=True)
class Flags(Shape):
    """A byte of bits, and after it the optional values that its bits say are there."""

    flags: tuple[Flag, ...]


@dataclass(frozen=True, slots=True)
class Tagged(Shape):
    """A byte that says which of these shapes follows."""

    cases: tuple[tuple[int, Shape], ...]


@dataclass(frozen=True, slots=True)
class Inner(Shape):
    """A message with its tag: one of these tags, or any of the agent's set if there are none."""

    tags: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Opaque(Shape):
    """Bytes of which nothing is known, not even where they end."""


OPAQUE = Opaque()


def shape_of(kind: Any) -> Shape:
    """The shape that a type of fields, or a class that writes itself, declares; OPAQUE if it declares none."""
    shape = getattr(kind, "shape", OPAQUE)
    return shape if isinstance(shape, Shape) else OPAQUE


def fields(**shapes: Shape) -> Fields:
    """These fields in their order."""
    return Fields(tuple(shapes.items()))
