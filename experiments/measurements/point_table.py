"""Writes tables of what was measured, in Markdown: one for each metric.

A table has a row for each point and a column for each agent.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from roambus.bridge.runs.layout import AGENT
from roambus.experiments.measurements.markdown import markdown_table
from roambus.experiments.measurements.measurements import Measurements
from roambus.experiments.measurements.names import agent_name
from roambus.experiments.measurements.tables import format_mean
from roambus.spark.aggregation.points import HALF_WIDTH, MEAN


def point_table(measured: Measurements, metrics: Sequence[str]) -> str:
    """The tables of these metrics, with means and 95 % intervals."""
    places = list(itertools.product(*(measured.values(axis) for axis in measured.axes)))
    head = [*measured.axes, *map(agent_name, measured.agents)]
    sections = []
    for metric in metrics:
        rows = [[*place, *_cells(measured, metric, place)] for place in places]
        title = measured.title(metric)
        sections.append(f"## {title[0].upper()}{title[1:]}\n\n{markdown_table(head, rows)}")
    return "\n".join(sections)


def _cells(measured: Measurements, metric: str, place: Sequence[str]) -> Iterator[str]:
    """A text for each agent, empty where nothing was measured."""
    where = dict(zip(measured.axes, place, strict=True))
    for agent in measured.agents:
        point = measured.point(metric, **where, **{AGENT: agent})
        yield "".join(format_mean(*pair) for pair in zip(point[MEAN], point[HALF_WIDTH], strict=True))
