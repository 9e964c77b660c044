"""What a sweep measured, as figures, claims and report read it from a results folder."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from bridge.errors import UserError
from spark.layout import AGENT, METRICS_FOLDER, POINTS, RUNS, SEED, SWEEP_FILE
from spark.points import METRIC, axes_of, natural_order

CONFIG, SPEED = "config", "speed"
THESIS_AXES = [CONFIG, SPEED]
THESIS_SPEED, THESIS_CONFIG = "8", "C16"
"""Where the thesis cuts through its sweep: the speed (m/s) of figures 4.5a to 4.8, the size of figure 4.5b."""
MFT, AODV = "mft", "aodv"
"""What the thesis' sweep calls the two protocols that it compares."""
MOVING, BROKERS, SUBSCRIPTIONS = "moving", "brokers", "subscriptions"
MIGRATION_COST_AXES = [MOVING, BROKERS, SUBSCRIPTIONS]


@dataclass(frozen=True, slots=True)
class Measurements:
    """`runs` has a row a run, `points` a row for each metric of each point; `sweep` is what was asked for."""

    runs: pd.DataFrame
    points: pd.DataFrame
    sweep: dict[str, Any] = field(default_factory=dict)

    @property
    def axes(self) -> list[str]:
        """The names of the axes, in the sweep's order."""
        return axes_of(self.runs)

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

    def is_migration_cost(self) -> bool:
        """Whether the sweep has the axes of the comparison of migrations, and so can have its figures."""
        return self.axes == MIGRATION_COST_AXES


def read_measurements(results: Path) -> Measurements:
    """Reads what `roambus aggregate` wrote; raises UserError if it is not there or damaged."""
    tables = [results / METRICS_FOLDER / f"{name}.parquet" for name in (RUNS, POINTS)]
    for table in tables:
        if not table.is_file():
            raise UserError(f"{table} is not there: run `roambus aggregate {results}` first")
    try:
        runs, points = (pd.read_parquet(table) for table in tables)
    except (OSError, ValueError) as error:
        raise UserError(f"{tables[0].parent}: damaged ({error}): run `roambus aggregate {results}` again") from None
    return Measurements(runs, points, _read_sweep(results / SWEEP_FILE))


def _read_sweep(file: Path) -> dict[str, Any]:
    if not file.is_file():
        return {}
    try:
        sweep: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise UserError(f"{file}: {error}: restore it, or delete it and run the sweep again") from None
    return sweep
