"""Finds the pairs of places in reach of each other, by the squares of the plane in which they lie.

Pairs come in lexical order, for so their shadowing is drawn. A few places that are close to each other are taken at
once: only what lies in the squares around them is looked at, so that the work grows with the pairs that are found.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Places = NDArray[np.float64]
"""metres[n, 2]"""
Indices = NDArray[np.int64]

MOST_AT_ONCE = 2048
"""Among so many places all are looked at, in blocks of PAIRS_AT_ONCE, which is faster than squares."""
PAIRS_AT_ONCE = 2**16
"""So many pairs of places are looked at in one go, for they fit in the processor's cache."""
CLOSE_AT_ONCE = 32
"""So many places that are close to each other are taken at once at most."""
CLOSE = 0.25
"""Of the reach: the side of a square, and how far apart places are that are taken at once."""
MOST_SQUARES_ACROSS = 1024


class Pairs(NamedTuple):
    """Pairs of places, in lexical order."""

    first: Indices
    second: Indices
    distance: NDArray[np.float64]
    """Metres"""


class _Block(NamedTuple):
    """Places in a row, others, and which of them make pairs."""

    first: Indices
    second: Indices
    dx: NDArray[np.float64]
    dy: NDArray[np.float64]
    near: NDArray[np.bool_]


def pairs_within(reach: float, places: Places) -> Iterator[Pairs]:
    """Blocks of pairs (first, second), first < second, of places that are `reach` metres apart at most."""
    for block in _blocks(reach, places):
        i, j = np.nonzero(block.near)
        yield Pairs(block.first[i], block.second[j], np.hypot(block.dx[block.near], block.dy[block.near]))


def count_pairs(reach: float, places: Places) -> int:
    """How many pairs there are."""
    return sum(int(np.count_nonzero(block.near)) for block in _blocks(reach, places))


def _blocks(reach: float, places: Places) -> Iterator[_Block]:
    x, y = places.T.copy()
    for first, second in _candidates(reach, places):
        dx, dy = x[second] - x[first, np.newaxis], y[second] - y[first, np.newaxis]
        near = (dx * dx + dy * dy <= reach * reach) & (second > first[:, np.newaxis])
        yield _Block(first, second, dx, dy, near)


def _candidates(reach: float, places: Places) -> Iterator[tuple[Indices, Indices]]:
    """Places in a row, and ascending all that may be in reach of one of them and do not come before them."""
    count = len(places)
    if count <= MOST_AT_ONCE:
        rows = max(1, PAIRS_AT_ONCE // count)
        for start in range(0, count, rows):
            yield np.arange(start, min(start + rows, count)), np.arange(start, count)
        return
    squares, start = Squares(places, CLOSE * reach), 0
    while start < count:
        end = start + _close_to_the_first(places[start : start + CLOSE_AT_ONCE], CLOSE * reach)
        near = squares.around(places[start:end], reach)
        yield np.arange(start, end), np.sort(near[near >= start])
        start = end


def _close_to_the_first(places: Places, distance: float) -> int:
    """How many places from the first on are so close to it."""
    far = (np.abs(places - places[0]) > distance).any(axis=1)
    return int(far.argmax()) if far.any() else len(places)


class Squares:
    """Places by squares of the plane, with sides of `side` metres, or longer where that would be too many squares."""

    def __init__(self, places: Places, side: float) -> None:
        self._low = places.min(axis=0)
        self._side = max(side, float(np.ptp(places, axis=0).max()) / MOST_SQUARES_ACROSS)
        column, row = self._square(places).T
        self._columns, self._rows = int(column.max()) + 1, int(row.max()) + 1
        number = row * self._columns + column
        self._by_square = np.argsort(number, kind="stable")
        self._starts = np.searchsorted(number[self._by_square], np.arange(self._columns * self._rows + 1))

    def around(self, places: Places, distance: float) -> Indices:
        """Those in the squares that lie within the distance of the box around `places`."""
        left, bottom = np.maximum(self._square(places.min(axis=0) - distance), 0).tolist()
        right, top = self._square(places.max(axis=0) + distance).tolist()
        right, top = min(right, self._columns - 1), min(top, self._rows - 1)
        spans = [(self._starts[row + left], self._starts[row + right + 1]) for row in self._row_starts(bottom, top)]
        return np.concatenate([self._by_square[start:end] for start, end in spans])

    def _row_starts(self, bottom: int, top: int) -> range:
        return range(bottom * self._columns, (top + 1) * self._columns, self._columns)

    def _square(self, places: Places) -> Indices:
        square: Indices = np.floor((places - self._low) / self._side).astype(np.int64)
        return square
