"""A comparison in numbers: the points, the file that holds them beside the tests, and the text on the terminal."""

from __future__ import annotations

import itertools
from collections.abc import Hashable
from typing import Any

import pandas as pd

from experiments.comparing.choice import titles
from experiments.comparing.pairs import DIFFERENCE, MINUS, NOTE, P_HOLM, axis_column
from experiments.evidence import SIGNIFICANCE, format_p
from experiments.measurements import Measurements
from experiments.summary import format_mean
from spark.layout import AGENT
from spark.points import HALF_WIDTH, MEAN, METRIC, N

COLUMNS_OF_PAIRS = 3
"""So many pairs of agents have a column on the terminal; of more it only says how many differ."""

Row = dict[Hashable, Any]
Place = tuple[str, ...]


def points_table(measured: Measurements, metric: str) -> pd.DataFrame:
    """A row for each agent at each place: agent, the axes, mean, half width of the 95 % interval, number of seeds."""
    chosen = measured.points[measured.points[METRIC] == metric]
    renamed = chosen.rename(columns={axis: axis_column(axis) for axis in measured.axes})
    return in_order(renamed[[AGENT, *map(axis_column, measured.axes), MEAN, HALF_WIDTH, N]], measured)


def in_order(table: pd.DataFrame, measured: Measurements, last: str = "") -> pd.DataFrame:
    """The rows of a table by agents and axes, in the sweep's order; the axis `last` comes after the others."""
    ranks = {axis_column(axis): _ranks(measured, axis) for axis in measured.axes}
    ranks |= dict.fromkeys((AGENT, MINUS), _ranks(measured, AGENT))
    places = sorted((column for column in table if column in ranks), key=lambda column: column == axis_column(last))
    rows = table.sort_values(places, key=lambda column: column.map(ranks[str(column.name)]))
    return rows[[*places, *(column for column in table if column not in places)]].reset_index(drop=True)


def _ranks(measured: Measurements, axis: str) -> dict[str, int]:
    return {value: rank for rank, value in enumerate(measured.values(axis))}


def whole_table(points: pd.DataFrame, tests: pd.DataFrame) -> pd.DataFrame:
    """What the file holds: the points, then the tests, whose `mean` is that of the difference to the agent `minus`."""
    columns = [MEAN if column == DIFFERENCE else column for column in tests]
    return pd.concat([points, tests.rename(columns={DIFFERENCE: MEAN})])[columns]


def text_table(measured: Measurements, metric: str, points: pd.DataFrame, tests: pd.DataFrame) -> str:
    """The metric's title; a line a place with the agents' means and, if they are few, differences; how many differ."""
    pairs = dict.fromkeys(map(_pair, tests.to_dict("records")))
    columns = [*measured.agents, *(pairs if len(pairs) <= COLUMNS_OF_PAIRS else ())]
    texts = _texts(measured, points, tests)
    places = itertools.product(*(measured.values(axis) for axis in measured.axes))
    rows = [[*place, *(texts.get((place, column), "") for column in columns)] for place in places]
    table = pd.DataFrame(rows, columns=[*measured.axes, *columns]).to_string(index=False)
    return "\n".join([titles(measured)[metric], table, *_counted(tests)])


def _texts(measured: Measurements, points: pd.DataFrame, tests: pd.DataFrame) -> dict[tuple[Place, str], str]:
    """By place and column."""
    axes = [axis_column(axis) for axis in measured.axes]
    means = {(_place(row, axes), row[AGENT]): _mean(row) for row in points.to_dict("records")}
    return means | {(_place(row, axes), _pair(row)): _tested(row) for row in tests.to_dict("records")}


def _mean(row: Row) -> str:
    return format_mean(row[MEAN], row[HALF_WIDTH])


def _place(row: Row, axes: list[str]) -> Place:
    return tuple(row[axis] for axis in axes)


def _pair(row: Row) -> str:
    return f"{row[AGENT]} - {row[MINUS]}"


def _tested(row: Row) -> str:
    if row[N] == 0:
        return str(row[NOTE])
    return f"{format_mean(row[DIFFERENCE], row[HALF_WIDTH])}, {row[NOTE] or format_p(row[P_HOLM])}"


def _counted(tests: pd.DataFrame) -> list[str]:
    tested = tests[P_HOLM].notna().sum()
    differing = (tests[P_HOLM] < SIGNIFICANCE).sum()
    return [f"{differing} of {tested} differences are significant at {SIGNIFICANCE * 100:g} %"] if tested else []
