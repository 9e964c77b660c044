"""Labels of subscribers, their place on the circle [0, 1), and references to who has one (sections 2.1 and 2.2).

A label is a text of bits. l(x) moves the leading bit of x's binary form to the units place, which gives 0, 1, 01, 11,
001, 011, ...; r(b1 ... bd) = sum of bi / 2^i. So every label but "0" ends in 1, and no two have the same place.

The labels of a trie's nodes are texts of bits, too, but any. All travel in the same way: the number of bits takes a
byte; after it come as many bytes as they fill, the first bit the highest, and the last of these bytes holds the bits
that are left as a number of its own. Bits that no subscriber can have as a label are neither sent nor read as one.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Annotated, NamedTuple

from roambus.python_protocol.messages.fields import By, Names
from roambus.python_protocol.messages.octets import BitText, DecodeError, MisfitError, Reader, Writer
from roambus.python_protocol.vocabulary import NodeId

EMPTY = "ε"
"""How a transcript shows the text without bits, which the paper writes so, too."""


def write_bits(writer: Writer, bits: str) -> None:
    """Appends the number of bits, then as many bytes as they fill."""
    writer.u8(len(bits))
    for start in range(0, len(bits), 8):
        writer.u8(int(bits[start : start + 8], 2))


def read_bits(reader: Reader) -> str:
    """Reads what `write_bits` wrote; raises DecodeError for a byte that holds more bits than are left."""
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
    """The bits, or the letter that stands for none."""
    return bits or EMPTY


Bits = Annotated[str, By(write_bits, read_bits, lambda bits, _: show_bits(bits), BitText())]
"""The label of a trie's node, or a prefix of such labels."""
MAX_BITS = 32
"""The most bits of a label, enough for any number of nodes."""
CIRCLE = 1 << MAX_BITS
"""A position is r(label) in units of 1 / CIRCLE."""

_LABEL = re.compile("0|[01]*1")


def is_label(bits: str) -> bool:
    """Whether some subscriber could have it."""
    return len(bits) <= MAX_BITS and _LABEL.fullmatch(bits) is not None


def _read_label(reader: Reader, *, or_none: bool = False) -> str:
    bits = read_bits(reader)
    if not is_label(bits) and (bits or not or_none):
        raise DecodeError(f"{bits!r} is not a label")
    return bits


def _write_label(writer: Writer, label: str) -> None:
    if not is_label(label):
        raise MisfitError(f"{label!r} is not a label")
    write_bits(writer, label)


Label = Annotated[str, By(_write_label, _read_label, shape=BitText())]
"""The label of a subscriber; bits that no subscriber can have are neither sent nor read."""
MaybeLabel = Annotated[
    str | None,
    By(
        lambda writer, label: writer.u8(0) if label is None else _write_label(writer, label),
        lambda reader: _read_label(reader, or_none=True) or None,
        shape=BitText(),
    ),
]
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
    """The place of the label on the circle, r(label), in units of 1 / CIRCLE."""
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


class Reference(NamedTuple):
    """(v, label_v): a node, and the label that it is believed to have."""

    node: NodeId
    label: Label

    @property
    def key(self) -> tuple[int, NodeId]:
        """The place in the sorted ring; corrupted states have equal labels, which are ordered by their nodes."""
        return position(self.label), self.node

    def describe(self, names: Names) -> str:
        """Node and label as a transcript shows them: "n3:011"."""
        return f"{names.node(self.node)}:{self.label}"
