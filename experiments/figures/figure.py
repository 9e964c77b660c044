"""What pictures show: lines of means with intervals, or single observations, looked up and ready to be drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from roambus.experiments.figures.intervals import NAMES, interval
from roambus.spark.metrics.catalogue import Scale


@dataclass(frozen=True, slots=True)
class Series:
    """A line: at each x a mean, half the width of its 95 % interval (NaN if there is none), and its number of seeds.

    `place` is what all its points have in common: the agent, and values of axes.
    """

    label: str
    x: tuple[str, ...]
    mean: tuple[float, ...]
    half_width: tuple[float, ...]
    seeds: tuple[int, ...]
    place: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Figure:
    """What a picture shows; `x_values` are all places on the x axis."""

    name: str
    title: str
    x_title: str
    y_title: str
    x_values: tuple[str, ...]
    series: tuple[Series, ...]
    scale: Scale = Scale.FROM_ZERO

    @property
    def logarithmic(self) -> bool:
        """Whether the vertical axis is logarithmic."""
        return self.scale is Scale.LOGARITHMIC

    def ends(self, series: Series) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """The lower and the upper ends of the intervals of a line."""
        found = [interval(*pair, self.scale) for pair in zip(series.mean, series.half_width, strict=True)]
        return tuple(low for low, _ in found), tuple(high for _, high in found)

    @property
    def caption(self) -> str:
        """What stands beside the figure."""
        kind = NAMES.get(self.scale, "t-intervals")
        has_intervals = any(n > 1 for series in self.series for n in series.seeds)
        return f"{self.title}; {self.intervals}{f' ({kind})' if has_intervals else ''}."

    @property
    def intervals(self) -> str:
        """What the error bars are, for titles and captions."""
        counts = sorted({n for series in self.series for n in series.seeds})
        seeds = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
        if counts == [1]:
            return "1 seed, so without intervals"
        return f"means of {seeds} seeds with 95 % intervals"


@dataclass(frozen=True, slots=True)
class Dots:
    """Single observations: as many x as y, and the place that they have in common."""

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    place: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DotFigure:
    """What a picture of single observations shows; both axes are numbers."""

    name: str
    title: str
    x_title: str
    y_title: str
    series: tuple[Dots, ...]
    logarithmic: bool = False

    @property
    def intervals(self) -> str:
        """The number of observations: they have no intervals."""
        return f"{sum(len(dots.x) for dots in self.series):,} single observations"

    @property
    def caption(self) -> str:
        """What stands beside the figure."""
        return f"{self.title}; {self.intervals}."


@dataclass(frozen=True, slots=True)
class CurveFigure:
    """What a picture of curves shows: a distribution, or with `is_time` something over the time of runs."""

    name: str
    title: str
    x_title: str
    y_title: str
    series: tuple[Dots, ...]
    seeds: int
    is_time: bool = False

    @property
    def logarithmic(self) -> bool:
        """Whether the horizontal axis is logarithmic: delays that spread over more than two decades."""
        values = [x for dots in self.series for x in dots.x if x > 0]
        return not self.is_time and bool(values) and max(values) > _DECADES * min(values)

    @property
    def intervals(self) -> str:
        """What the curves are made of."""
        kind = "means of" if self.is_time else "all deliveries of"
        return f"{kind} {self.seeds} seed{'s' if self.seeds > 1 else ''}"

    @property
    def caption(self) -> str:
        """What stands beside the figure."""
        return f"{self.title}; {self.intervals}."


_DECADES = 100

Drawn = Figure | DotFigure | CurveFigure
"""Whatever can be drawn."""
