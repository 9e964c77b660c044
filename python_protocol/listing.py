"""Tables of an agent's state for a person to look at, as the papers print them (003, tables 2.2 and 2.3)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Listing:
    """Names of the columns, and a text for each column of each row."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def lines(self) -> list[str]:
        """Head and rows with aligned columns."""
        table = (self.head, *self.rows)
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in table]


def by_first_column(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Listing:
    """Sorted by the first column, f2 before f10; rows that have it in common stay in their order."""
    return Listing(head, tuple(sorted(rows, key=lambda row: (len(row[0]), row[0]))))
