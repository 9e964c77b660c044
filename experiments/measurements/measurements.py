"""What a sweep measured, as figures, claims and report read it from a results folder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from roambus.bridge.errors import UserError
from roambus.bridge.runs.layout import AGENT, METRICS_FOLDER, POINTS, RUNS, SEED, SWEEP_FILE
from roambus.experiments.studies.registry import find_study
from roambus.spark.aggregation.points import METRIC, axes_of, natural_order
from roambus.spark.metrics.catalogue import METRICS

if TYPE_CHECKING:
    from roambus.experiments.studies.study import Study, StudyPlace
    from roambus.spark.metrics.catalogue import Metric

CONFIG, SPEED = "config", "speed"
THESIS_AXES = [CONFIG, SPEED]
THESIS_SPEED, THESIS_CONFIG = "8", "C16"
"""Where the thesis cuts through its sweep: the speed (m/s) of figures 4.5a to 4.8, the size of figure 4.5b."""
MFT, AODV = "mft", "aodv"
"""What the thesis' sweep calls the two protocols that it compares."""
MOVING, BROKERS, SUBSCRIPTIONS = "moving", "brokers", "subscriptions"


@dataclass(frozen=True, slots=True)
class Measurements:
    """`runs` has a row a run, `points` a row for each metric of each point; `sweep` is what was asked for."""

    runs: pd.DataFrame
    points: pd.DataFrame
    sweep: dict[str, Any] = field(default_factory=dict)
    tables: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    """Those of the study: agent, axes and seed, then numbers, a row an observation."""
    belongs_to: StudyPlace | None = None
    """None: to whatever study of ours has a sweep like this one."""

    @property
    def axes(self) -> list[str]:
        """The names of the axes, in the sweep's order."""
        return axes_of(self.runs)

    @property
    def study(self) -> StudyPlace | None:
        """The study and its sweep; None for a sweep of no study."""
        return self.belongs_to or find_study({"axes": self.axes, **self.sweep})

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """All that can be measured: those of the catalogue, then the study's own."""
        place = self.study
        return METRICS if place is None else (*METRICS, *place[1].extra.catalogue)

    def title(self, metric: str) -> str:
        """What axes call a metric."""
        return {known.column: known.title for known in self.metrics}[metric]

    @property
    def agents(self) -> list[str]:
        """The agents' names, in the sweep's order."""
        return self._ordered(AGENT, list(self.sweep.get("agents", [])))

    @property
    def seeds(self) -> int:
        """How many seeds any point has at most."""
        return int(self.runs[SEED].nunique())

    def values(self, axis: str) -> list[str]:
        """The values of an axis that were measured, in the sweep's order, or else in natural order."""
        return self.agents if axis == AGENT else self._ordered(axis, self.sweep.get("axes", {}).get(axis, []))

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

    def is_thesis(self) -> bool:
        """Whether the sweep has the axes of the thesis' evaluation, and so can have its figures."""
        return self.axes == THESIS_AXES


def read_measurements(results: Path, own: Study | None = None) -> Measurements:
    """Reads what `roambus aggregate` wrote; raises UserError if it is not there or damaged.

    `own` is the study that the results are of, if it is none of ours.
    """
    runs, points = (_read_table(results, name) for name in (RUNS, POINTS))
    sweep = read_description(results)
    place = find_study({"axes": axes_of(runs), **sweep}, results.name, own)
    extra = place[1].extra.tables if place else ()
    return Measurements(runs, points, sweep, {table.name: _read_table(results, table.name) for table in extra}, place)


def _read_table(results: Path, name: str) -> pd.DataFrame:
    file = results / METRICS_FOLDER / f"{name}.parquet"
    if not file.is_file():
        raise UserError(f"{file} is not there: run `roambus aggregate {results}` first")
    try:
        return pd.read_parquet(file)
    except (OSError, ValueError) as error:
        raise UserError(f"{file.parent}: damaged ({error}): run `roambus aggregate {results}` again") from None


def read_description(results: Path) -> dict[str, Any]:
    """The results' `sweep.json`; empty if there is none. Raises UserError."""
    file = results / SWEEP_FILE
    if not file.is_file():
        return {}
    try:
        sweep = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise UserError(f"{file}: {error}: {_RESTORE}") from None
    if not isinstance(sweep, dict) or not all(isinstance(sweep.get(key, {}), dict) for key in ("axes", "agents")):
        raise UserError(f"{file}: does not describe a sweep: {_RESTORE}")
    return sweep


_RESTORE = "restore it, or delete it and run the sweep again"
