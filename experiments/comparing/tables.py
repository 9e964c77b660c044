"""Makes the tables of a comparison: the points, and the file that holds them beside the tests."""

from __future__ import annotations

import pandas as pd

from roambus.bridge.runs.layout import AGENT
from roambus.experiments.comparing.pairs import DIFFERENCE, MINUS, axis_column
from roambus.experiments.measurements.measurements import Measurements
from roambus.spark.aggregation.points import HALF_WIDTH, MEAN, METRIC, N


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
    parts = [table for table in (points, tests.rename(columns={DIFFERENCE: MEAN})) if len(table)]
    return pd.concat(parts).reindex(columns=columns)
