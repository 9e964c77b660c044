"""Labels of subscribers, places on the circle [0, 1), and references (sections 2.1 and 2.2).

l(x) moves the leading bit of x to the units place: 0, 1, 01, 11, 001, ...; r(b1 ... bd) = sum of bi / 2^i. Every label
but "0" ends in 1, so places differ. Labels of trie nodes are any bits. On the air a byte counts the bits; bytes follow,
highest bit first, the last with the rest as a number.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Annotated, NamedTuple

from roambus.python_protocol.messages.fields import By, Names
from roambus.python_protocol.messages.octets import DecodeError, EncodingError, Reader, Writer
from roambus.python_protocol.roles import NodeId

EMPTY = "ε"
"""The text without bits, as the paper writes it."""


def write_bits(writer: Writer, bits: str) -> None:
    """Append the number of bits, then the bytes."""
    writer.u8(len(bits))
    for start in range(0, len(bits), 8):
        writer.u8(int(bits[start : start + 8], 2))


def read_bits(reader: Reader) -> str:
    """Read the bits of `write_bits`; raise DecodeError for surplus bits."""
    count = reader.u8()
    bits = ""
    while len(bits) < count:
        width = min(8, count - len(bits))
        value = reader.u8()
        if value >> width:
            raise DecodeError(f"{value} has more than {width} bits")
        bits += f"{value:0{width}b}"
    return bits


def show_bits(bits: str) -> str:
    """Return the bits, or the letter for none."""
    return bits or EMPTY


BIT_TEXT = {"kind": "bittext"}
Bits = Annotated[str, By(write_bits, read_bits, lambda bits, _: show_bits(bits), BIT_TEXT)]
"""The label of a trie node, or a prefix."""
MAX_BITS = 32
"""The most bits of a label, enough for all nodes."""
CIRCLE = 1 << MAX_BITS
"""A position is r(label) in units of 1 / CIRCLE."""

_LABEL = re.compile("0|[01]*1")


def is_label(bits: str) -> bool:
    """Whether a subscriber can have it."""
    return len(bits) <= MAX_BITS and _LABEL.fullmatch(bits) is not None


def _read_label(reader: Reader, *, or_none: bool = False) -> str:
    bits = read_bits(reader)
    if not is_label(bits) and (bits or not or_none):
        raise DecodeError(f"{bits!r} is not a label")
    return bits


def _write_label(writer: Writer, label: str) -> None:
    if not is_label(label):
        raise EncodingError(f"{label!r} is not a label")
    write_bits(writer, label)


Label = Annotated[str, By(_write_label, _read_label, shape=BIT_TEXT)]
"""A subscriber's label; impossible ones are neither sent nor read."""
MaybeLabel = Annotated[
    str | None,
    By(
        lambda writer, label: writer.u8(0) if label is None else _write_label(writer, label),
        lambda reader: _read_label(reader, or_none=True) or None,
        shape=BIT_TEXT,
    ),
]
"""A label, or None, which is sent as no bits."""


def label_of(number: int) -> Label:
    """Return l(x), x >= 0."""
    bits = f"{number:b}"
    return bits[1:] + bits[0]


def number_of(label: Label) -> int:
    """Return the x of l(x)."""
    return int(label[-1] + label[:-1], 2)


@lru_cache(1 << 16)
def position(label: Label) -> int:
    """Return r(label) in units of 1 / CIRCLE."""
    return int(label, 2) << (MAX_BITS - len(label))


def label_at(place: int) -> Label:
    """Return the label at a position."""
    return f"{place:0{MAX_BITS}b}".rstrip("0") or "0"


@lru_cache(1 << 16)
def shortcut_labels(own: Label, neighbour: Label) -> tuple[Label, ...]:
    """Return one side's shortcut labels, nearest first (section 3.2.2).

    Each is shorter: the neighbour was inserted halfway to it.
    """
    labels: list[Label] = []
    while len(neighbour) > len(own):
        neighbour = label_at((2 * position(neighbour) - position(own)) % CIRCLE)
        labels.append(neighbour)
    return tuple(labels)


class Reference(NamedTuple):
    """(v, label_v): a node, and its assumed label."""

    node: NodeId
    label: Label

    @property
    def key(self) -> tuple[int, NodeId]:
        """The place in the sorted ring; nodes order equal labels."""
        return position(self.label), self.node

    def describe(self, names: Names) -> str:
        """Node and label in transcripts: "n3:011"."""
        return f"{names.node(self.node)}:{self.label}"
