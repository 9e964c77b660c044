"""The data of figures: lines of means with intervals, single observations, or maps.

A plan names a metric, an axis and lines (places in the sweep) before any number is looked up. `look_up` finds the
numbers, and `figure_table` writes them in Markdown. A sweep without a study has `plans_of_any_sweep`, one for each
metric.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd

from roambus.bridge.runs.layout import AGENT, LACKING, SEED
from roambus.experiments.measurements import Measurements, axis_title, format_mean, markdown_table, rows_at
from roambus.spark.aggregation.aggregate import HIGH, LOW, MEAN, N
from roambus.spark.metrics.catalogue import Scale, Support


@dataclass(frozen=True, slots=True)
class Line:
    """A plan's line: the points at `place`, of the plan's metric unless it has its own."""

    label: str
    place: dict[str, str]
    metric: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """A figure: a metric over the axis `x`, with the metric's title and scale unless it has its own."""

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
    """A figure of observations: columns `x` and `y` of a study's table, a line for each place."""

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
    return [Line(measured.agent_name(agent), {**place, AGENT: agent}) for agent in measured.agents]


def cut(measured: Measurements, axis: str, wanted: str) -> str:
    """The value at which an axis is cut: the wanted one, or the last."""
    return wanted if wanted in measured.values(axis) else measured.values(axis)[-1]


def slug(text: str) -> str:
    """The text as a part of a file's name."""
    return re.sub(r"[^\w.+-]|_", "-", text)


def plans_over(
    x: str, metrics: Sequence[str], name: str, title: str, x_title: str = ""
) -> Callable[[Measurements], Iterator[Plan]]:
    """A figure for each metric over one axis, a line for each agent; names hold {metric} and {title}."""

    def plans(measured: Measurements) -> Iterator[Plan]:
        for metric in metrics:
            called, titled = name.format(metric=slug(metric)), title.format(title=measured.title(metric))
            yield Plan(called, titled, metric, x, agent_lines(measured, {}), x_title=x_title)

    return plans


NAMES = {
    Support.ANY: "t-intervals",
    Support.POSITIVE: "t-intervals on the logarithmic scale",
    Support.SHARE: "t-intervals on the logit scale",
}
"""The captions' words for the intervals of a metric."""


@dataclass(frozen=True, slots=True)
class Series:
    """A line: at each x a mean, its 95 % interval (or NaN), and the number of seeds."""

    label: str
    x: tuple[str, ...]
    mean: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    seeds: tuple[int, ...]
    place: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Shown(ABC):
    """The parts of every picture."""

    name: str
    title: str
    x_title: str
    y_title: str

    @property
    @abstractmethod
    def intervals(self) -> str:
        """A description of the error bars for titles and captions."""

    @property
    def caption(self) -> str:
        """The caption."""
        return f"{self.title}; {self.intervals}."


@dataclass(frozen=True, slots=True)
class Figure(Shown):
    """Lines of means over an axis; `x_values` are all places on it."""

    x_values: tuple[str, ...]
    series: tuple[Series, ...]
    scale: Scale = Scale.FROM_ZERO
    within: Support = Support.ANY

    @property
    def logarithmic(self) -> bool:
        """Whether the vertical axis is logarithmic."""
        return self.scale is Scale.LOGARITHMIC

    @property
    def caption(self) -> str:
        """The caption, with the kind of the intervals if any."""
        has_intervals = any(n > 1 for series in self.series for n in series.seeds)
        return f"{self.title}; {self.intervals}{f' ({NAMES[self.within]})' if has_intervals else ''}."

    @property
    def intervals(self) -> str:
        """The number of seeds, of which one alone has no intervals."""
        counts = sorted({n for series in self.series for n in series.seeds})
        if counts == [1]:
            return "1 seed, so without intervals"
        seeds = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
        return f"means of {seeds} seeds with 95 % intervals"


@dataclass(frozen=True, slots=True)
class Dots:
    """Observations, as many x as y, and their common place."""

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    place: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DotFigure(Shown):
    """A picture of single observations; both axes are numbers."""

    series: tuple[Dots, ...]
    logarithmic: bool = False

    @property
    def intervals(self) -> str:
        """The number of observations: they have no intervals."""
        return f"{sum(len(dots.x) for dots in self.series):,} single observations"


@dataclass(frozen=True, slots=True)
class CurveFigure(Shown):
    """A picture of curves: a distribution, or with `is_time` a rate over time."""

    series: tuple[Dots, ...]
    seeds: int
    is_time: bool = False

    @property
    def logarithmic(self) -> bool:
        """Whether the horizontal axis is logarithmic: delays span more than two decades."""
        values = [x for dots in self.series for x in dots.x if x > 0]
        return not self.is_time and bool(values) and max(values) > _DECADES * min(values)

    @property
    def intervals(self) -> str:
        """The observations behind the curves."""
        kind = "means of" if self.is_time else "all deliveries of"
        return f"{kind} {self.seeds} seed{'s' if self.seeds > 1 else ''}"


_DECADES = 100


@dataclass(frozen=True, slots=True)
class Cell:
    """A map's field: its agent ("" for none), its text, and whether it is sure."""

    agent: str
    words: tuple[str, ...]
    is_sure: bool = True


@dataclass(frozen=True, slots=True)
class MapFigure(Shown):
    """A map of the best agents: for each panel, cells at places (x, y)."""

    x_values: tuple[str, ...]
    y_values: tuple[str, ...]
    panels: Mapping[str, Mapping[tuple[str, str], Cell]]
    intervals: str
    """The meaning of words, colours and hatching."""
    series: tuple[Series, ...] = ()
    """There are no lines, so that a page hides none."""
    logarithmic: bool = False


Lines = Figure | DotFigure | CurveFigure
"""Whatever has axes of its own."""
Drawn = Lines | MapFigure
"""Whatever can be drawn."""


def look_up(measured: Measurements, plan: Plan) -> Figure:
    """The figure with its plan's numbers; without series if none exist."""
    values = tuple(measured.values(plan.x))
    places = tuple(value for value in values if value != LACKING) or values
    series = (_series(measured, line, line.metric or plan.metric, plan.x, places) for line in plan.lines)
    return Figure(
        name=plan.name,
        title=plan.title,
        x_title=plan.x_title or axis_title(plan.x),
        y_title=plan.y_title or measured.title(plan.metric),
        x_values=places,
        series=tuple(line for line in series if line.x),
        scale=plan.scale or measured.metric(plan.metric).scale,
        within=measured.metric(plan.metric).support,
    )


def _series(measured: Measurements, line: Line, metric: str, x: str, places: Sequence[str]) -> Series:
    rows = measured.point(metric, **line.place).set_index(x)
    if list(rows.index) == [LACKING]:  # an agent without the parameter is the same at each of its values
        rows = pd.concat([rows.rename(index={LACKING: place}) for place in places])
    rows = rows.loc[[value for value in places if value in rows.index]]
    means, low, high, seeds = (tuple(rows[column]) for column in (MEAN, LOW, HIGH, N))
    return Series(line.label, tuple(rows.index), means, low, high, seeds, line.place)


def look_up_dots(measured: Measurements, plan: DotPlan) -> DotFigure:
    """The figure with its plan's observations; without series if none exist."""
    table = measured.tables[plan.table].astype({SEED: str})
    rows = [(line, rows_at(table, line.place)) for line in plan.lines]
    series = (Dots(line.label, tuple(found[plan.x]), tuple(found[plan.y]), line.place) for line, found in rows)
    found = tuple(dots for dots in series if dots.x)
    return DotFigure(plan.name, plan.title, plan.x_title, plan.y_title, found, plan.logarithmic)


def figure_table(figure: Figure) -> str:
    """A row for each line, a column for each x, empty where nothing was measured."""
    rows = []
    for series in figure.series:
        cells = dict(zip(series.x, map(format_mean, series.mean, series.low, series.high), strict=True))
        rows.append([series.label, *(cells.get(x, "") for x in figure.x_values)])
    return markdown_table([figure.x_title, *figure.x_values], rows)


def plans_of_any_sweep(measured: Measurements) -> Iterator[Plan]:
    """A figure for each metric over the first axis, a line for each agent and second-axis value."""
    x, *others = measured.axes or [AGENT]
    place = {axis: measured.values(axis)[0] for axis in others[1:]}
    lines = _lines(measured, others[0], place) if others else agent_lines(measured, {})
    if not measured.axes:
        lines = [Line("", {})]
    at = "".join(f", {axis} {value}" for axis, value in place.items())
    for metric in measured.metrics:
        yield Plan(slug(metric.column), metric.axis_title + at, metric.column, x, lines)


def _lines(measured: Measurements, axis: str, place: dict[str, str]) -> list[Line]:
    return [
        Line(f"{measured.agent_name(agent)}, {axis} {value}", {**place, AGENT: agent, axis: value})
        for agent in measured.agents
        for value in measured.values(axis)
    ]
