"""Reads the runs of a sweep with all their metrics, whether they were aggregated before or not.

Traces are found and examined; what earlier aggregations found of them comes from their store, and the rest is computed.
If there are no traces, because they are large and were deleted, the tables of an aggregation are read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from roambus.bridge.errors import UserError
from roambus.bridge.runs.layout import AGENT, METRICS_FOLDER, SEED, TRACES, read_asked
from roambus.bridge.runs.writing import writing
from roambus.experiments.measurements.measurements import Measurements, read_measurements
from roambus.experiments.studies.reading import existing_folder, find_extra, sweep_folders
from roambus.experiments.studies.study import Study
from roambus.experiments.sweeps.sweep import FOLDER_NAME
from roambus.spark.aggregation.aggregate import Progress, metrics_of
from roambus.spark.aggregation.points import mean_points, name_runs
from roambus.spark.aggregation.traces import Trace, examine, find_traces
from roambus.spark.metrics.catalogue import METRICS

_NAME = FOLDER_NAME.pattern
_PLACE = re.compile(rf"{AGENT}={_NAME}(/{_NAME}={_NAME})*/{SEED}=(0|[1-9][0-9]*)")


@dataclass(frozen=True, slots=True)
class Loaded:
    """What was measured in the folder of one sweep, and a line for each run that is left out because it is damaged."""

    folder: Path
    measured: Measurements
    problems: tuple[str, ...]


def load(results: Path, own: Study | None = None, progress: Progress | None = None) -> Loaded:
    """The runs of the sweep in this folder, with the metrics of the catalogue and of the study that they are of.

    Metrics that no aggregation has computed yet are computed with Spark, and kept; `progress` is told. Without traces
    the tables of an aggregation do. `own` is the study, if it is none of ours. Raises UserError if there is no run that
    can be read, RoambusError if Spark fails.
    """
    folder = _folder_of_sweep(results)
    files = find_traces(folder)
    if not files and (folder / METRICS_FOLDER).is_dir():
        return Loaded(folder, read_measurements(folder, find_extra(folder, own)), ())
    if not files:
        raise UserError(f"{folder}: holds no runs: give the folder that a sweep wrote (its --out)")
    traces, damaged = examine(files)
    _check_places(folder, traces)
    return _measure(folder, traces, list(damaged.values()), own, progress)


def _folder_of_sweep(results: Path) -> Path:
    first, *others = sweep_folders(existing_folder(results))
    if others:
        raise UserError(f"{results}: holds several sweeps: give one of {', '.join(map(str, [first, *others]))}")
    return first


def _check_places(folder: Path, traces: Sequence[Trace]) -> None:
    """Raises UserError unless runs lie where sweeps put them, all with the same axes in the same order."""
    for trace in traces:
        where = folder / TRACES / trace.run
        names = _names(trace)
        if not _PLACE.fullmatch(trace.run) or len(set(names)) < len(names):
            raise UserError(f"{where}: no sweep puts a run there ({AGENT}=NAME/AXIS=VALUE/{SEED}=NUMBER): remove it")
        if names != _names(traces[0]):
            raise UserError(f"{where}: has other axes than {traces[0].run}: keep them in two folders")


def _names(trace: Trace) -> list[str]:
    """The names of the levels of the run's folder: agent, axes and seed."""
    return [level.partition("=")[0] for level in trace.run.split("/")]


def _measure(
    folder: Path, traces: Sequence[Trace], problems: list[str], own: Study | None, progress: Progress | None
) -> Loaded:
    if not traces:
        raise UserError(_nothing_to_read(folder, problems))
    description, extra = read_asked(folder), find_extra(folder, own)
    with writing(folder):
        metrics, damaged = metrics_of(folder, traces, extra, progress=progress)
    problems = [*problems, *damaged.values()]
    if metrics.empty:
        raise UserError(_nothing_to_read(folder, problems))
    runs = name_runs(metrics, [metric.column for metric in extra.catalogue])
    measured = Measurements(runs, mean_points(runs), description, metrics=(*METRICS, *extra.catalogue))
    return Loaded(folder, measured, tuple(problems))


def _nothing_to_read(folder: Path, problems: Sequence[str]) -> str:
    return f"{folder}: no run can be read; the first: {problems[0]}"
