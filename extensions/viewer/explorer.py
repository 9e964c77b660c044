"""The numbers of results for the page's script: of each sweep its points as in points.csv, and runs with folders."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from roambus.bridge.runs.layout import AGENT, SEED, run_folder
from roambus.experiments.figures.drawing import colour_of
from roambus.experiments.figures.figure import FEW
from roambus.experiments.figures.style import USUAL
from roambus.experiments.measurements import Measurements
from roambus.experiments.studies.study import StudyResults, SweepResults
from roambus.experiments.sweeps.sweep import point_name
from roambus.spark.aggregation.aggregate import MEASURED, METRIC
from roambus.spark.metrics.metric import Scale, Support


def explorer_data(found: StudyResults, results: Path) -> str:
    """The numbers as JSON that may stand in a page."""
    sweeps = [_of_sweep(sweep, results) for sweep in found.sweeps]
    return json.dumps(sweeps, separators=(",", ":")).replace("<", "\\u003c")


def _of_sweep(found: SweepResults, results: Path) -> dict[str, Any]:
    measured, place = found.measured, found.folder or results
    present = set(measured.points[METRIC])
    metrics = [metric for metric in measured.comparable() if metric.column in present]
    return {
        "name": found.origin.sweep.name if found.origin else place.name,
        "agents": [
            [agent, measured.agent_name(agent), colour_of(rank, 0, USUAL)] for rank, agent in enumerate(measured.agents)
        ],
        "axes": [[axis, measured.axis_title(axis), measured.values(axis)] for axis in measured.axes],
        "metrics": [
            [
                *(metric.column, metric.axis_title, metric.meaning),
                *(metric.scale is Scale.LOGARITHMIC, metric.is_main, metric.support is Support.SHARE),
            ]
            for metric in metrics
        ],
        "few": FEW,
        "points": {metric.column: list(_points(measured, metric.column)) for metric in metrics},
        "runs": list(_runs(measured, place, [metric.column for metric in metrics])),
    }


def _points(measured: Measurements, metric: str) -> Iterator[list[Any]]:
    """Agent and axis values, then mean, interval and seeds."""
    rows = measured.point(metric)[[AGENT, *measured.axes, *MEASURED]]
    return (list(map(_plain, row)) for row in rows.itertuples(index=False, name=None))


def _runs(measured: Measurements, place: Path, metrics: list[str]) -> Iterator[list[Any]]:
    """Agent and axis values, seed, folder, then the metrics."""
    for row in measured.runs.to_dict("records"):
        levels = [(axis, str(row[axis])) for axis in measured.axes]
        folder = place / run_folder(point_name(str(row[AGENT]), levels), int(row[SEED]))
        values = (_plain(row.get(metric)) for metric in metrics)
        yield [str(row[AGENT]), *(value for _, value in levels), int(row[SEED]), folder.as_posix(), *values]


def _plain(value: Any) -> Any:
    """A value as JSON has it: none for a missing number."""
    if value is None or isinstance(value, str):
        return value
    return None if pd.isna(value) else value.item() if hasattr(value, "item") else value
