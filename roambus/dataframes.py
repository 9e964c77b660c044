"""Gives the metrics of a sweep as DataFrames, for notebooks and scripts (docs/guide/compare.md).

`results` reads a folder that a sweep wrote and returns `Results`. Each of its tables is a new DataFrame with a row for
each metric, run, point or difference. What compares agents here is what `roambus compare` draws and tests.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from roambus.bridge.errors import UserError
from roambus.experiments.comparing.observations import Loaded, load
from roambus.experiments.comparing.selection import as_number, check_metric, find_axis, narrow
from roambus.experiments.comparing.tables import axis_column, in_order, paired_tests, points_table
from roambus.experiments.measurements import Measurements
from roambus.experiments.stores import open_store
from roambus.experiments.studies.study import load_study
from roambus.experiments.templates.variables import Scalar
from roambus.python_protocol.settings import plain

Values = Scalar | Sequence[Scalar]
"""This is one value of an axis, or several."""
Where = Mapping[str, Values]


def results(folder: str | PathLike[str], study: str | None = None) -> Results:
    """Reads the runs in the folder that a sweep wrote, with all their metrics.

    Metrics that no `roambus aggregate` has computed yet are computed with Spark, and kept for the next time. Damaged
    runs are left out with a warning; `problems` names them. `study` is the file of the study that the results are of,
    if it is one of your own.
    The folder can be an address on an object store, such as s3://bucket/thesis.

    Raises UserError if there is no run that can be read, RoambusError if Spark fails.
    """
    loaded = load(_found(folder), load_study(study) if study else None)
    if loaded.problems:
        text = f"{loaded.folder}: {len(loaded.problems)} runs are left out; the first: {loaded.problems[0]}"
        warnings.warn(text, stacklevel=2)
    return Results(loaded)


def _found(folder: str | PathLike[str]) -> Path:
    """The folder, or the mirror of an address on an object store."""
    store = open_store(folder) if isinstance(folder, str) else None
    if store is None:
        return Path(folder)
    store.fetch()
    return store.folder


class Results:
    """Holds what one sweep measured; the values of an axis are numbers if all of them can be."""

    def __init__(self, loaded: Loaded) -> None:
        self._folder, self._measured = loaded.folder, loaded.measured
        self._problems = loaded.problems

    def __repr__(self) -> str:
        axes = ", ".join(self.axes) or "none"
        return f"<results of {self._folder}: {len(self.runs)} runs, agents {', '.join(self.agents)}, axes {axes}>"

    @property
    def problems(self) -> tuple[str, ...]:
        """Returns a line for each run that is left out because its trace is damaged."""
        return self._problems

    @property
    def agents(self) -> list[str]:
        """Returns the agents' names, in the sweep's order."""
        return self._measured.agents

    @property
    def axes(self) -> dict[str, list[str] | list[float]]:
        """Returns the values of each axis, in the sweep's order."""
        return {axis: _typed(pd.Series(self._measured.values(axis))).tolist() for axis in self._measured.axes}

    @property
    def metrics(self) -> pd.DataFrame:
        """Returns a row for each metric with its title, unit and meaning; the study's own metrics come last."""
        known = self._measured.metrics
        columns = {
            "title": [metric.axis_title for metric in known],
            "unit": [metric.unit for metric in known],
            "meaning": [metric.meaning for metric in known],
        }
        return pd.DataFrame(columns, index=pd.Index([metric.column for metric in known], name="metric"))

    @property
    def runs(self) -> pd.DataFrame:
        """Returns a row for each run: agent, axes, seed, metrics, and `sent_TYPE`, the packets of each message type."""
        return _with_numbers(self._measured.runs, self._measured.axes)

    def points(self, metric: str, against: str | None = None, where: Where | None = None) -> pd.DataFrame:
        """Returns the mean over the `n` seeds at each point, and its 95 % interval: `low`, `high` and `half_width`.

        The axis `against` (the first with more than one value, unless given) stands last and changes fastest, so that
        rows are in the order of lines. `where` keeps one value of an axis, or a list of them. Raises UserError.
        """
        measured = self._narrowed(metric, (), where)
        return _table(points_table(measured, metric), measured, against)

    def paired(
        self,
        metric: str,
        a: str,
        b: str,
        against: str | None = None,
        where: Where | None = None,
    ) -> pd.DataFrame:
        """Compares agent a with agent b seed by seed, as runs of one seed share movement and radio.

        Each point has `difference`, the mean of a minus b over the `n` seeds that both have, its 95 % interval as
        `points` has it, `p` of the two-sided paired t-test, `p_holm`, which Holm's procedure adjusts for all rows of
        this table, and `note`, which says why there is no p. `against` and `where` mean what they do for `points`.
        Raises UserError.
        """
        if a == b:
            raise UserError(f"{a!r} cannot be compared with itself: name two agents")
        measured = self._narrowed(metric, (a, b), where)
        return _table(paired_tests(measured, metric, [(a, b)]), measured, against)

    def _narrowed(self, metric: str, agents: Sequence[str], where: Where | None) -> Measurements:
        measured = narrow(self._measured, agents, _texts(where or {}))
        check_metric(measured, metric)
        return measured


def _texts(where: Where) -> dict[str, list[str]]:
    """Returns the values as they stand in the names of folders."""
    return {axis: [plain(value) for value in listed(values)] for axis, values in where.items()}


def listed(values: Values) -> list[Scalar]:
    """Returns the values of an axis as a list, also if only one is given."""
    return [values] if isinstance(values, Scalar | np.generic) else list(values)


def _table(table: pd.DataFrame, measured: Measurements, against: str | None) -> pd.DataFrame:
    """Returns the table in the order of the lines along `against`."""
    ordered = in_order(table, measured, find_axis(measured, against))
    return _with_numbers(ordered, [axis_column(axis) for axis in measured.axes])


def _with_numbers(table: pd.DataFrame, axes: Sequence[str]) -> pd.DataFrame:
    """Returns a copy in which each axis holds numbers if all its values can be."""
    return table.assign(**{axis: _typed(table[axis]) for axis in axes})


def _typed(values: pd.Series[str]) -> pd.Series[Any]:
    return pd.to_numeric(values) if all(as_number(value) is not None for value in values) else values
