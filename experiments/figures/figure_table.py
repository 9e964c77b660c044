"""Writes the numbers that a figure shows, as a table in Markdown."""

from __future__ import annotations

import itertools

from roambus.experiments.figures.figure import Figure
from roambus.experiments.measurements.markdown import markdown_table
from roambus.experiments.measurements.tables import format_mean


def figure_table(figure: Figure) -> str:
    """A row for each line, a column for each place on the x axis, empty where nothing was measured."""
    rows = []
    for series in figure.series:
        values = zip(series.mean, series.half_width, strict=True)
        cells = dict(zip(series.x, itertools.starmap(format_mean, values), strict=True))
        rows.append([series.label, *(cells.get(x, "") for x in figure.x_values)])
    return markdown_table([figure.x_title, *figure.x_values], rows)
