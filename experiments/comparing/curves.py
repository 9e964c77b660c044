"""Figures of single notifications: how delays are distributed, and how many deliveries there are over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from roambus.bridge.errors import UserError
from roambus.bridge.runs.layout import AGENT, AGENTS, FIGURES_FOLDER, SEED, read_asked
from roambus.bridge.runs.writing import unlinked, writing
from roambus.bridge.trace.reader import DamagedTraceError
from roambus.experiments.comparing.observations import Observed, distribution, observe, over_time
from roambus.experiments.figures.drawing import draw
from roambus.experiments.figures.figure import CurveFigure, Dots
from roambus.experiments.figures.look import Look
from roambus.experiments.measurements.names import agent_name
from roambus.experiments.studies.reading import existing_folder, sweep_folders
from roambus.spark.aggregation.points import natural_order
from roambus.spark.aggregation.traces import Trace, examine, find_traces

DELAYS, DELIVERIES = "delays", "deliveries"
KINDS = (DELAYS, DELIVERIES)
MOST_LINES = 12
"""More lines nobody can tell apart."""

Place = tuple[tuple[str, str], ...]
Where = Mapping[str, Sequence[str]]


def draw_curves(results: Path, kinds: Sequence[str], where: Where, look: Look, out: Path | None = None) -> list[Path]:
    """Draws these kinds of figures of every sweep in `results`; returns the files.

    `where` keeps some values of an axis, or some agents. There is a line for each place that is left, of all its seeds.
    They go to `out`, or else to the folder of the results for figures.
    Raises UserError if there is no run, or too many lines, or a trace is damaged.
    """
    sweeps = sweep_folders(existing_folder(results))
    folder = out or unlinked(results / FIGURES_FOLDER)
    look = replace(look, agents=tuple(dict.fromkeys(agent for sweep in sweeps for agent in _agents(sweep))))
    files = []
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for sweep in sweeps:
            prefix = f"{sweep.name}-" if len(sweeps) > 1 else ""
            observed = _observed(sweep, where)
            files += [path for kind in kinds for path in draw(_figure(kind, prefix, observed), folder, look)]
    return files


def _agents(sweep: Path) -> list[str]:
    """The agents of a sweep that have runs, in its order."""
    present = {dict(_place(trace)).get(AGENT, "") for trace in examine(find_traces(sweep))[0]}
    asked = [agent for agent in read_asked(sweep).get(AGENTS, {}) if agent in present]
    return asked + sorted(present.difference(asked), key=natural_order)


def _observed(sweep: Path, where: Where) -> dict[Place, list[Observed]]:
    traces, _ = examine(find_traces(sweep))
    chosen = [(place, trace) for trace in traces if _is_at(place := _place(trace), where)]
    places = sorted({place for place, _ in chosen}, key=lambda place: [natural_order(value) for _, value in place])
    if not places:
        raise UserError(f"{sweep}: there is no run{' there' if where else ''}: give the folder that a sweep wrote")
    if len(places) > MOST_LINES:
        raise UserError(f"{sweep}: {len(places)} lines are too many for a figure: narrow {_varying(places)} (--where)")
    try:
        return {place: [observe(trace) for at, trace in chosen if at == place] for place in places}
    except DamagedTraceError as error:
        raise UserError(f"{error}: run the sweep again to make it anew") from None


def _place(trace: Trace) -> Place:
    levels = (level.partition("=") for level in trace.run.split("/"))
    return tuple((name, value) for name, _, value in levels if name != SEED)


def _is_at(place: Place, where: Where) -> bool:
    known = dict(place)
    return all(known.get(axis) in values for axis, values in where.items())


def _varying(places: Sequence[Place]) -> str:
    names = [name for name, _ in places[0]]
    return " or ".join(name for name in names if len({dict(place).get(name) for place in places}) > 1)


def _figure(kind: str, prefix: str, observed: Mapping[Place, Sequence[Observed]]) -> CurveFigure:
    curve = distribution if kind == DELAYS else over_time
    varying = _varying([*observed]).split(" or ")
    lines = []
    for place, runs in observed.items():
        x, y = curve(runs)
        lines.append(Dots(_label(place, varying), tuple(map(float, x)), tuple(map(float, y)), dict(place)))
    seeds = max(map(len, observed.values()))
    if kind == DELAYS:
        title = "how long deliveries took, as a share of all that were to be made"
        return CurveFigure(
            f"{prefix}{kind}", title, "end-to-end delay (s)", "share delivered within", tuple(lines), seeds
        )
    title = "deliveries over the time of the run"
    return CurveFigure(f"{prefix}{kind}", title, "time (s)", "deliveries per second", tuple(lines), seeds, is_time=True)


def _label(place: Place, varying: Sequence[str]) -> str:
    """The agent, and the values of the axes in which lines differ."""
    words = [agent_name(value) if name == AGENT else f"{name} {value}" for name, value in place]
    names = [name for name, _ in place]
    return ", ".join(word for name, word in zip(names, words, strict=True) if name == AGENT or name in varying)
