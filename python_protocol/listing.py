"""Tables of an agent's state for a person to look at, as the thesis prints them in its tables 2.2 and 2.3.

An agent makes a `Listing` of texts from its state, and whoever shows it aligns the columns.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Listing:
    """A table: the names of its columns, and a text for each column of each row."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def lines(self) -> list[str]:
        """The lines of the table, its head first, with aligned columns."""
        table = (self.head, *self.rows)
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in table]


def by_first_column(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Listing:
    """A table sorted by its first column, f2 before f10; rows that are alike there stay in their order."""
    return Listing(head, tuple(sorted(rows, key=lambda row: (len(row[0]), row[0]))))
