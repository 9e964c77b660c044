"""Loads a sweep's runs with all metrics, stored or computed; without traces it reads an aggregation's tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from roambus.bridge.runs.layout import AGENT, METRICS_FOLDER, SEED, TRACES, find_traces, read_asked, writing
from roambus.bridge.system.errors import UserError
from roambus.experiments.measurements import Measurements, metrics_in_tables, read_measurements
from roambus.experiments.studies.study import Study, existing_folder, find_extra, sweep_folders
from roambus.experiments.sweeps.sweep import FOLDER_NAME
from roambus.spark.aggregation.aggregate import ProgressReport, mean_points, metrics_of, name_places, name_runs
from roambus.spark.aggregation.traces import Trace, list_traces
from roambus.spark.metrics.catalogue import METRICS
from roambus.spark.metrics.extra import Extra

_PLACE = re.compile(rf"{AGENT}=NAME(/NAME=NAME)*/{SEED}=(0|[1-9][0-9]*)".replace("NAME", FOLDER_NAME.pattern))


@dataclass(frozen=True, slots=True)
class Loaded:
    """A sweep folder's measurements, and a line for each damaged run."""

    folder: Path
    measured: Measurements
    problems: tuple[str, ...]


def load(
    results: Path,
    own: Study | None = None,
    progress: ProgressReport | None = None,
    measure: Sequence[str] = (),
    check: Callable[[Measurements], None] | None = None,
) -> Loaded:
    """Read a sweep's runs with all metrics, computing missing ones with Spark.

    `own` is a user's study, `measure` names own metrics. `check` gets the runs' places before anything is computed.
    Raises UserError, RoambusError.
    """
    folder = _folder_of_sweep(results)
    extra = find_extra(folder, own, measure)
    files = find_traces(folder)
    if not files and (folder / METRICS_FOLDER).is_dir():
        return Loaded(folder, read_measurements(folder, extra), ())
    if not files:
        raise UserError(f"{folder}: holds no runs: give the folder that a sweep wrote (its --out)")
    traces, damaged = list_traces(files)
    _check_places(folder, traces)
    if check and traces:
        check(_unmeasured(folder, traces, extra))
    return _measure(folder, traces, list(damaged.values()), extra, progress)


def _folder_of_sweep(results: Path) -> Path:
    first, *others = sweep_folders(existing_folder(results))
    if others:
        raise UserError(f"{results}: holds several sweeps: give one of {', '.join(map(str, [first, *others]))}")
    return first


def _check_places(folder: Path, traces: Sequence[Trace]) -> None:
    """Raise UserError unless runs lie in sweep folders with equal axes in equal order."""
    for trace in traces:
        where = folder / TRACES / trace.run
        names = _names(trace)
        if not _PLACE.fullmatch(trace.run) or len(set(names)) < len(names):
            raise UserError(f"{where}: no sweep puts a run there ({AGENT}=NAME/AXIS=VALUE/{SEED}=NUMBER): remove it")
        if names != _names(traces[0]):
            raise UserError(f"{where}: has other axes than {traces[0].run}: keep them in two folders")


def _names(trace: Trace) -> list[str]:
    return [level.partition("=")[0] for level in trace.run.split("/")]


def _unmeasured(folder: Path, traces: Sequence[Trace], extra: Extra) -> Measurements:
    """The runs by place, without values."""
    further = extra.metrics or metrics_in_tables(folder)
    names = pd.Index([trace.run for trace in traces])
    places = name_places(names, [metric.column for metric in further]).sort_index(axis=0)
    return Measurements(places, places, read_asked(folder), (*METRICS, *further))


def _measure(
    folder: Path, traces: Sequence[Trace], problems: list[str], extra: Extra, progress: ProgressReport | None
) -> Loaded:
    if not traces:
        raise UserError(_nothing_to_read(folder, problems))
    with writing(folder):
        metrics, damaged = metrics_of(folder, traces, extra, progress=progress)
    problems = [*problems, *damaged.values()]
    if metrics.empty:
        raise UserError(_nothing_to_read(folder, problems))
    further = extra.metrics or metrics_in_tables(folder)  # the store has their values, too
    runs, known = name_runs(metrics, [metric.column for metric in further]), (*METRICS, *further)
    measured = Measurements(runs, mean_points(runs, known), read_asked(folder), metrics=known)
    return Loaded(folder, measured, tuple(problems))


def _nothing_to_read(folder: Path, problems: Sequence[str]) -> str:
    return f"{folder}: no run can be read; the first: {problems[0]}"
