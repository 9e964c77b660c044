"""Looks up the numbers of a plan's lines in what was measured, which makes the plan a figure."""

from __future__ import annotations

from roambus.bridge.runs.layout import SEED
from roambus.experiments.figures.figure import DotFigure, Dots, Figure, Series
from roambus.experiments.figures.plans import DotPlan, Line, Plan
from roambus.experiments.measurements.measurements import Measurements
from roambus.experiments.measurements.names import axis_title
from roambus.spark.aggregation.points import HALF_WIDTH, MEAN, N


def look_up(measured: Measurements, plan: Plan) -> Figure:
    """The figure with the numbers of its plan; without series if there are none."""
    series = (_series(measured, line, line.metric or plan.metric, plan.x) for line in plan.lines)
    return Figure(
        name=plan.name,
        title=plan.title,
        x_title=plan.x_title or axis_title(plan.x),
        y_title=plan.y_title or measured.title(plan.metric),
        x_values=tuple(measured.values(plan.x)),
        series=tuple(line for line in series if line.x),
        scale=plan.scale or measured.metric(plan.metric).scale,
    )


def _series(measured: Measurements, line: Line, metric: str, x: str) -> Series:
    rows = measured.point(metric, **line.place).set_index(x)
    rows = rows.loc[[value for value in measured.values(x) if value in rows.index]]
    means, widths, seeds = (tuple(rows[column]) for column in (MEAN, HALF_WIDTH, N))
    return Series(line.label, tuple(rows.index), means, widths, seeds, line.place)


def look_up_dots(measured: Measurements, plan: DotPlan) -> DotFigure:
    """The figure with the observations of its plan; without series if there are none."""
    series = (_dots(measured, line, plan) for line in plan.lines)
    found = tuple(dots for dots in series if dots.x)
    return DotFigure(plan.name, plan.title, plan.x_title, plan.y_title, found, plan.logarithmic)


def _dots(measured: Measurements, line: Line, plan: DotPlan) -> Dots:
    rows = measured.tables[plan.table].astype({SEED: str})
    for column, value in line.place.items():
        rows = rows[rows[column] == value]
    return Dots(line.label, tuple(rows[plan.x]), tuple(rows[plan.y]), line.place)
