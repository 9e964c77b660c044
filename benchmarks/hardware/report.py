"""Prints the quantities side by side, as tables that a page of the docs can take as they are."""

from __future__ import annotations

import math
from collections.abc import Mapping

from benchmarks.hardware.fitting import Error
from benchmarks.hardware.statistics import Estimate

MEDIAN_BAR, P90_BAR = 0.05, 0.15


def print_tables(links: Mapping[str, Mapping[str, float]]) -> None:
    """The values of the reference's table."""
    if links:
        names = list(next(iter(links.values())))
        _print(
            "testbeds, from the tables",
            list(links),
            {name: [f"{links[link][name]:.3g}" for link in links] for name in names},
        )


def print_quantities(title: str, found: Mapping[str, Mapping[str, Estimate]]) -> None:
    """A row for each quantity, a column for each recording."""
    names = list(next(iter(found.values())))
    _print(title, list(found), {name: [cell(found[row][name]) for row in found] for name in names})


def cell(estimate: Estimate) -> str:
    """The value and its interval, or a dash."""
    if math.isnan(estimate.value):
        return "-"
    value, low, high = (f"{round(number, 6):.3g}" for number in estimate)
    return value if math.isnan(estimate.low) else f"{value} ({low} to {high})"


def error_line(what: str, error: Error) -> str:
    """How far a fit is off, and whether that is near enough."""
    near = error.median <= MEDIAN_BAR and error.p90 <= P90_BAR
    verdict = "near enough" if near else "NOT near enough"
    return f"  {what}: error median {error.median:.3f}, p90 {error.p90:.3f}, {error.bins} bins: {verdict}"


def _print(title: str, columns: list[str], rows: Mapping[str, list[str]]) -> None:
    print(f"\n{title}\n")
    print(f"| | {' | '.join(columns)} |")
    print(f"|---|{'---:|' * len(columns)}")
    for name, cells in rows.items():
        print(f"| {name} | {' | '.join(cells)} |")
