"""Tables in Markdown."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from roambus.experiments.figures.drawing import Figure
from roambus.experiments.reporting.facts import format_mean


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The table, a line a row; cells must not hold a vertical bar."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def figure_table(figure: Figure) -> str:
    """What a figure shows: a row a line, a column a place on the x axis; empty where nothing was measured."""
    rows = []
    for series in figure.series:
        values = zip(series.mean, series.half_width, strict=True)
        cells = dict(zip(series.x, itertools.starmap(format_mean, values), strict=True))
        rows.append([series.label, *(cells.get(x, "") for x in figure.x_values)])
    return markdown_table([figure.x_title, *figure.x_values], rows)
