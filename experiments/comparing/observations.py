"""Observations of single notifications, from traces, for figures that show more than means.

One figure shows delays as a share of all expected deliveries: a curve ends at the delivery rate, so dropping late
notifications makes no protocol look fast. The other shows deliveries over time. `load` reads a sweep's runs with all
metrics, stored or computed; without traces it reads an aggregation's tables.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from roambus.bridge.errors import UserError
from roambus.bridge.runs.layout import (
    AGENT,
    AGENTS,
    FIGURES_FOLDER,
    LACKING,
    METRICS_FOLDER,
    SEED,
    TRACES,
    find_traces,
    levels_of,
    read_asked,
    unlinked,
    writing,
)
from roambus.bridge.trace.parquet import DamagedTraceError
from roambus.experiments.figures.drawing import draw
from roambus.experiments.figures.figure import Curve, CurveFigure
from roambus.experiments.figures.style import Look
from roambus.experiments.measurements import (
    Measurements,
    agent_name,
    metrics_in_tables,
    place_text,
    read_measurements,
)
from roambus.experiments.studies.study import Study, existing_folder, find_extra, sweep_folders
from roambus.experiments.sweeps.sweep import FOLDER_NAME
from roambus.spark.aggregation.aggregate import ProgressReport, mean_points, metrics_of, name_runs, natural_order
from roambus.spark.aggregation.traces import REMEDY, Trace, list_traces
from roambus.spark.metrics.catalogue import METRICS
from roambus.spark.metrics.extra import Extra
from roambus.spark.metrics.run import Run


@dataclass(frozen=True, slots=True)
class Observed:
    """A run's first deliveries to expected receivers: times, delays, the number expected, and the end."""

    delivered_s: NDArray[np.float64]
    delay_s: NDArray[np.float64]
    expected: int
    end_s: float


def observe(trace: Trace) -> Observed:
    """Reads the deliveries of a run; raises DamagedTraceError."""
    run = Run(trace.file)
    first = run.pairs.dropna(subset=["delivered_s"]).sort_values("delivered_s")
    return Observed(first["delivered_s"].to_numpy(), first["delay_s"].to_numpy(), len(run.pairs), run.end_s)


def distribution(runs: Sequence[Observed]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Delays, and the share of expected deliveries within each, up to the delivery rate."""
    delays = np.sort(np.concatenate([run.delay_s for run in runs]))
    shares = np.arange(1, len(delays) + 1) / max(sum(run.expected for run in runs), 1)
    kept = np.unique(np.linspace(0, len(delays) - 1, min(len(delays), _MOST_POINTS)).astype(int))
    return delays[kept], shares[kept]


_MOST_POINTS = 1000
"""Of a curve: more of them no picture shows."""
_BINS = 30


def over_time(runs: Sequence[Observed]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The middles of thirty equal time spans, and each one's deliveries per second (mean of runs)."""
    end_s = max(run.end_s for run in runs) or 1.0
    edges = np.linspace(0, end_s, _BINS + 1)
    counts: Iterable[NDArray[np.int64]] = (np.histogram(run.delivered_s, edges)[0] for run in runs)
    return (edges[:-1] + edges[1:]) / 2, np.mean(list(counts), axis=0) / (end_s / _BINS)


DELAYS, DELIVERIES = "delays", "deliveries"
KINDS = (DELAYS, DELIVERIES)
_TITLES = {
    DELAYS: (
        "how long deliveries took, as a share of all that were to be made",
        "end-to-end delay (s)",
        "share delivered within",
    ),
    DELIVERIES: ("deliveries over the time of the run", "time (s)", "deliveries per second"),
}
"""The title of each kind of figure, and those of its axes."""
MOST_LINES = 12
"""More lines cannot be told apart."""

Place = tuple[tuple[str, str], ...]
Where = Mapping[str, Sequence[str]]


def draw_curves(results: Path, kinds: Sequence[str], where: Where, look: Look, out: Path | None = None) -> list[Path]:
    """Draw these figures of every sweep in `results`, a line for each place; return the files.

    `where` keeps some axis values or agents. Raises UserError.
    """
    sweeps = sweep_folders(existing_folder(results))
    folder = out or unlinked(results / FIGURES_FOLDER)
    look = replace(look, agents=tuple(dict.fromkeys(agent for sweep in sweeps for agent in _agents(sweep))))
    files = []
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for sweep in sweeps:
            prefix = f"{sweep.name}-" if len(sweeps) > 1 else ""
            observed, request = _observed(sweep, where), read_asked(sweep)
            files += [path for kind in kinds for path in draw(_figure(kind, prefix, observed, request), folder, look)]
    return files


def _agents(sweep: Path) -> list[str]:
    present = {dict(_place(trace)).get(AGENT, "") for trace in list_traces(find_traces(sweep))[0]}
    asked = [agent for agent in read_asked(sweep).get(AGENTS, {}) if agent in present]
    return asked + sorted(present.difference(asked), key=natural_order)


def _observed(sweep: Path, where: Where) -> dict[Place, list[Observed]]:
    traces, _ = list_traces(find_traces(sweep))
    placed = [(_place(trace), trace) for trace in traces]
    chosen = [
        (place, trace)
        for place, trace in placed
        if all(dict(place).get(axis) in (*values, LACKING) for axis, values in where.items())
    ]
    agents = _agents(sweep)
    places = sorted(
        {place for place, _ in chosen},
        key=lambda place: (agents.index(dict(place)[AGENT]), [natural_order(value) for _, value in place]),
    )
    if not places:
        raise UserError(f"{sweep}: there is no run{' there' if where else ''}: give the folder that a sweep wrote")
    if len(places) > MOST_LINES:
        raise UserError(f"{sweep}: {len(places)} lines are too many for a figure: narrow {_varying(places)} (--where)")
    try:
        return {place: [observe(trace) for at, trace in chosen if at == place] for place in places}
    except DamagedTraceError as error:
        raise UserError(f"{error}: {REMEDY}") from None


def _place(trace: Trace) -> Place:
    return tuple((name, value) for name, value in levels_of(trace.run).items() if name != SEED)


def _varying(places: Sequence[Place]) -> str:
    names = [name for name, _ in places[0]]
    return " or ".join(name for name in names if len({dict(place).get(name) for place in places}) > 1)


def _figure(
    kind: str, prefix: str, observed: Mapping[Place, Sequence[Observed]], request: Mapping[str, Any]
) -> CurveFigure:
    curve = distribution if kind == DELAYS else over_time
    varying = _varying([*observed]).split(" or ")
    lines = []
    for place, runs in observed.items():
        x, y = (tuple(values.tolist()) for values in curve(runs))
        lines.append(Curve(_label(place, varying, request), x, y, dict(place)))
    seeds = max(map(len, observed.values()))
    return CurveFigure(f"{prefix}{kind}", *_TITLES[kind], tuple(lines), seeds, is_time=kind == DELIVERIES)


def _label(place: Place, varying: Sequence[str], request: Mapping[str, Any]) -> str:
    named = [(name, value) for name, value in place if name in (AGENT, *varying) and value != LACKING]
    return ", ".join(
        agent_name(value, request) if name == AGENT else place_text(name, value, request) for name, value in named
    )


_PLACE = re.compile(rf"{AGENT}=NAME(/NAME=NAME)*/{SEED}=(0|[1-9][0-9]*)".replace("NAME", FOLDER_NAME.pattern))


@dataclass(frozen=True, slots=True)
class Loaded:
    """A sweep folder's measurements, and a line for each damaged run."""

    folder: Path
    measured: Measurements
    problems: tuple[str, ...]


def load(
    results: Path, own: Study | None = None, progress: ProgressReport | None = None, measure: Sequence[str] = ()
) -> Loaded:
    """Read a sweep's runs with all metrics, computing missing ones with Spark.

    `own` is a user's study, `measure` names own metrics. Raises UserError, RoambusError.
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
