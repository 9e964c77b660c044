"""The data of figures: lines of means with intervals.

A plan names a metric, an axis and lines (places in the sweep) before any number is looked up. `look_up` finds the
numbers. A sweep without a study has `plans_of_any_sweep`, one for each
metric.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, Self

import pandas as pd

from roambus.bridge.runs.layout import AGENT, LACKING
from roambus.experiments.measurements import Measurements, rows_at
from roambus.python_protocol.simtime import parse_time, to_seconds
from roambus.spark.aggregation.aggregate import HIGH, LOW, MEAN, N
from roambus.spark.metrics.metric import Scale, Support

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

    from roambus.experiments.figures.style import FigureStyle


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
    """The horizontal axis' title; empty for the axis' own."""


def agent_lines(measured: Measurements, place: dict[str, str]) -> list[Line]:
    """A line for each agent."""
    return [Line(measured.agent_name(agent), {**place, AGENT: agent}) for agent in measured.agents]


def cut(measured: Measurements, axis: str, wanted: str) -> str:
    """The value at which an axis is cut: the wanted one, or the last."""
    return wanted if wanted in measured.values(axis) else measured.values(axis)[-1]


def slug(text: str) -> str:
    """The text as a part of a file's name."""
    return re.sub(r"[^\w.+-]|_", "-", text)


NAMES = {
    Support.ANY: "t-intervals",
    Support.POSITIVE: "t-intervals (computed on the logarithmic scale)",
    Support.SHARE: "intervals of shares (Korn and Graubard)",
}
"""The captions' words for the intervals of a metric."""
_DECADE = 10
FEW = 6
"""With fewer seeds a share's values themselves are drawn."""


_QUANTITY = re.compile(r"[-+]?[\d.]+(?:[eE][-+]?\d+)?\s*(\D+)")
"""A number with its unit."""


def places(values: Sequence[str]) -> dict[str, float]:
    """The values' places on the axis: their numbers, of times or of one unit, or else their order."""
    for read in (float, _seconds, _number_of(values)):
        with suppress(ValueError):
            found = {value: read(value) for value in values}
            if all(map(math.isfinite, found.values())):
                return found
    return {value: float(position) for position, value in enumerate(values)}


def _seconds(value: str) -> float:
    return to_seconds(parse_time(value))


def _number_of(values: Sequence[str]) -> Callable[[str], float]:
    """Reads numbers with a unit, if all values have the same."""
    units = {found and found[1] for found in map(_QUANTITY.fullmatch, values)}
    return lambda value: float(value.removesuffix(next(iter(units)) or "") if len(units) == 1 else value)


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
    values: tuple[tuple[float, ...], ...] = ()
    """At each x the values of the seeds."""


def capital(text: str) -> str:
    """The text as a sentence begins."""
    return text[:1].upper() + text[1:]


def _without_number(caption: str) -> str:
    return capital(re.sub(r"^Figure [\w.]+: ", "", caption))


@dataclass(frozen=True, slots=True)
class Shown(ABC):
    """The parts of every picture."""

    name: str
    title: str
    x_title: str
    y_title: str
    remark: str = field(default="", kw_only=True)
    """The caption's last sentences."""

    @property
    @abstractmethod
    def intervals(self) -> str:
        """A description of the error bars for titles and captions."""

    @property
    def caption(self) -> str:
        """The caption."""
        return self._captioned(self.intervals)

    def _captioned(self, intervals: str) -> str:
        return f"{capital(self.title)}; {intervals}. {self.remark}".rstrip()

    def with_remark(self, text: str) -> Self:
        """The figure whose caption ends with this text, too."""
        return replace(self, remark=f"{self.remark} {text}".strip())

    @property
    def own_caption(self) -> str:
        """The caption for a paper, whose figures have other numbers."""
        return _without_number(self.caption)


@dataclass(frozen=True, slots=True)
class Figure(Shown):
    """Lines of means over an axis; `x_values` are all places on it."""

    x_values: tuple[str, ...]
    series: tuple[Series, ...]
    scale: Scale = Scale.FROM_ZERO
    within: Support = Support.ANY
    labels: Mapping[str, str] = field(default_factory=dict)
    """The x values' texts, if others than they are."""
    beside: tuple[Series, ...] = ()
    """The lines of the figures whose vertical range it shares."""

    @property
    def drawn_scale(self) -> Scale:
        """The scale; means that differ by less than a factor of ten are easier to read on a linear axis."""
        means = [mean for series in self.beside or self.series for mean in series.mean]
        spans_decade = bool(means) and 0 < _DECADE * min(means) <= max(means)
        return Scale.FROM_ZERO if self.scale is Scale.LOGARITHMIC and not spans_decade else self.scale

    @property
    def logarithmic(self) -> bool:
        """Whether the vertical axis is logarithmic."""
        return self.drawn_scale is Scale.LOGARITHMIC

    @property
    def shows_seeds(self) -> bool:
        """Whether each seed's share is drawn in place of intervals, which are wide with few seeds."""
        few = all(n < FEW for series in self.series for n in series.seeds)
        return self.within is Support.SHARE and few and all(series.values for series in self.series)

    @property
    def intervals(self) -> str:
        """The number of seeds and the kind of the intervals; a single seed has none."""
        return f"means of {self._seeds}, and each seed as a point" if self.shows_seeds else self._in_full

    @property
    def table_caption(self) -> str:
        """The caption of a table of its numbers, which has no points."""
        has_intervals = not all(math.isnan(low) for series in self.series for low in series.low)
        where = " after ± or in parentheses" if has_intervals else ""
        return _without_number(self._captioned(f"{self._in_full}{where}"))

    @property
    def _seeds(self) -> str:
        counts = sorted({n for series in self.series for n in series.seeds})
        numbers = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
        return f"{numbers} seed" if counts == [1] else f"{numbers} seeds"

    @property
    def _in_full(self) -> str:
        if self._seeds == "1 seed":
            return "1 seed, so without intervals"
        return f"means of {self._seeds} with 95 % {NAMES[self.within]}"


@dataclass(frozen=True, slots=True)
class OwnFigure(Shown):
    """A figure of a study's own kind, which draws itself."""

    series: ClassVar[tuple[Series, ...]] = ()
    """Empty: a page can hide no lines."""
    logarithmic: ClassVar[bool] = False

    @abstractmethod
    def picture(self, style: FigureStyle) -> Picture:
        """Draw it."""


Drawn = Figure | OwnFigure
"""Anything that can be drawn."""


def look_up(measured: Measurements, plan: Plan) -> Figure:
    """The figure with its plan's numbers; without series if none exist."""
    values = tuple(measured.values(plan.x))
    values = tuple(value for value in values if value != LACKING) or values
    shown = values if plan.x == AGENT else tuple(sorted(values, key=places(values).__getitem__))
    series = (_series(measured, line, line.metric or plan.metric, plan.x, shown) for line in plan.lines)
    return Figure(
        name=plan.name,
        title=plan.title,
        x_title=plan.x_title or measured.axis_title(plan.x),
        y_title=plan.y_title or measured.title(plan.metric),
        x_values=shown,
        series=tuple(line for line in series if line.x),
        scale=plan.scale or measured.metric(plan.metric).scale,
        within=measured.metric(plan.metric).support,
        labels={value: measured.label(plan.x, value) for value in shown},
        remark=oracle_remark(measured, [line.place.get(AGENT, "") for line in plan.lines]),
    )


def oracle_remark(measured: Measurements, agents: Sequence[str]) -> str:
    """The sentence on agents whose publishers need not find the subscribers; empty without one."""
    names = [measured.agent_name(agent) for agent in measured.oracle_agents if agent in agents]
    return f"The scenario gives the publishers of {' and '.join(names)} the list of subscribers." if names else ""


def beside(figures: Sequence[Figure]) -> list[Figure]:
    """The figures; those with the same lines of one metric, such as one of each agent, get one vertical range."""
    kinds = [
        (figure.x_title, figure.y_title, figure.scale, *(line.label for line in figure.series)) for figure in figures
    ]
    groups = {kind: [figure for own, figure in zip(kinds, figures, strict=True) if own == kind] for kind in kinds}
    lines = {kind: tuple(series for figure in group for series in figure.series) for kind, group in groups.items()}
    return [replace(figure, beside=lines[kind]) for kind, figure in zip(kinds, figures, strict=True)]


def _series(measured: Measurements, line: Line, metric: str, x: str, places: Sequence[str]) -> Series:
    rows = measured.point(metric, **line.place).set_index(x)
    if list(rows.index) == [LACKING]:  # an agent without the parameter is the same at each of its values
        rows = pd.concat([rows.rename(index={LACKING: place}) for place in places])
    rows = rows.loc[[value for value in places if value in rows.index]]
    means, low, high, seeds = (tuple(rows[column]) for column in (MEAN, LOW, HIGH, N))
    values = _values(measured, line, metric, x)
    seen = tuple(values.get(place, values.get(LACKING, ())) for place in rows.index)
    return Series(line.label, tuple(rows.index), means, low, high, seeds, line.place, seen)


def _values(measured: Measurements, line: Line, metric: str, x: str) -> dict[str, tuple[float, ...]]:
    """The values of the seeds at each place of a line."""
    runs = rows_at(measured.runs, line.place)
    if metric not in runs:
        return {}
    return {str(place): tuple(of.dropna()) for place, of in runs.groupby(x, sort=False)[metric]}


def plans_of_any_sweep(measured: Measurements) -> Iterator[Plan]:
    """A figure for each metric over the first axis, a line for each agent and second-axis value."""
    x, *others = measured.axes or [AGENT]
    place = {axis: measured.values(axis)[0] for axis in others[1:]}
    lines = _lines(measured, others[0], place) if others else agent_lines(measured, {})
    if not measured.axes:
        lines = [Line("", {})]
    at = "".join(f", {measured.at(axis, value)}" for axis, value in place.items())
    for metric in measured.metrics:
        yield Plan(slug(metric.column), metric.axis_title + at, metric.column, x, lines)


def _lines(measured: Measurements, axis: str, place: dict[str, str]) -> list[Line]:
    return [
        Line(f"{measured.agent_name(agent)}, {measured.at(axis, value)}", {**place, AGENT: agent, axis: value})
        for agent in measured.agents
        for value in measured.values(axis)
    ]
