"""Tells the facts of a report: what was run, and the commands that run it again."""

from __future__ import annotations

from typing import Any

from roambus.bridge.runs.asked import SWEEP
from roambus.bridge.runs.layout import AGENT
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
    seeds = ("seeds a point", str(measured.seeds))
    return [("agents", "; ".join(agents)), *axes, seeds, ("runs", measured.runs_there()), *fixed]


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
    run = " ".join(["roambus sweep", _sweep(found), *settings, f"--seeds {measured.seeds}", "--out DIR"])
    return [run, "roambus aggregate DIR", "roambus figures DIR"]


def _sweep(found: SweepResults) -> str:
    """The sweep as a command takes it. For a sweep of no study it is a stand-in, for its file may lie anywhere."""
    if found.origin is None:
        return "SWEEP.toml"
    named, own = str(found.measured.sweep.get(SWEEP, "")), found.origin.sweep
    return named if named in own.alike else own.file
