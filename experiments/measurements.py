"""Measurements of a sweep, as tables that figures, claims, reports and comparisons share.

`Measurements` holds an aggregation's tables, of a sweep or a part; it knows no studies. A point is an agent at one
value of each axis, with means over seeds. Claims take one value a seed (`by_seed`): runs of one seed share movement and
radio, so their difference varies less. Readers' texts are made here, the same everywhere.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from pandas.api.types import is_numeric_dtype

from roambus.bridge.runs.layout import (
    AGENT,
    AXIS_TITLES,
    METRICS_FOLDER,
    ORACLE,
    POINTS,
    RUNS,
    SEED,
    TITLES,
    count_runs,
    find_traces,
    read_asked,
)
from roambus.bridge.system.errors import UserError
from roambus.bridge.system.files import open_regular
from roambus.experiments.inventory import unknown_metric
from roambus.spark.aggregation.aggregate import HALF_WIDTH, HIGH, LOW, MEAN, MEASURED, METRIC, axes_of, natural_order
from roambus.spark.aggregation.traces import MADE_OF, fingerprint
from roambus.spark.metrics.catalogue import METRICS, SENT_PREFIX, sent_metric
from roambus.spark.metrics.extra import NOTHING, Extra
from roambus.spark.metrics.metric import DECLARED, Metric, declared


@dataclass(frozen=True, slots=True)
class Measurements:
    """A sweep's tables: `runs` (a row a run), `points` (a row a point and metric); `sweep` is the request."""

    runs: pd.DataFrame
    points: pd.DataFrame
    sweep: dict[str, Any] = field(default_factory=dict)
    metrics: tuple[Metric, ...] = METRICS
    """All measurable metrics: those of every sweep, then the study's."""

    @property
    def axes(self) -> list[str]:
        """The names of the axes, in the sweep's order."""
        return axes_of(self.runs)

    def metric(self, column: str) -> Metric:
        """The metric of that column, including packets by message type; raises UserError."""
        known = {metric.column: metric for metric in self.comparable()}
        if column not in known:
            raise UserError(unknown_metric(column, known))
        return known[column]

    def title(self, column: str) -> str:
        """A metric's title with its unit, as on axes."""
        return self.metric(column).axis_title

    def heading(self, column: str) -> str:
        """The same as the beginning of a sentence."""
        title = self.title(column)
        return title[0].upper() + title[1:]

    def comparable(self) -> list[Metric]:
        """The metrics, and packets by sent message type."""
        sent = [str(column) for column in self.runs if str(column).startswith(SENT_PREFIX)]
        return [*self.metrics, *map(sent_metric, sent)]

    @property
    def agents(self) -> list[str]:
        """The agents' names, in the sweep's order."""
        return self._ordered(AGENT, list(self.sweep.get("agents", [])))

    @property
    def seeds(self) -> int:
        """How many seeds any point has at most."""
        return max(self.seeds_of_points, default=0)

    @property
    def seeds_of_points(self) -> pd.Series[int]:
        """The number of seeds of each point that has runs."""
        return self.runs.groupby([AGENT, *self.axes])[SEED].nunique()

    def values(self, axis: str) -> list[str]:
        """An axis' measured values, in the sweep's or natural order."""
        if axis == AGENT:
            return self.agents
        return self._ordered(axis, self.sweep.get("axes", {}).get(axis, [])) if axis in self.runs else []

    def agent_name(self, agent: str) -> str:
        """An agent's name for readers."""
        return str(self.sweep.get(TITLES, {}).get(agent, agent))

    def axis_title(self, axis: str) -> str:
        """The title of a figure's axis, with the unit."""
        return str(self.sweep.get(AXIS_TITLES, {}).get(axis, axis.replace("_", " ")))

    def axis_heading(self, axis: str) -> str:
        """An axis' heading in tables: its name as in `--set`, with the unit."""
        return "".join([axis, *self.axis_title(axis).partition(" (")[1:]])

    def label(self, axis: str, value: str) -> str:
        """A value as it stands at an axis: under a title, C16 is 16."""
        if axis in self.sweep.get(AXIS_TITLES, {}):
            value = re.sub(r"^[A-Za-z]+(?=\d+$)", "", value)
        return self.agent_name(value) if axis == AGENT else f"{int(value):,}" if value.isdecimal() else value

    def at(self, axis: str, value: str) -> str:
        """A place on an axis for readers: "speed 8 m/s"."""
        name, _, unit = self.axis_title(axis).partition(" (")
        return f"{name} {self.label(axis, value)} {unit.removesuffix(')')}".rstrip()

    @property
    def oracle_agents(self) -> list[str]:
        """The agents that use the scenario's oracle of subscribers."""
        return [agent for agent in self.agents if agent in self.sweep.get(ORACLE, ())]

    def _ordered(self, column: str, asked: list[Any]) -> list[str]:
        measured = sorted({str(value) for value in self.runs[column]}, key=natural_order)
        places = {str(value): place for place, value in enumerate(asked)}
        return sorted(measured, key=lambda value: places.get(value, len(places)))

    def point(self, metric: str, **place: str) -> pd.DataFrame:
        """The rows of `points` with this metric at this place."""
        return rows_at(self.points[self.points[METRIC] == metric], place)

    def cell(self, metric: str, **place: str) -> str:
        """A metric's mean and interval at a place, as tables show them; else empty."""
        point = self.point(metric, **place)
        return "".join(map(format_mean, point[MEAN], point[LOW], point[HIGH]))

    def runs_there(self) -> str:
        """The number of runs, and of missing ones."""
        there = len(self.runs)
        asked = count_runs(self.sweep)
        if asked is None:
            return f"{there:,}"
        return f"{there:,}, complete" if there >= asked else f"{there:,} of {asked:,}: {asked - there:,} missing"


def renamed(measured: Measurements, labels: Mapping[str, str]) -> Measurements:
    """Only the agents that `labels` has as values, under the labels that are its keys."""
    new = {old: label for label, old in labels.items()}
    chosen = (table[table[AGENT].isin(new)] for table in (measured.runs, measured.points))
    runs, points = (table.assign(**{AGENT: table[AGENT].map(new)}) for table in chosen)
    return replace(measured, runs=runs, points=points, sweep={**measured.sweep, "agents": list(labels)})


def rows_at(table: pd.DataFrame, place: Mapping[str, str]) -> pd.DataFrame:
    """The rows at a place; none if a column is missing."""
    for column, value in place.items():
        table = table[table[column] == value] if column in table else table.iloc[:0]
    return table


def read_measurements(results: Path, extra: Extra = NOTHING) -> Measurements:
    """Read the tables of `roambus aggregate`, with `extra`'s metrics; raises UserError."""
    (runs, further), (points, _) = (_read_table(results, name) for name in (RUNS, POINTS))
    known = {metric.column: metric for metric in (*further, *METRICS, *extra.metrics)}
    names = dict.fromkeys([*(metric.column for metric in (*METRICS, *extra.metrics)), *known])
    return Measurements(runs, points, read_asked(results), tuple(known[name] for name in names))


def metrics_in_tables(results: Path) -> tuple[Metric, ...]:
    """The metrics of an aggregation's tables beside every run's; none without a readable table."""
    try:
        return _read_table(results, RUNS)[1]
    except UserError:
        return ()


def _read_table(results: Path, name: str) -> tuple[pd.DataFrame, tuple[Metric, ...]]:
    file = results / METRICS_FOLDER / f"{name}.parquet"
    if not file.is_file():
        raise UserError(f"{file} is not there: run `roambus aggregate {results}` first")
    try:
        with open_regular(file) as opened:  # Arrow knows no names that are not UTF-8
            table = pq.read_table(opened, partitioning=None, page_checksum_verification=True)
        table.validate(full=True)
        made_of = (table.schema.metadata or {}).get(MADE_OF.encode(), b"").decode()
        frame: pd.DataFrame = table.to_pandas()
        _refuse_old(results, file, made_of)
        return _checked(name, frame), declared((table.schema.metadata or {}).get(DECLARED.encode(), b"[]").decode())
    except (OSError, pa.ArrowException, ValueError, TypeError, KeyError, MemoryError) as error:
        problem = " ".join(str(error).split()) or type(error).__name__
        raise UserError(f"{file}: damaged ({problem}): run `roambus aggregate {results}` again") from None


def _refuse_old(results: Path, file: Path, made_of: str) -> None:
    """Raise UserError for a table of other runs than there are; without any runs the table is all that there is."""
    now = fingerprint(find_traces(results))
    if made_of and now and made_of != now:
        raise UserError(f"{file}: the runs have changed since: run `roambus aggregate {results}` again")


_COLUMNS = {RUNS: (AGENT, SEED), POINTS: (AGENT, METRIC, *MEASURED)}
"""Required columns of a sweep's tables."""


def _checked(name: str, table: pd.DataFrame) -> pd.DataFrame:
    if table.empty:
        raise ValueError("it has no rows")
    for column in _COLUMNS[name]:
        if column not in table.columns:
            raise ValueError(f"it has no column {column}")
        is_number, may_lack = column in (SEED, *MEASURED), column in (LOW, HIGH, HALF_WIDTH)
        if is_number != is_numeric_dtype(table[column]) or (table[column].hasnans and not may_lack):
            raise ValueError(f"column {column} does not hold what it should")
    if name == POINTS and not (np.isfinite(table[MEAN]).all() and _are_widths(table[HALF_WIDTH])):
        raise ValueError("a mean, or the width of its interval, is no number that can be")
    if name == POINTS and table.duplicated([column for column in table.columns if column not in MEASURED]).any():
        raise ValueError("it has two rows for one metric at one point")
    return table


def _are_widths(widths: pd.Series[float]) -> bool:
    return bool((widths.isna() | ((widths >= 0) & np.isfinite(widths))).all())


class NotMeasuredError(Exception):
    """A claim lacks a run or value."""


def by_seed(measured: Measurements, metric: str, /, **place: str) -> pd.Series[float]:
    """The metric at one place (agent included) by seed; raises NotMeasuredError without values."""
    runs = rows_at(measured.runs, place)
    if metric not in runs or runs[metric].dropna().empty:
        where = ", ".join(f"{column} {value}" for column, value in place.items())
        absent = [f"{column} {value}" for column, value in place.items() if value not in measured.values(column)]
        lacks = f"not run: {', '.join(absent)}" if absent else f"there is no run at {where}"
        raise NotMeasuredError(lacks if runs.empty else f"no run has {metric} at {where}")
    return runs.set_index(SEED)[metric].astype(float).dropna()


def table_over(measured: Measurements, axis: str, metric: str, /, **place: str) -> pd.DataFrame:
    """The metric at one place by seed, a column for each axis value; NaN where missing."""
    values = measured.values(axis)
    if not values:
        raise NotMeasuredError(f"no run has {axis}")
    return pd.concat([by_seed(measured, metric, **place, **{axis: value}) for value in values], axis=1, keys=values)


def slopes(table: pd.DataFrame, x: Sequence[float]) -> pd.Series[float]:
    """Each row's least-squares slope over x, a column a value."""
    if len(x) < 2:
        raise NotMeasuredError("a trend needs at least two values of the axis")
    centred = np.asarray(x) - np.mean(x)
    values = table.to_numpy()
    rises = values - values[:, :1]  # a constant has a slope of exactly 0, whose sign no rounding decides
    return pd.Series(rises @ centred / (centred @ centred), table.index)


def format_mean(mean: float, low: float, high: float) -> str:
    """Mean and interval, rounded: "0.912 ± 0.034" or "0.912 (0.864 to 0.938)"."""
    decimals = max(0, 3 - math.ceil(math.log10(abs(mean)))) if mean and abs(mean) < 1000 else 0
    shown, below, above, *those = (
        f"{number:,.{min(decimals, 4)}f}" for number in (mean, mean - low, high - mean, low, high)
    )
    if math.isnan(low):
        return shown
    return f"{shown} ± {below}" if below == above else f"{shown} ({' to '.join(those)})"


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The table, a line a row; cells hold no vertical bar."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def point_table(measured: Measurements, metrics: Sequence[str]) -> str:
    """These metrics' Markdown tables: a row for each place, a column for each agent."""
    places = [
        dict(zip(measured.axes, values, strict=True))
        for values in itertools.product(*map(measured.values, measured.axes))
    ]
    head = [*measured.axes, *map(measured.agent_name, measured.agents)]
    sections = []
    for metric in metrics:
        rows = [
            [*place.values(), *(measured.cell(metric, **place, agent=agent) for agent in measured.agents)]
            for place in places
        ]
        sections.append(f"## {measured.heading(metric)}\n\n{markdown_table(head, rows)}")
    return "\n".join(sections)


def point_table_file(name: str, metrics: Sequence[str]) -> Callable[[Measurements], Mapping[str, str]]:
    """A function that writes these tables beside a study's figures."""
    return lambda measured: {name: point_table(measured, metrics)}
