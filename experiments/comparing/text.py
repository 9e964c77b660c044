"""Writes a comparison as a short text for the terminal."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any

import pandas as pd

from roambus.bridge.runs.layout import AGENT
from roambus.experiments.comparing.pairs import DIFFERENCE, MINUS, NOTE, P_HOLM, axis_column
from roambus.experiments.evidence.rule import SIGNIFICANCE, format_p
from roambus.experiments.measurements.measurements import Measurements
from roambus.experiments.measurements.tables import format_mean
from roambus.spark.aggregation.points import HALF_WIDTH, MEAN, N

MOST_PAIRS = 10
"""Up to so many pairs of agents, each has a line that says how often they differ."""

Row = dict[Hashable, Any]


def text_of_comparison(measured: Measurements, metric: str, points: pd.DataFrame, tests: pd.DataFrame) -> str:
    """The metric, the agents' means at each place, the difference if they are two, and how many differences count."""
    varying = [axis for axis in measured.axes if len(measured.values(axis)) > 1]
    fixed = "".join(f", {axis} {measured.values(axis)[0]}" for axis in measured.axes if axis not in varying)
    table = _table(measured, varying, points, tests).to_string(index=False)
    return "\n".join([measured.title(metric) + fixed, table, *_significant(tests)])


def _table(measured: Measurements, axes: list[str], points: pd.DataFrame, tests: pd.DataFrame) -> pd.DataFrame:
    """A row for each place, in the order of the tests, of which there are some at every place."""
    texts: dict[tuple[str, ...], dict[str, str]] = {}
    for row in (*tests.to_dict("records"), *points.to_dict("records")):
        place = tuple(row[axis_column(axis)] for axis in axes)
        column, text = _mean(row) if MEAN in row else _difference(row)
        texts.setdefault(place, {})[column] = text
    two = [f"{a} - {b}" for a, b in [measured.agents]] if len(measured.agents) == 2 else []
    rows = [[*place, *(cells.get(column, "") for column in (*measured.agents, *two))] for place, cells in texts.items()]
    return pd.DataFrame(rows, columns=[*axes, *measured.agents, *two])


def _mean(row: Row) -> tuple[str, str]:
    return row[AGENT], format_mean(row[MEAN], row[HALF_WIDTH])


def _difference(row: Row) -> tuple[str, str]:
    text = f"{format_mean(row[DIFFERENCE], row[HALF_WIDTH])}, " if row[N] else ""
    return f"{row[AGENT]} - {row[MINUS]}", text + (row[NOTE] or format_p(row[P_HOLM]))


def _significant(tests: pd.DataFrame) -> Iterator[str]:
    """A line for each pair if they are few, and for all together; then how many could not be tested."""
    tested = tests[tests[P_HOLM].notna()]
    pairs = [(f"{a} - {b}", rows) for (a, b), rows in tested.groupby([AGENT, MINUS], sort=False)]
    single = pairs if 1 < len(pairs) <= MOST_PAIRS else []
    for name, rows in [*single, *([("differences", tested)] if pairs else [])]:
        found = (rows[P_HOLM] < SIGNIFICANCE).sum()
        yield f"{name}: {found} of {len(rows)} significant at {SIGNIFICANCE * 100:g} %"
    for note, rows in tests[tests[NOTE] != ""].groupby(NOTE):
        yield f"differences: {len(rows)} of {len(tests)} not tested, {note}"
