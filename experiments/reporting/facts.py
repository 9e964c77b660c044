"""The words and numbers of a report: what was run, the metrics of every point, and how to run it again."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from roambus.bridge.runs.layout import AGENT
from roambus.experiments.figures.plans import agent_name
from roambus.experiments.measurements.measurements import Measurements
from roambus.spark.aggregation.points import HALF_WIDTH, MEAN, METRIC
from roambus.spark.metrics import catalogue

_HEADINGS = {"speed": "speed (m/s)"}
_SECONDS = ("time_limit", "publish_until")


@dataclass(frozen=True, slots=True)
class Table:
    """A table of texts: the first `places` columns say which point a row is, `points` says it without titles."""

    places: int
    headings: list[str]
    rows: list[list[str]]
    points: list[dict[str, str]]


# What was run


def facts(measured: Measurements) -> list[tuple[str, str]]:
    """(what, value) pairs that say what was run."""
    sweep = measured.sweep
    agents = [_agent_fact(agent, sweep.get("agents", {}).get(agent)) for agent in measured.agents]
    axes = [(heading(axis), ", ".join(measured.values(axis))) for axis in measured.axes]
    fixed = [(name.replace("_", " "), _with_unit(name, value)) for name, value in sweep.get("set", {}).items()]
    seeds = ("seeds a point", str(measured.seeds))
    return [("agents", "; ".join(agents)), *axes, seeds, ("runs", runs_there(measured)), *fixed]


def _agent_fact(agent: str, asked: Any) -> str:
    """The agent's name, with what it is and its parameters where the sweep changes them."""
    use, parameters = asked or (agent, {})
    words = [f"is {use}"] * (use != agent) + [f"{name} = {value}" for name, value in parameters.items()]
    return f"{agent_name(agent)} ({', '.join(words)})" if words else agent_name(agent)


def heading(name: str) -> str:
    """What facts and tables call an axis."""
    return _HEADINGS.get(name, name)


def _with_unit(name: str, value: object) -> str:
    return f"{value} s" if name in _SECONDS else str(value)


def runs_there(measured: Measurements) -> str:
    """How many runs there are, and how many are missing of those asked for."""
    there = len(measured.runs)
    if not measured.sweep:
        return str(there)
    levels = [measured.sweep["agents"], *measured.sweep["axes"].values(), measured.sweep["seeds"]]
    asked = math.prod(len(level) for level in levels)
    return f"{there}, complete" if there >= asked else f"{there} of {asked}: {asked - there} missing"


def commands(measured: Measurements) -> list[str]:
    """The commands that run the same sweep again."""
    sweep = measured.sweep
    # Which file another sweep was read from nothing here tells.
    name = measured.study[1].file if measured.study else "SWEEP.toml"
    values = {AGENT: measured.agents, **{axis: measured.values(axis) for axis in measured.axes}}
    fixed = {key: [str(value)] for key, value in sweep.get("set", {}).items()}
    settings = [f"--set {key}={','.join(chosen)}" for key, chosen in {**values, **fixed}.items()]
    run = " ".join(["roambus sweep", name, *settings, f"--seeds {measured.seeds}", "--out DIR"])
    return [run, "roambus aggregate DIR", "roambus figures DIR"]


# The metrics of every point


def metrics_table(measured: Measurements) -> Table:
    """A row a point, a column a metric that was measured anywhere."""
    present = set(measured.points[METRIC])
    chosen = {metric.column: metric.title for metric in measured.metrics if metric.column in present}
    return _table(measured, chosen)


def table_of(measured: Measurements, metrics: Sequence[str]) -> Table:
    """A row a point, a column for each of these metrics."""
    return _table(measured, {metric: measured.title(metric) for metric in metrics})


def sent_table(measured: Measurements) -> Table:
    """A row a point, a column a message type that was ever sent."""
    sent = measured.points[measured.points[METRIC].str.startswith(catalogue.SENT_PREFIX) & (measured.points[MEAN] > 0)]
    return _table(measured, {name: name.removeprefix(catalogue.SENT_PREFIX) for name in sent[METRIC].unique()})


def _table(measured: Measurements, columns: dict[str, str]) -> Table:
    places = [AGENT, *measured.axes]
    cells = measured.points.assign(cell=[format_mean(*pair) for pair in zip(*_mean_and_width(measured), strict=True)])
    wide = cells.pivot(index=places, columns=METRIC, values="cell").reindex(columns=list(columns)).fillna("")
    order = {axis: {value: rank for rank, value in enumerate(measured.values(axis))} for axis in places}
    ordered = wide.reset_index().sort_values(places, key=lambda column: column.map(order[str(column.name)]))
    points = [{axis: str(row[axis]) for axis in places} for row in ordered[places].to_dict("records")]
    ordered[AGENT] = ordered[AGENT].map(agent_name)
    return Table(len(places), [*map(heading, places), *columns.values()], ordered.to_numpy().tolist(), points)


def _mean_and_width(measured: Measurements) -> tuple[pd.Series[float], pd.Series[float]]:
    return measured.points[MEAN], measured.points[HALF_WIDTH]


def format_mean(mean: float, half_width: float) -> str:
    """Mean and half width, with as many decimals as the mean deserves: "0.912 ± 0.034"."""
    decimals = max(0, 3 - math.ceil(math.log10(abs(mean)))) if mean and abs(mean) < 1000 else 0
    decimals = min(decimals, 4)
    interval = "" if math.isnan(half_width) else f" ± {half_width:,.{decimals}f}"
    return f"{mean:,.{decimals}f}{interval}"
