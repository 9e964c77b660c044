"""Gives the metrics of a sweep as DataFrames, for notebooks and scripts (docs/guide/compare.md).

Each table of `Results` is a new DataFrame with a row for each metric, run, point or difference. Agents are compared as
in `roambus compare`.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from roambus.bridge.runs.layout import AGENT, FIGURES_FOLDER, find_traces, unlinked
from roambus.bridge.system.errors import UserError
from roambus.experiments.comparing.loading import Loaded, load
from roambus.experiments.comparing.selection import as_number, check_metric, find_axis, main_metrics, narrow
from roambus.experiments.comparing.tables import axis_column, in_order, paired_tests, points_table
from roambus.experiments.figures.style import USUAL
from roambus.experiments.measurements import Measurements, format_mean
from roambus.experiments.studies.study import load_study
from roambus.experiments.sweeps.stores import open_store
from roambus.experiments.templates.variables import Scalar
from roambus.python_protocol.settings import plain
from roambus.spark.aggregation.aggregate import HIGH, LOW, MEAN, METRIC
from roambus.spark.aggregation.traces import missing

Values = Scalar | Sequence[Scalar]
"""This is one value of an axis, or several."""
Where = Mapping[str, Values]


def results(folder: str | PathLike[str], study: str | None = None) -> Results:
    """Read the runs in a sweep's folder, with all their metrics.

    Spark computes missing metrics, which the user's cache keeps. A warning names damaged and missing runs, and so does
    `problems`.
    `study` is the file of your own study. The folder can be an object-store address, such as s3://bucket/thesis. Raise
    UserError without a readable run, RoambusError if Spark fails.
    """
    loaded = load(_found(folder), load_study(study) if study else None)
    traces = find_traces(loaded.folder)
    absent = missing(loaded.folder, traces) if traces else ()
    if loaded.problems:
        text = f"{loaded.folder}: {len(loaded.problems)} runs are left out; the first: {loaded.problems[0]}"
        warnings.warn(text, stacklevel=2)
    for problem in absent:
        warnings.warn(problem, stacklevel=2)
    return Results(replace(loaded, problems=(*loaded.problems, *absent)))


def _found(folder: str | PathLike[str]) -> Path:
    store = open_store(folder) if isinstance(folder, str) else None
    if store is None:
        return Path(folder)
    store.fetch()
    return store.folder


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure, which a notebook shows."""

    file: Path
    """The PNG; its caption stands beside it as text."""

    def _repr_png_(self) -> bytes:
        return self.file.read_bytes()


class Results:
    """One sweep's measurements, with numeric axes where possible."""

    def __init__(self, loaded: Loaded) -> None:
        self._folder, self._measured = loaded.folder, loaded.measured
        self._problems = loaded.problems

    def __repr__(self) -> str:
        axes = ", ".join(self.axes) or "none"
        return f"<results of {self._folder}: {len(self.runs)} runs, agents {', '.join(self.agents)}, axes {axes}>"

    def _repr_html_(self) -> str:
        """Return the means of the main metrics, as a notebook shows them."""
        points, metrics = self._measured.points, main_metrics(self._measured)
        cells = [*map(format_mean, points[MEAN], points[LOW], points[HIGH])]
        wide = points.assign(cell=cells).pivot(index=[AGENT, *self._measured.axes], columns=METRIC, values="cell")
        shown = wide[metrics].rename(columns=self._measured.title).fillna("")
        return f"<p>{escape(repr(self))}</p>{shown.to_html(max_rows=_MOST_ROWS)}"

    @property
    def problems(self) -> tuple[str, ...]:
        """Return a line for each damaged or failed run, and one for those never made."""
        return self._problems

    @property
    def agents(self) -> list[str]:
        """Return the agents' names, in the sweep's order."""
        return self._measured.agents

    @property
    def axes(self) -> dict[str, list[str] | list[float]]:
        """Return each axis' values, in the sweep's order."""
        return {axis: _typed(pd.Series(self._measured.values(axis))).tolist() for axis in self._measured.axes}

    @property
    def metrics(self) -> pd.DataFrame:
        """Return each metric's title, unit and meaning; the study's own come last."""
        known = self._measured.metrics
        columns = {
            "title": [metric.axis_title for metric in known],
            "unit": [metric.unit for metric in known],
            "meaning": [metric.meaning for metric in known],
        }
        return pd.DataFrame(columns, index=pd.Index([metric.column for metric in known], name="metric"))

    @property
    def runs(self) -> pd.DataFrame:
        """Return each run's agent, axes, seed, metrics, and `sent_TYPE`, packets of each type."""
        return _with_numbers(self._measured.runs, self._measured.axes)

    def points(self, metric: str, against: str | None = None, where: Where | None = None) -> pd.DataFrame:
        """Return each point's mean over `n` seeds and 95 % interval: `low`, `high` and `half_width`.

        The axis `against` (by default the first with several values) stands last and changes fastest, for drawing
        lines. `where` keeps one value of an axis, or a list of them. Raise UserError.
        """
        measured = self._narrowed(metric, (), where)
        return _table(points_table(measured, metric), measured, against)

    def figure(
        self, metric: str, against: str | None = None, where: Where | None = None, agents: Sequence[str] = ()
    ) -> Drawing:
        """Draw the figure of `roambus figures --metric --against --where --agents`, into the results' folder.

        Raise UserError.
        """
        from roambus.experiments.comparing.comparison import CompareOptions, draw_compared  # noqa: PLC0415  # Matplotlib is slow
        from roambus.experiments.studies.conditions import conditions_of  # noqa: PLC0415  # as above

        asked, style = (
            CompareOptions(tuple(agents), (metric,), against, _tuples(where or {})),
            replace(USUAL, formats=("png",)),
        )
        text = conditions_of(self._measured, self._folder)
        file, *_ = draw_compared(self._measured, asked, unlinked(self._folder / FIGURES_FOLDER), style, text)
        return Drawing(file)

    def paired(
        self,
        metric: str,
        a: str,
        b: str,
        against: str | None = None,
        where: Where | None = None,
    ) -> pd.DataFrame:
        """Compare agent a with agent b seed by seed, as runs of one seed share movement and radio.

        Each point has `difference`, the mean of a minus b over the `n` common seeds, its 95 % interval as in `points`,
        `p` of the two-sided paired t-test, `p_holm`, adjusted by Holm for all rows of this table, and `note`, the
        reason for a missing p. `against` and `where` are as in `points`. Raise UserError.
        """
        if a == b:
            raise UserError(f"{a!r} cannot be compared with itself: name two agents")
        measured = self._narrowed(metric, (a, b), where)
        return _table(paired_tests(measured, metric, [(a, b)]), measured, against)

    def _narrowed(self, metric: str, agents: Sequence[str], where: Where | None) -> Measurements:
        measured = narrow(self._measured, agents, _texts(where or {}))
        check_metric(measured, metric)
        return measured


_MOST_ROWS = 40
"""Of a table that a notebook shows."""


def _texts(where: Where) -> dict[str, list[str]]:
    return {axis: [plain(value) for value in listed(values)] for axis, values in where.items()}


def _tuples(where: Where) -> dict[str, tuple[str, ...]]:
    return {axis: tuple(values) for axis, values in _texts(where).items()}


def listed(values: Values) -> list[Scalar]:
    """Return an axis' value or values as a list."""
    return [values] if isinstance(values, Scalar | np.generic) else list(values)


def _table(table: pd.DataFrame, measured: Measurements, against: str | None) -> pd.DataFrame:
    ordered = in_order(table, measured, find_axis(measured, against))
    return _with_numbers(ordered, [axis_column(axis) for axis in measured.axes])


def _with_numbers(table: pd.DataFrame, axes: Sequence[str]) -> pd.DataFrame:
    return table.assign(**{axis: _typed(table[axis]) for axis in axes})


def _typed(values: pd.Series[str]) -> pd.Series[Any]:
    return pd.to_numeric(values) if all(as_number(value) is not None for value in values) else values
