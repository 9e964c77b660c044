"""Power laws for `benchmarks.growth`: exponents with their standard errors, and the log-log picture."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy import stats

from benchmarks.growth_runs import Case, Cost
from roambus.spark.aggregation.aggregate import replace_file

INCHES, DPI = (11, 4.5), 120


class Power(NamedTuple):
    """y = factor * x ** exponent; `error` is the exponent's standard error."""

    factor: float
    exponent: float
    error: float

    def __str__(self) -> str:
        return f"{self.exponent:.2f} ± {self.error:.2f}"


class Line(NamedTuple):
    """An agent's costs (CPU s a simulated s), and how they and its deliveries grow with x."""

    agent: str
    x: list[float]
    y: list[float]
    cost: Power
    deliveries: Power


def power_law(x: Sequence[float], y: Sequence[float]) -> Power:
    """Least squares on logarithms; all values above 0, at least three different x."""
    fit = stats.linregress(np.log(x), np.log(y))
    return Power(float(np.exp(fit.intercept)), float(fit.slope), float(fit.stderr))


def fitted(costs: Sequence[Cost], x_of: Callable[[Case], float]) -> list[Line]:
    """A line for each agent, in their order."""
    agents = dict.fromkeys(cost.case.agent for cost in costs)
    return [_line(agent, [cost for cost in costs if cost.case.agent == agent], x_of) for agent in agents]


def _line(agent: str, costs: Sequence[Cost], x_of: Callable[[Case], float]) -> Line:
    x, y = [x_of(cost.case) for cost in costs], [cost.per_second for cost in costs]
    carried = [cost.deliveries / cost.case.seconds for cost in costs]
    return Line(agent, x, y, power_law(x, y), power_law(x, carried))


def draw(panels: Mapping[str, Sequence[Line]], path: Path) -> None:
    """A log-log panel for each title of the x axis; raises OSError."""
    picture = Figure(figsize=INCHES, layout="constrained")
    for place, (title, lines) in enumerate(panels.items(), start=1):
        _plot(picture.add_subplot(1, len(panels), place), title, lines)
    replace_file(path, partial(picture.savefig, format="png", dpi=DPI, metadata={"Software": None}))


def _plot(axes: Axes, title: str, lines: Sequence[Line]) -> None:
    for line in lines:
        (drawn,) = axes.loglog(line.x, line.y, "o", label=f"{line.agent}: {line.cost}")
        law = line.cost.factor * np.array(line.x) ** line.cost.exponent
        axes.loglog(line.x, law, "-", color=drawn.get_color(), linewidth=1)
    ticks = sorted({x for line in lines for x in line.x})
    axes.set_xticks(ticks, [f"{x:g}" for x in ticks])
    axes.minorticks_off()
    axes.set_xlabel(title)
    axes.set_ylabel("CPU seconds per simulated second")
    axes.grid(visible=True, color="#dddddd", linewidth=0.6)
    axes.legend(title="exponent", frameon=False)
