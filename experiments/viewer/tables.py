"""Makes columns of the agents' listings over time, with each text written once."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from roambus.experiments.viewer.columns import Column
from roambus.experiments.viewer.witness import Look

T = TypeVar("T", bound=Hashable)


class _Numbered(Generic[T]):
    """Gives each different thing a number, from 0."""

    def __init__(self) -> None:
        self._numbers: dict[T, int] = {}

    def __call__(self, thing: T) -> int:
        return self._numbers.setdefault(thing, len(self._numbers))

    def things(self) -> list[T]:
        return list(self._numbers)


class Tables(NamedTuple):
    """`texts` for the header: `listings` are [name, number of its head], heads and rows are lists of texts.

    The columns: of each look time (ns), node and number of a listing; of each listing how many rows it has; and the
    numbers of the rows, listing after listing.
    """

    texts: dict[str, Any]
    columns: dict[str, Column]


def tables_of(looks: Iterable[Look]) -> Tables:
    """What was seen, in the order of time."""
    heads: _Numbered[tuple[str, ...]] = _Numbered()
    rows: _Numbered[tuple[str, ...]] = _Numbered()
    listings: _Numbered[tuple[str, int, tuple[int, ...]]] = _Numbered()
    seen = [
        (time, node, listings((name, heads(listing.head), tuple(map(rows, listing.rows)))))
        for time, node, name, listing in looks
    ]
    found = listings.things()
    texts = {"listings": [one[:2] for one in found], "heads": heads.things(), "rows": rows.things()}
    columns = dict(zip(("lookTime", "lookNode", "lookListing"), np.array(seen, np.int64).reshape(-1, 3).T, strict=True))
    listed = [number for *_, numbers in found for number in numbers]
    return Tables(texts, {**columns, "lists": _integers(len(one[2]) for one in found), "listed": _integers(listed)})


def _integers(values: Iterable[int]) -> Column:
    return np.fromiter(values, np.int64)
