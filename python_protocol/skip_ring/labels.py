"""Labels of subscribers, and their place on the circle [0, 1) (004, section 2.1).

A label is a text of bits. l(x) moves the leading bit of x's binary form to the units place, which gives 0, 1, 01, 11,
001, 011, ...; r(b1 ... bd) = sum of bi / 2^i. So every label ends in 1, but for "0", and no two have the same place.
"""

from __future__ import annotations

import re
from functools import lru_cache

Label = str

MAX_BITS = 32
"""Of a label, enough for any number of nodes."""
CIRCLE = 1 << MAX_BITS
"""A position is r(label) in units of 1 / CIRCLE."""

_LABEL = re.compile("0|[01]*1")


def label_of(number: int) -> Label:
    """l(x), the label of the x-th subscriber, x >= 0."""
    bits = f"{number:b}"
    return bits[1:] + bits[0]


def number_of(label: Label) -> int:
    """Inverse of `label_of`."""
    return int(label[-1] + label[:-1], 2)


def is_label(bits: str) -> bool:
    """Whether some subscriber could have it."""
    return len(bits) <= MAX_BITS and _LABEL.fullmatch(bits) is not None


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

    The last of them, or else `neighbour` itself, is no longer than `own`. Each is shorter than the one before: the
    neighbour was inserted halfway to it.
    """
    labels: list[Label] = []
    while len(neighbour) > len(own):
        neighbour = label_at((2 * position(neighbour) - position(own)) % CIRCLE)
        labels.append(neighbour)
    return tuple(labels)
