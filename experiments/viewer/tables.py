"""Listings of the agents over time, each text written once."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, Generic, TypeVar

from experiments.viewer.witness import Look
from python_protocol.simtime import SECOND

T = TypeVar("T", bound=Hashable)


class _Numbered(Generic[T]):
    """Gives each different thing a number, from 0."""

    def __init__(self) -> None:
        self._numbers: dict[T, int] = {}

    def __call__(self, thing: T) -> int:
        return self._numbers.setdefault(thing, len(self._numbers))

    def things(self) -> list[T]:
        return list(self._numbers)


def tables_of(looks: Iterable[Look]) -> dict[str, Any]:
    """For the page's header: `looks` are [time in s, node, number of a listing].

    A listing is [name, number of its head, numbers of its rows]; heads and rows are lists of texts.
    """
    heads: _Numbered[tuple[str, ...]] = _Numbered()
    rows: _Numbered[tuple[str, ...]] = _Numbered()
    listings: _Numbered[tuple[str, int, tuple[int, ...]]] = _Numbered()
    seen = []
    for time, node, name, listing in looks:
        number = listings((name, heads(listing.head), tuple(map(rows, listing.rows))))
        seen.append([time / SECOND, node, number])
    return {"looks": seen, "listings": listings.things(), "heads": heads.things(), "rows": rows.things()}
