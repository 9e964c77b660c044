"""The text of a comparison: means, differences, and the number of significant ones.

Axes with a single value are named once. Only two agents show their difference itself; the file has all.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any

import pandas as pd

from roambus.bridge.runs.layout import AGENT, LACKING
from roambus.experiments.claims import SIGNIFICANCE, format_p
from roambus.experiments.comparing.tables import DIFFERENCE, MINUS, NOTE, P_HOLM, P, axis_column, spread
from roambus.experiments.measurements import Measurements, format_mean
from roambus.spark.aggregation.aggregate import HIGH, LOW, MEAN, METRIC, N
from roambus.spark.metrics.catalogue import DELAY_MEAN_S, DELIVERY_RATE_ALL, HOPS_MEAN

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
        yield f"told the subscribers by the scenario: {', '.join(measured.oracle_agents)}"


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
    far = [one for one in apart if one[0] > ALIKE]
    if far:
        _, place, found = max(far, key=lambda one: one[0])
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
