"""Tables of a comparison, each agent's points and paired tests at each place of the sweep, and their text.

Runs of one seed share movement and radio, so tests are two-sided paired t-tests over common seeds (at least three),
adjusted by Holm over the table.

A table has every place, even without runs. An agent that lacks an axis' parameter is compared at each value by its only
runs. The text names axes with a single value once, and shows the difference itself only of two agents.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterator, Sequence
from functools import cache, partial
from typing import Any

import pandas as pd

from roambus.bridge.runs.layout import AGENT, LACKING
from roambus.experiments.claims import SIGNIFICANCE, Side, format_p, holm, make_part
from roambus.experiments.measurements import Measurements, NotMeasuredError, by_seed, format_mean
from roambus.spark.aggregation.aggregate import HALF_WIDTH, HIGH, LOW, MEAN, MEASURED, METRIC, N
from roambus.spark.metrics.catalogue import DELAY_MEAN_S, DELIVERY_RATE_ALL, HOPS_MEAN

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


# The text: means, differences, and the number of significant ones


MOST_PAIRS, MOST_ROWS = 10, 60
"""The most agent pairs, and rows of differences, on a terminal."""
ALIKE = 0.02
"""Agents whose delivery rates differ by no more count as equal."""
_OF_DELIVERED = (DELAY_MEAN_S, HOPS_MEAN)
"""The metrics that only notifications have which were delivered."""

Row = dict[Hashable, Any]


def text_of_comparison(measured: Measurements, metric: str, points: pd.DataFrame, tests: pd.DataFrame) -> str:
    """The metric, the agents' means at each place, two agents' difference, and the significant ones."""
    varying = [axis for axis in measured.axes if len(measured.values(axis)) > 1]
    fixed = "".join(f", {axis} {measured.values(axis)[0]}" for axis in measured.axes if axis not in varying)
    table = _table(measured, varying, points, tests).to_string(index=False)
    differences = _differences(varying, tests) if len(measured.agents) > 2 else ()
    warning = _different_shares(measured) if metric in _OF_DELIVERED else ()
    return "\n".join(
        [
            measured.title(metric) + fixed,
            table,
            *differences,
            *_significant(tests),
            *_family(tests),
            *_oracle(measured),
            *warning,
        ]
    )


def _oracle(measured: Measurements) -> Iterator[str]:
    if measured.oracle_agents and len(measured.agents) > 1:
        yield f"publishers that have the list of subscribers from the scenario: {', '.join(measured.oracle_agents)}"


def _differences(axes: list[str], tests: pd.DataFrame) -> Iterator[str]:
    """A row for each pair at each place: effect, interval, p, and the greater one."""
    if len(tests) > MOST_ROWS:
        yield f"{len(tests)} differences are in the file; --agents and --where make them few enough to be shown here"
        return
    rows = []
    for row in tests.to_dict("records"):
        pair, text = _difference(row)
        first, second = (row[AGENT], row[MINUS]) if row[DIFFERENCE] > 0 else (row[MINUS], row[AGENT])
        finding = f"{first} > {second}" if row[P_HOLM] < SIGNIFICANCE else ""
        rows.append([*(row[axis_column(axis)] for axis in axes), pair, text, finding])
    yield pd.DataFrame(rows, columns=[*axes, "pair", "difference", "greater"]).to_string(index=False)


def _family(tests: pd.DataFrame) -> Iterator[str]:
    tested = tests[tests[P].notna()]
    pairs = len(tested[[AGENT, MINUS]].drop_duplicates())
    if len(tested) > 1:
        tested_pairs = f"{pairs} pairs of agents" if pairs > 1 else "one pair of agents"
        yield f"p is adjusted by Holm for the {len(tested)} tests of this metric ({tested_pairs})"


def _different_shares(measured: Measurements) -> Iterator[str]:
    rates = spread(measured.points[measured.points[METRIC] == DELIVERY_RATE_ALL], measured.axes)
    places = [(place, rows.set_index(AGENT)[MEAN]) for place, rows in rates.groupby([*measured.axes] or [METRIC])]
    apart = [(found.max() - found.min(), place, found) for place, found in places]
    far = [pair for pair in apart if pair[0] > ALIKE]
    if far:
        _, place, found = max(far, key=lambda pair: pair[0])
        where = ", ".join(f"{axis} {value}" for axis, value in zip(measured.axes, place, strict=False))
        shares = f"{found.idxmax()} {found.max():.2f} and {found.idxmin()} {found.min():.2f}"
        at = f"{len(far)} of {len(apart)} places" + (f", most at {where}" if where else "")
        yield f"warning: this covers only delivered notifications; agents delivered different shares at {at}: {shares}"


def _table(measured: Measurements, axes: list[str], points: pd.DataFrame, tests: pd.DataFrame) -> pd.DataFrame:
    texts: dict[tuple[str, ...], dict[str, str]] = {}
    columns = [*map(axis_column, axes)]
    shown = tests if len(measured.agents) == 2 else tests[~tests[columns].isin([LACKING]).any(axis=1)]
    for row in (*shown.to_dict("records"), *spread(points, columns).to_dict("records")):
        place = tuple(row[axis_column(axis)] for axis in axes)
        column, text = (row[AGENT], format_mean(row[MEAN], row[LOW], row[HIGH])) if MEAN in row else _difference(row)
        texts.setdefault(place, {})[column] = text
    two = [f"{a} - {b}" for a, b in [measured.agents]] if len(measured.agents) == 2 else []
    rows = [[*place, *(cells.get(column, "") for column in (*measured.agents, *two))] for place, cells in texts.items()]
    return pd.DataFrame(rows, columns=[*axes, *measured.agents, *two])


def _difference(row: Row) -> tuple[str, str]:
    """A pair's heading and cells: the difference with its p, or why it has none."""
    text = f"{format_mean(row[DIFFERENCE], row[LOW], row[HIGH])}, " if row[N] else ""
    return f"{row[AGENT]} - {row[MINUS]}", text + (row[NOTE] or format_p(row[P_HOLM]))


def _significant(tests: pd.DataFrame) -> Iterator[str]:
    """A line for each of a few pairs, for all together, and for the untested."""
    tested = tests[tests[P_HOLM].notna()]
    pairs = [(f"{a} - {b}", rows) for (a, b), rows in tested.groupby([AGENT, MINUS], sort=False)]
    single = pairs if 1 < len(pairs) <= MOST_PAIRS else []
    for name, rows in [*single, *([("differences", tested)] if pairs else [])]:
        found = (rows[P_HOLM] < SIGNIFICANCE).sum()
        yield f"{name}: {found} of {len(rows)} significant at {SIGNIFICANCE * 100:g} %"
    for note, rows in tests[tests[NOTE] != ""].groupby(NOTE):
        yield f"differences: {len(rows)} of {len(tests)} not tested, {note}"
