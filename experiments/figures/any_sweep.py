"""Plans the figures of a sweep that belongs to no study: one for each metric."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from roambus.bridge.runs.layout import AGENT
from roambus.experiments.figures.plans import Line, Plan, agent_lines, slug
from roambus.experiments.measurements.measurements import Measurements
from roambus.experiments.measurements.names import agent_name


def plans_of_any_sweep(measured: Measurements) -> Iterator[Plan]:
    """A figure for each metric over the first axis, with a line for each agent and value of the second axis.

    All other axes are cut at their first value.
    """
    x, *others = measured.axes or [AGENT]
    place = {axis: measured.values(axis)[0] for axis in others[1:]}
    lines = _lines(measured, others[:1], place)
    at = "".join(f", {axis} {value}" for axis, value in place.items())
    for metric in measured.metrics:
        yield Plan(slug(metric.column), metric.axis_title + at, metric.column, x, lines)


def _lines(measured: Measurements, second: Sequence[str], place: dict[str, str]) -> list[Line]:
    if not measured.axes:
        return [Line("", {})]
    if not second:
        return agent_lines(measured, place)
    axis = second[0]
    return [
        Line(f"{agent_name(agent)}, {axis} {value}", {**place, AGENT: agent, axis: value})
        for agent in measured.agents
        for value in measured.values(axis)
    ]
