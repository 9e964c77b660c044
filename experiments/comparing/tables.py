"""Tables of a comparison: each agent's points, and paired tests at each place of the sweep.

Runs of one seed share movement and radio, so tests are two-sided paired t-tests over common seeds (at least three),
adjusted by Holm over the table.

A table has every place, even without runs. An agent that lacks an axis' parameter is compared at each value by its only
runs.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import cache, partial

import pandas as pd

from roambus.bridge.runs.layout import AGENT, LACKING
from roambus.experiments.claims import Side, holm, make_part
from roambus.experiments.measurements import Measurements, NotMeasuredError, by_seed
from roambus.spark.aggregation.aggregate import HALF_WIDTH, HIGH, LOW, MEAN, MEASURED, METRIC, N

MINUS, DIFFERENCE, P, P_HOLM, NOTE = "minus", "difference", "p", "p_holm", "note"
FEWEST_SEEDS = 3
"""Common seeds for a test: a t-test of two differences says almost nothing."""


def paired_tests(measured: Measurements, metric: str, pairs: Sequence[tuple[str, str]]) -> pd.DataFrame:
    """A row for each pair at each place: agent, minus, the axes, then the test.

    `difference` is the first agent's metric minus the second's, mean over common seeds (`n`), with its 95 % interval.
    """
    columns = [*map(axis_column, measured.axes)]
    samples = cache(partial(_sample, measured, metric))
    rows = [
        {AGENT: a, MINUS: b, **dict(zip(columns, place, strict=True)), **_tested(samples(a, place), samples(b, place))}
        for a, b in pairs
        for place in itertools.product(*(_values_of_pair(measured, axis, (a, b)) for axis in measured.axes))
    ]
    table = pd.DataFrame(rows, columns=[AGENT, MINUS, *columns, *_MEASURED])
    tested = table[P].notna()
    table.loc[tested, P_HOLM] = holm(list(table.loc[tested, P]))
    return table


_MEASURED = (DIFFERENCE, LOW, HIGH, HALF_WIDTH, N, P, P_HOLM, NOTE)


def axis_column(axis: str) -> str:
    """An axis' column in tables, with a prefix if another column has the name."""
    return f"axis_{axis}" if axis in (MINUS, *_MEASURED) else axis


def _values_of_pair(measured: Measurements, axis: str, pair: tuple[str, str]) -> list[str]:
    both_lack = all(_lacks(measured, agent, axis) for agent in pair)
    return [LACKING] if both_lack else [value for value in measured.values(axis) if value != LACKING]


def _lacks(measured: Measurements, agent: str, axis: str) -> bool:
    runs = measured.runs
    return set(runs.loc[runs[AGENT] == agent, axis]) == {LACKING}


def _sample(measured: Measurements, metric: str, agent: str, place: tuple[str, ...]) -> pd.Series[float]:
    at = dict(zip(measured.axes, place, strict=True))
    at |= {axis: LACKING for axis in at if _lacks(measured, agent, axis)}
    try:
        return by_seed(measured, metric, **{AGENT: agent, **at})
    except NotMeasuredError:
        return pd.Series(dtype=float)


def _tested(first: pd.Series[float], second: pd.Series[float]) -> dict[str, object]:
    """The columns of one test over common seeds; `p_holm` is filled in for the whole table."""
    part = make_part("", first - second, Side.ABOVE)
    enough = part.seeds >= FEWEST_SEEDS
    return {
        DIFFERENCE: part.mean,
        LOW: part.mean - part.half_width,
        HIGH: part.mean + part.half_width,
        HALF_WIDTH: part.half_width,
        N: part.seeds,
        P: part.p if enough else math.nan,
        P_HOLM: math.nan,
        NOTE: "" if enough else f"fewer than {FEWEST_SEEDS} common seeds",
    }


def points_table(measured: Measurements, metric: str) -> pd.DataFrame:
    """A row for each agent at each place: mean, 95 % interval, seeds."""
    chosen = measured.points[measured.points[METRIC] == metric]
    renamed = chosen.rename(columns={axis: axis_column(axis) for axis in measured.axes})
    return in_order(renamed[[AGENT, *map(axis_column, measured.axes), *MEASURED]], measured)


def in_order(table: pd.DataFrame, measured: Measurements, last: str = "") -> pd.DataFrame:
    """A table's rows by agents and axes in the sweep's order, axis `last` at the end."""
    ranks = {axis_column(axis): _ranks(measured, axis) for axis in measured.axes}
    ranks |= dict.fromkeys((AGENT, MINUS), _ranks(measured, AGENT))
    places = sorted((column for column in table if column in ranks), key=lambda column: column == axis_column(last))
    rows = table.sort_values(places, key=lambda column: column.map(ranks[str(column.name)]))
    return rows[[*places, *(column for column in table if column not in places)]].reset_index(drop=True)


def _ranks(measured: Measurements, axis: str) -> dict[str, int]:
    return {value: rank for rank, value in enumerate(measured.values(axis))}


def whole_table(points: pd.DataFrame, tests: pd.DataFrame) -> pd.DataFrame:
    """The file's table: points, then tests, whose `mean` is the difference to `minus`."""
    renamed = tests.rename(columns={DIFFERENCE: MEAN})
    return pd.concat([table for table in (points, renamed) if len(table)]).reindex(columns=renamed.columns)


def spread(points: pd.DataFrame, axes: Sequence[str]) -> pd.DataFrame:
    """The points; an agent that lacks an axis' parameter has one at each value."""
    for axis in axes:
        lacking, values = points[axis] == LACKING, points[axis].unique()
        if lacking.any() and not lacking.all():
            there = (points[lacking].assign(**{axis: value}) for value in values if value != LACKING)
            points = pd.concat([points[~lacking], *there])
    return points
