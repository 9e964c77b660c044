"""The thesis' figures 4.4 to 4.8 with intervals, and figures of any other sweep: planned here, drawn in `plot`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from string import ascii_lowercase

from bridge.errors import UserError
from experiments.figure_plan import Line, Plan, agent_lines, agent_name, cut, slug
from experiments.measurements import (
    CONFIG,
    SPEED,
    SUBSCRIPTIONS,
    THESIS_CONFIG,
    THESIS_SPEED,
    Measurements,
    read_measurements,
)
from experiments.migration_cost import TABLE_FILE, migration_plans, migration_table
from experiments.plot import Figure, Series, draw
from spark import catalogue
from spark.layout import AGENT, FIGURES_FOLDER
from spark.points import HALF_WIDTH, MEAN, N
from spark.tables import replace_file

_AXIS_TITLES = {CONFIG: "configuration", SPEED: "speed (m/s)", SUBSCRIPTIONS: "subscriptions a subscriber"}
_LOGARITHMIC = (
    catalogue.DELAY_MEAN_S,
    catalogue.MESSAGES_PER_NODE,
    catalogue.MESSAGES_PER_MIGRATION,
    catalogue.BYTES_PER_MIGRATION,
    catalogue.MIGRATION_MESSAGE_MEAN_B,
)
_SHARES = (catalogue.DELIVERY_RATE_THESIS, catalogue.DELIVERY_RATE_ALL)
_ROLES = {
    "brokers": catalogue.MESSAGES_PER_BROKER,
    "subscribers": catalogue.MESSAGES_PER_SUBSCRIBER,
    "publishers": catalogue.MESSAGES_PER_PUBLISHER,
}


def draw_figures(results: Path) -> list[Path]:
    """Draws every figure that the metrics below `results` allow, as PNG and SVG; returns the files.

    What migrations cost has a table beside its figures. Raises UserError if there are no metrics, or nowhere to write.
    """
    folder = results / FIGURES_FOLDER
    measured = read_measurements(results)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        drawn = [path for figure in plan_figures(measured) for path in draw(figure, folder)]
        return [*drawn, *_write_table(measured, folder)]
    except OSError as error:
        raise UserError(f"{folder}: {error.strerror or error}: make room or give a folder you can write to") from None


def plan_figures(measured: Measurements) -> list[Figure]:
    """The figures of a sweep, in the order of the report; those without any value are left out."""
    figures = (look_up(measured, plan) for plan in _plans(measured))
    return [figure for figure in figures if figure.series]


def _plans(measured: Measurements) -> Iterator[Plan]:
    if measured.is_thesis():
        return _thesis_plans(measured)
    return migration_plans(measured) if measured.is_migration_cost() else _generic_plans(measured)


def _write_table(measured: Measurements, folder: Path) -> list[Path]:
    if not measured.is_migration_cost():
        return []
    table, file = migration_table(measured), folder / TABLE_FILE
    replace_file(file, lambda path: path.write_text(table, encoding="utf-8"))
    return [file]


# The thesis' figures


def _thesis_plans(measured: Measurements) -> Iterator[Plan]:
    speed, config = cut(measured, SPEED, THESIS_SPEED), cut(measured, CONFIG, THESIS_CONFIG)
    at_speed = f"at {speed} m/s" + ("" if speed == THESIS_SPEED else f" (in the thesis: {THESIS_SPEED} m/s)")
    at_config = f"at {config}" + ("" if config == THESIS_CONFIG else f" (in the thesis: {THESIS_CONFIG})")
    by_config, by_speed = agent_lines(measured, {SPEED: speed}), agent_lines(measured, {CONFIG: config})
    yield from _delivery_rates(measured, catalogue.DELIVERY_RATE_THESIS, "")
    yield from _delivery_rates(measured, catalogue.DELIVERY_RATE_ALL, "-all")
    yield _numbered("4.5a", catalogue.DELIVERED, at_speed, CONFIG, by_config)
    yield _numbered("4.5b", catalogue.DELIVERED, at_config, SPEED, by_speed)
    yield _numbered("4.6", catalogue.DELAY_MEAN_S, at_speed, CONFIG, by_config)
    yield _numbered("4.7a", catalogue.HOPS_MEAN, at_speed, CONFIG, by_config)
    yield _numbered("4.7b", catalogue.HOPS_MAX, at_speed, CONFIG, by_config)
    yield _numbered("4.8", catalogue.MESSAGES_PER_NODE, at_speed, CONFIG, by_config)
    yield from _messages_by_role(measured, speed, at_speed)
    title = f"Energy per node {at_speed}"
    yield Plan("energy-per-node", title, catalogue.ENERGY_PER_NODE_MJ, CONFIG, by_config)


def _numbered(number: str, metric: str, at: str, x: str, lines: list[Line]) -> Plan:
    return Plan(f"figure-{number}", f"Figure {number}: {catalogue.TITLES[metric]} {at}", metric, x, lines)


def _delivery_rates(measured: Measurements, metric: str, suffix: str) -> Iterator[Plan]:
    """Figure 4.4: a panel an agent, a line a speed."""
    for letter, agent in zip(ascii_lowercase, measured.agents, strict=False):
        lines = [Line(f"{speed} m/s", {AGENT: agent, SPEED: speed}) for speed in measured.values(SPEED)]
        title = f"Figure 4.4{letter}: {catalogue.TITLES[metric]}, {agent_name(agent)}"
        yield Plan(f"figure-4.4{letter}{suffix}", title, metric, CONFIG, lines)


def _messages_by_role(measured: Measurements, speed: str, at_speed: str) -> Iterator[Plan]:
    """A panel an agent, a line a role."""
    for agent in measured.agents:
        lines = [Line(role, {AGENT: agent, SPEED: speed}, metric) for role, metric in _ROLES.items()]
        title = f"Messages per node by role, {agent_name(agent)}, {at_speed}"
        yield Plan(f"messages-by-role-{slug(agent)}", title, catalogue.MESSAGES_PER_NODE, CONFIG, lines)


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
        x_title=_AXIS_TITLES.get(plan.x, plan.x),
        y_title=plan.y_title or catalogue.TITLES[plan.metric],
        x_values=tuple(measured.values(plan.x)),
        series=tuple(line for line in series if line.x),
        logarithmic=plan.logarithmic or plan.metric in _LOGARITHMIC,
        share=plan.metric in _SHARES,
        from_zero=plan.metric != catalogue.ENERGY_PER_NODE_MJ,
    )


def _series(measured: Measurements, line: Line, metric: str, x: str) -> Series:
    rows = measured.point(metric, **line.place).set_index(x)
    rows = rows.loc[[value for value in measured.values(x) if value in rows.index]]
    return Series(line.label, tuple(rows.index), tuple(rows[MEAN]), tuple(rows[HALF_WIDTH]), tuple(rows[N]))
