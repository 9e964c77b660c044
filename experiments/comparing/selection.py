"""The agents, metrics, axes and values of results by name; an unknown name is an error that lists them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd

from roambus.bridge.runs.layout import AGENT, LACKING, MEASURE
from roambus.bridge.system.errors import UserError
from roambus.experiments.inventory import unknown_metric
from roambus.experiments.measurements import Measurements
from roambus.python_protocol.settings import unknown
from roambus.spark.aggregation.aggregate import METRIC
from roambus.spark.metrics.catalogue import MAIN_METRICS, METRICS

_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]{1,2})?")

Where = Mapping[str, Sequence[str]]
"""The values that axes are narrowed to, as texts."""


def titles(measured: Measurements) -> dict[str, str]:
    """The titles of comparable metrics, without message types that a terminal could not show."""
    return {metric.column: metric.axis_title for metric in measured.comparable() if metric.column.isprintable()}


def check_metric(measured: Measurements, metric: str) -> None:
    """Raises UserError unless these runs have that metric."""
    check_known(measured, metric)
    if metric not in set(measured.points[METRIC]):
        raise UserError(f"none of these runs has {metric}: {measured.metric(metric).meaning}")


def check_known(measured: Measurements, metric: str) -> None:
    """Raises UserError for a metric that no run of this kind can have, with the option that adds it."""
    known = titles(measured)
    if metric in known:
        return
    own = [file for file in measured.sweep.get(MEASURE, ()) if not measured.metrics[len(METRICS) :]]
    hint = f"; the sweep's own metrics need {' '.join(f'--measure {file}' for file in own)}" if own else ""
    raise UserError(unknown_metric(metric, known) + hint)


def check_places(measured: Measurements, agents: Sequence[str], against: str | None, where: Where) -> None:
    """Raises UserError for an agent, an axis or a value that these runs lack."""
    find_axis(narrow(measured, agents, where), against)


def main_metrics(measured: Measurements) -> list[str]:
    """These runs' main metrics; raises UserError without any."""
    present = set(measured.points[METRIC])
    chosen = [metric for metric in MAIN_METRICS if metric in present]
    if not chosen:
        raise UserError(f"these runs have none of {', '.join(MAIN_METRICS)}: choose a metric")
    return chosen


def find_axis(measured: Measurements, axis: str | None) -> str:
    """The axis of that name, or the first that varies, or else the agents. Raises UserError."""
    axes = measured.axes
    if axis is None:
        return next((name for name in axes if len(measured.values(name)) > 1), AGENT)
    if axis not in (*axes, AGENT):
        titled = (name for name in axes if axis in (title := measured.axis_title(name), title.partition(" (")[0]))
        meant = "".join(f"; figures call {name} so: give {name}" for name in titled)
        raise UserError(unknown("axis", axis, dict.fromkeys([*axes, AGENT])) + meant)
    return axis


def narrow(measured: Measurements, agents: Sequence[str], where: Where) -> Measurements:
    """Keep these agents (none: all), in this order, at these values; raises UserError if no run is left."""
    for agent in agents:
        _choose("agent", agent, measured.agents)
    places = {axis: _values(measured, axis, wanted) for axis, wanted in where.items()}
    places[AGENT] = list(dict.fromkeys(agents)) or measured.agents
    runs, points = (_at(table, places) for table in (measured.runs, measured.points))
    if runs.empty:
        wanted = ", ".join(f"{axis} {' or '.join(values)}" for axis, values in places.items())
        raise UserError(f"there is no run of {wanted}")
    return replace(measured, runs=runs, points=points, sweep={**measured.sweep, "agents": dict.fromkeys(places[AGENT])})


def _values(measured: Measurements, axis: str, wanted: Sequence[str]) -> list[str]:
    if axis not in measured.axes:
        raise UserError(unknown("axis", axis, dict.fromkeys(measured.axes)))
    known = measured.values(axis)
    lacking = [LACKING] if LACKING in known else []  # an agent without the parameter is the same at each value
    return list(dict.fromkeys([*(_choose(f"value of {axis}", value, known) for value in wanted), *lacking]))


def _choose(kind: str, wanted: str, known: Sequence[str]) -> str:
    if wanted in known:
        return wanted
    number = as_number(wanted)
    chosen = next((name for name in known if number is not None and as_number(name) == number), None)
    if chosen is None:
        raise UserError(unknown(kind, wanted, dict.fromkeys(known)))
    return chosen


def as_number(text: str) -> float | None:
    """The number in a text, or None."""
    return float(text) if _NUMBER.fullmatch(text) else None


def _at(table: pd.DataFrame, places: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    for column, values in places.items():
        table = table[table[column].isin(values)]
    return table
