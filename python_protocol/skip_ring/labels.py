"""Labels of subscribers, and their place on the circle [0, 1) (the skip ring's paper, section 2.1).

A label is a text of bits. l(x) moves the leading bit of x's binary form to the units place, which gives 0, 1, 01, 11,
001, 011, ...; r(b1 ... bd) = sum of bi / 2^i. So every label but "0" ends in 1, and no two have the same place.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Annotated

from roambus.python_protocol.messages.bytes import DecodeError, MisfitError, Reader, Writer
from roambus.python_protocol.messages.fields import By
from roambus.python_protocol.messages.shapes import BitText
from roambus.python_protocol.skip_ring.bits import read_bits, write_bits

MAX_BITS = 32
"""A label has at most so many bits, which are enough for any number of nodes."""
CIRCLE = 1 << MAX_BITS
"""A position is r(label) in units of 1 / CIRCLE."""

_LABEL = re.compile("0|[01]*1")


def is_label(bits: str) -> bool:
    """Whether some subscriber could have it."""
    return len(bits) <= MAX_BITS and _LABEL.fullmatch(bits) is not None


def _read_label(reader: Reader) -> str:
    bits = read_bits(reader)
    if not is_label(bits):
        raise DecodeError(f"{bits!r} is no label")
    return bits


def _write_label(writer: Writer, label: str) -> None:
    if not is_label(label):
        raise MisfitError(f"{label!r} is no label")
    write_bits(writer, label)


Label = Annotated[str, By(_write_label, _read_label, shape=BitText())]
"""The label of a subscriber; bits that no subscriber can have are neither sent nor read."""


def _write_maybe(writer: Writer, label: str | None) -> None:
    if label is None:
        write_bits(writer, "")
    else:
        _write_label(writer, label)


def _read_maybe(reader: Reader) -> str | None:
    bits = read_bits(reader)
    if bits and not is_label(bits):
        raise DecodeError(f"{bits!r} is no label")
    return bits or None


MaybeLabel = Annotated[str | None, By(_write_maybe, _read_maybe, shape=BitText())]
"""A label, or None, which travels as no bits."""


def label_of(number: int) -> Label:
    """l(x), the label of the x-th subscriber, x >= 0."""
    bits = f"{number:b}"
    return bits[1:] + bits[0]


def number_of(label: Label) -> int:
    """The x of l(x)."""
    return int(label[-1] + label[:-1], 2)


@lru_cache(1 << 16)
def position(label: Label) -> int:
    """r(label) CIRCLE."""
    return int(label, 2) << (MAX_BITS - len(label))


def label_at(place: int) -> Label:
    """The label with this position."""
    return f"{place:0{MAX_BITS}b}".rstrip("0") or "0"


@lru_cache(1 << 16)
def shortcut_labels(own: Label, neighbour: Label) -> tuple[Label, ...]:
    """The labels to which `own` has shortcuts on the side of a direct ring neighbour, nearest first (section 3.2.2).

    The last of them, or `neighbour` itself if there are none, is no longer than `own`. Each is shorter than the one
    before it, because the neighbour was inserted halfway to it.
    """
    labels: list[Label] = []
    while len(neighbour) > len(own):
        neighbour = label_at((2 * position(neighbour) - position(own)) % CIRCLE)
        labels.append(neighbour)
    return tuple(labels)
