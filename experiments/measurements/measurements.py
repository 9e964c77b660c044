"""What a sweep measured: the tables that an aggregation wrote, with the names of agents, axes and metrics.

Figures, claims, reports and comparisons all read the same `Measurements`, all of a sweep or a part. It knows nothing of
studies: whoever reads results of a study says what that study measures beside the metrics of every sweep.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from pandas.api.types import is_numeric_dtype

from roambus.bridge.errors import UserError
from roambus.bridge.runs.layout import AGENT, METRICS_FOLDER, POINTS, RUNS, SEED, count_runs, read_asked
from roambus.python_protocol.settings import unknown
from roambus.spark.aggregation.points import HALF_WIDTH, MEAN, METRIC, N, axes_of, natural_order
from roambus.spark.metrics.catalogue import METRICS, SENT_PREFIX, Metric, sent_metric
from roambus.spark.metrics.extra import NOTHING, Extra


@dataclass(frozen=True, slots=True)
class Measurements:
    """The tables of a sweep: `runs` has a row for each run, `points` one for each metric of each point.

    `sweep` is what was asked for, as the results say it.
    """

    runs: pd.DataFrame
    points: pd.DataFrame
    sweep: dict[str, Any] = field(default_factory=dict)
    tables: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    """The tables of the study: agent, axes and seed, then numbers, with a row for each observation."""
    metrics: tuple[Metric, ...] = METRICS
    """All that can be measured: the metrics of every sweep, then those of the study."""

    @property
    def axes(self) -> list[str]:
        """The names of the axes, in the sweep's order."""
        return axes_of(self.runs)

    def metric(self, column: str) -> Metric:
        """The metric with that column, the packets of a message type included; raises UserError if there is none."""
        known = {metric.column: metric for metric in self.comparable()}
        if column not in known:
            raise UserError(unknown("metric", column, known))
        return known[column]

    def title(self, column: str) -> str:
        """The title of a metric with its unit, as axes have it."""
        return self.metric(column).axis_title

    def comparable(self) -> list[Metric]:
        """The metrics, and the packets of each message type that any run sent."""
        sent = [str(column) for column in self.runs if str(column).startswith(SENT_PREFIX)]
        return [*self.metrics, *map(sent_metric, sent)]

    @property
    def agents(self) -> list[str]:
        """The agents' names, in the sweep's order."""
        return self._ordered(AGENT, list(self.sweep.get("agents", [])))

    @property
    def seeds(self) -> int:
        """How many seeds any point has at most."""
        return int(self.runs[SEED].nunique())

    def values(self, axis: str) -> list[str]:
        """The values of an axis that were measured, in the sweep's order, or else in natural order.

        An axis that the sweep does not have has none.
        """
        if axis == AGENT:
            return self.agents
        return self._ordered(axis, self.sweep.get("axes", {}).get(axis, [])) if axis in self.runs else []

    def _ordered(self, column: str, asked: list[Any]) -> list[str]:
        measured = sorted({str(value) for value in self.runs[column]}, key=natural_order)
        places = {str(value): place for place, value in enumerate(asked)}
        return sorted(measured, key=lambda value: places.get(value, len(places)))

    def point(self, metric: str, **place: str) -> pd.DataFrame:
        """The rows of `points` with this metric at this place."""
        chosen = self.points[self.points[METRIC] == metric]
        for column, value in place.items():
            chosen = chosen[chosen[column] == value]
        return chosen

    def runs_there(self) -> str:
        """How many runs there are, and how many are missing of those asked for."""
        there = len(self.runs)
        asked = count_runs(self.sweep)
        if asked is None:
            return str(there)
        return f"{there}, complete" if there >= asked else f"{there} of {asked}: {asked - there} missing"


def read_measurements(results: Path, extra: Extra = NOTHING) -> Measurements:
    """Reads what `roambus aggregate` wrote; raises UserError if it is not there or damaged.

    `extra` is what the study of these results measures beside the metrics of every sweep.
    """
    runs, points = (_read_table(results, name) for name in (RUNS, POINTS))
    tables = {table.name: _read_table(results, table.name) for table in extra.tables}
    return Measurements(runs, points, read_asked(results), tables, (*METRICS, *extra.catalogue))


def _read_table(results: Path, name: str) -> pd.DataFrame:
    file = results / METRICS_FOLDER / f"{name}.parquet"
    if not file.is_file():
        raise UserError(f"{file} is not there: run `roambus aggregate {results}` first")
    try:
        with file.open("rb") as opened:  # Arrow knows no names that are not UTF-8
            table = pq.read_table(opened, partitioning=None, page_checksum_verification=True)
        table.validate(full=True)
        frame: pd.DataFrame = table.to_pandas()
        return _checked(name, frame)
    except (OSError, pa.ArrowException, ValueError, TypeError, KeyError, MemoryError) as error:
        problem = " ".join(str(error).split()) or type(error).__name__
        raise UserError(f"{file}: damaged ({problem}): run `roambus aggregate {results}` again") from None


_COLUMNS = {RUNS: (AGENT, SEED), POINTS: (AGENT, METRIC, MEAN, HALF_WIDTH, N)}
"""What the tables of every sweep have; those of a study have at least agent and seed."""


def _checked(name: str, table: pd.DataFrame) -> pd.DataFrame:
    """The table, if it has the columns that it must have, of their kinds; raises ValueError."""
    if name in _COLUMNS and table.empty:
        raise ValueError("it has no rows")
    for column in _COLUMNS.get(name, (AGENT, SEED)):
        if column not in table.columns:
            raise ValueError(f"it has no column {column}")
        is_number = column in (SEED, MEAN, HALF_WIDTH, N)
        if is_number != is_numeric_dtype(table[column]) or (column != HALF_WIDTH and table[column].hasnans):
            raise ValueError(f"column {column} does not hold what it should")
    return table
