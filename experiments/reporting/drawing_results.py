"""The figures of results: those that a study plans, or else every metric of the sweep. `plot` draws them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from roambus.bridge.runs.layout import AGENT, FIGURES_FOLDER, SEED
from roambus.bridge.runs.writing import writing
from roambus.experiments.figures.drawing import DotFigure, Dots, Drawn, Figure, Series, draw
from roambus.experiments.figures.plans import DotPlan, Line, Plan, agent_lines, agent_name, slug
from roambus.experiments.measurements.measurements import CONFIG, SPEED, SUBSCRIPTIONS, Measurements
from roambus.experiments.studies.reading import read_results
from roambus.experiments.studies.study import Study
from roambus.spark.aggregation.points import HALF_WIDTH, MEAN, N
from roambus.spark.aggregation.tables import replace_file
from roambus.spark.metrics import catalogue

_AXIS_TITLES = {CONFIG: "configuration", SPEED: "speed (m/s)", SUBSCRIPTIONS: "subscriptions a subscriber"}
_LOGARITHMIC = (
    catalogue.DELAY_MEAN_S,
    catalogue.MESSAGES_PER_NODE,
    catalogue.MESSAGES_PER_MIGRATION,
    catalogue.BYTES_PER_MIGRATION,
    catalogue.MIGRATION_MESSAGE_MEAN_B,
)
_SHARES = (catalogue.DELIVERY_RATE_THESIS, catalogue.DELIVERY_RATE_ALL)


def draw_figures(results: Path, own: Study | None = None) -> list[Path]:
    """Draws every figure that the metrics below `results` allow, as PNG and SVG; returns the files, tables among them.

    `own` is the study that the results are of, if it is none of ours. Raises UserError if there are no metrics, or
    nowhere to write.
    """
    folder = results / FIGURES_FOLDER
    sweeps = read_results(results, own).sweeps
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        drawn = [path for measured in sweeps for figure in all_figures(measured) for path in draw(figure, folder)]
        return [*drawn, *(path for measured in sweeps for path in _write_tables(measured, folder))]


def all_figures(measured: Measurements) -> list[Drawn]:
    """Everything that is drawn of a sweep, in the order of the report; what has no value is left out."""
    plans = measured.study[1].dots(measured) if measured.study else ()
    dotted = [look_up_dots(measured, plan) for plan in plans]
    return [*plan_figures(measured), *(figure for figure in dotted if figure.series)]


def plan_figures(measured: Measurements) -> list[Figure]:
    """The figures of a sweep's metrics, likewise."""
    plans = measured.study[1].plans(measured) if measured.study else _generic_plans(measured)
    figures = [look_up(measured, plan) for plan in plans]
    return [figure for figure in figures if figure.series]


def _write_tables(measured: Measurements, folder: Path) -> Iterator[Path]:
    tables = measured.study[1].tables(measured) if measured.study else {}
    for name, text in tables.items():
        file = folder / name
        replace_file(file, partial(Path.write_text, data=text, encoding="utf-8"))
        yield file


# Any sweep's figures


def _generic_plans(measured: Measurements) -> Iterator[Plan]:
    """A figure a metric over the first axis, a line for each agent and value of the second; others at their first."""
    x, *others = measured.axes or [AGENT]
    place = {axis: measured.values(axis)[0] for axis in others[1:]}
    lines = _generic_lines(measured, others[:1], place)
    at = "".join(f", {axis} {value}" for axis, value in place.items())
    for metric in catalogue.METRICS:
        yield Plan(slug(metric.column), metric.title + at, metric.column, x, lines)


def _generic_lines(measured: Measurements, second: Sequence[str], place: dict[str, str]) -> list[Line]:
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


# From plan to numbers


def look_up(measured: Measurements, plan: Plan) -> Figure:
    """The figure with the numbers of its plan; without series if there are none."""
    series = (_series(measured, line, line.metric or plan.metric, plan.x) for line in plan.lines)
    return Figure(
        name=plan.name,
        title=plan.title,
        x_title=plan.x_title or _AXIS_TITLES.get(plan.x, plan.x),
        y_title=plan.y_title or measured.title(plan.metric),
        x_values=tuple(measured.values(plan.x)),
        series=tuple(line for line in series if line.x),
        logarithmic=plan.logarithmic or plan.metric in _LOGARITHMIC,
        share=plan.share or plan.metric in _SHARES,
        from_zero=plan.metric != catalogue.ENERGY_PER_NODE_MJ,
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
