"""Tells the facts of a report: what was run, and the commands that run it again."""

from __future__ import annotations

from typing import Any

from roambus.bridge.runs.layout import AGENT, PRECISION, SEED, SWEEP
from roambus.experiments.measurements.measurements import Measurements
from roambus.experiments.measurements.names import agent_name, axis_heading
from roambus.experiments.studies.reading import SweepResults

_SECONDS = ("time_limit", "publish_until")


def facts(measured: Measurements) -> list[tuple[str, str]]:
    """Pairs of texts that say what was run."""
    sweep = measured.sweep
    agents = [_agent_fact(agent, sweep.get("agents", {}).get(agent)) for agent in measured.agents]
    axes = [(axis_heading(axis), ", ".join(measured.values(axis))) for axis in measured.axes]
    fixed = [(name.replace("_", " "), _with_unit(name, value)) for name, value in sweep.get("set", {}).items()]
    return [
        ("agents", "; ".join(agents)),
        *axes,
        ("seeds a point", _seeds(measured)),
        ("runs", measured.runs_there()),
        *fixed,
    ]


def _seeds(measured: Measurements) -> str:
    """How many seeds points have; where some have more than others, how many points have how many."""
    counts = measured.runs.groupby([AGENT, *measured.axes])[SEED].size().value_counts().sort_index()
    if len(counts) == 1:
        return str(measured.seeds)
    spread = ", ".join(f"{seeds} at {points} points" for seeds, points in counts.items())
    options = str(measured.sweep.get(PRECISION, ""))
    return f"{spread} ({options})" if options else spread


def _agent_fact(agent: str, asked: Any) -> str:
    """The agent's name, with what it is and its parameters where the sweep changes them."""
    use, parameters = asked or (agent, {})
    words = [f"is {use}"] * (use != agent) + [f"{name} = {value}" for name, value in parameters.items()]
    return f"{agent_name(agent)} ({', '.join(words)})" if words else agent_name(agent)


def _with_unit(name: str, value: object) -> str:
    return f"{value} s" if name in _SECONDS else str(value)


def commands(found: SweepResults) -> list[str]:
    """The commands that run the same sweep again."""
    measured = found.measured
    values = {AGENT: measured.agents, **{axis: measured.values(axis) for axis in measured.axes}}
    fixed = {key: [str(value)] for key, value in measured.sweep.get("set", {}).items()}
    settings = [f"--set {key}={','.join(chosen)}" for key, chosen in {**values, **fixed}.items()]
    run = " ".join(["roambus sweep", _sweep(found), *settings, *_seed_options(measured), "--out DIR"])
    return [run, "roambus aggregate DIR", "roambus figures DIR"]


def _seed_options(measured: Measurements) -> list[str]:
    precision = measured.sweep.get(PRECISION)
    return [f"--seeds {measured.seeds}", *([str(precision)] if precision else [])]


def _sweep(found: SweepResults) -> str:
    """The sweep as a command takes it. For a sweep of no study it is a stand-in, for its file may lie anywhere."""
    if found.origin is None:
        return "SWEEP.toml"
    named, own = str(found.measured.sweep.get(SWEEP, "")), found.origin.sweep
    return named if named in own.alike else own.file
