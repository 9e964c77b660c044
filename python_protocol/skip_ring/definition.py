"""The skip ring of n nodes as section 2.1 of its paper defines it, for comparison with what the protocol makes.

Nothing here is taken from the protocol, so that both can hardly be wrong in the same way.

K_i are the nodes whose labels have at most i bits. The edges between neighbours of the sorted ring over K_i, for the
greatest i, are ring edges; those for smaller i that are no ring edges are shortcuts.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class Place:
    """The labels that the node with one label has to know; only the first and the last of the list have a `ring`."""

    left: str | None
    right: str | None
    ring: str | None
    shortcuts: frozenset[str]


def skip_ring(nodes: int) -> dict[str, Place]:
    """The places of all labels of SR(n)."""
    labels = [_label(number) for number in range(nodes)]
    whole = _edges(labels)
    shortcuts: dict[str, set[str]] = {label: set() for label in labels}
    for bits in range(1, max(map(len, labels), default=0)):
        for label, neighbours in _edges([one for one in labels if len(one) <= bits]).items():
            shortcuts[label] |= neighbours - whole[label]
    ordered = sorted(labels, key=_value)
    return {label: _place(ordered, index, shortcuts[label]) for index, label in enumerate(ordered)}


def _label(number: int) -> str:
    """l(x): the leading bit of x moved to the units place."""
    binary = bin(number)[2:]
    return binary[1:] + binary[:1]


@lru_cache(1 << 16)
def _value(label: str) -> Fraction:
    """r(b1 ... bd) = sum of bi / 2^i."""
    return sum((Fraction(int(bit), 2**place) for place, bit in enumerate(label, start=1)), Fraction())


def _edges(labels: list[str]) -> dict[str, set[str]]:
    """The neighbours of each label in the sorted ring over all."""
    circle = sorted(labels, key=_value)
    return {one: {circle[i - 1], circle[(i + 1) % len(circle)]} - {one} for i, one in enumerate(circle)}


def _place(ordered: list[str], index: int, shortcuts: set[str]) -> Place:
    last = len(ordered) - 1
    ring = {0: ordered[last], last: ordered[0]}.get(index) if last else None
    left = ordered[index - 1] if index > 0 else None
    right = ordered[index + 1] if index < last else None
    return Place(left, right, ring, frozenset(shortcuts))
