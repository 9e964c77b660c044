"""Says what figures are to show, before any number is looked up.

A plan names a metric, an axis and lines. A line is a place in the sweep: an agent and the values of the other axes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from roambus.bridge.runs.layout import AGENT
from roambus.experiments.measurements.measurements import Measurements
from roambus.experiments.measurements.names import agent_name
from roambus.spark.metrics.catalogue import Scale


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a plan: the points at `place`, of the plan's metric unless the line has its own."""

    label: str
    place: dict[str, str]
    metric: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """A figure: a metric over the axis `x`, drawn by the metric's own title and scale unless the plan has others."""

    name: str
    title: str
    metric: str
    x: str
    lines: list[Line]
    y_title: str = ""
    scale: Scale | None = None
    x_title: str = ""
    """The title of the horizontal axis; empty for the axis' own."""


@dataclass(frozen=True, slots=True)
class DotPlan:
    """A figure of single observations, with the columns `x` and `y` of a study's table.

    A line is a place, which can name agent, axes and seed.
    """

    name: str
    title: str
    table: str
    x: str
    y: str
    lines: list[Line]
    x_title: str
    y_title: str
    logarithmic: bool = False


def agent_lines(measured: Measurements, place: dict[str, str]) -> list[Line]:
    """A line for each agent."""
    return [Line(agent_name(agent), {**place, AGENT: agent}) for agent in measured.agents]


def cut(measured: Measurements, axis: str, wanted: str) -> str:
    """The value at which an axis is cut: the one wanted, or the last that there is."""
    values = measured.values(axis)
    return wanted if wanted in values else values[-1]


def slug(text: str) -> str:
    """The text as a part of a file's name."""
    return re.sub(r"[^\w.+-]|_", "-", text)
