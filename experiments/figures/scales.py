"""The vertical axes of figures: each shows all that there is to show, and tells apart what differs.

Rates that crowd near 0 or 1 get a folded scale, which is the logit with an offset: it tells 0.96 from 0.99 as clearly
as 0.5 from 0.8, and 0 and 1 themselves have places on it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from roambus.experiments.figures.plain_matplotlib import Axes, FixedLocator, FuncFormatter, LogLocator, NullLocator
from roambus.spark.metrics.catalogue import Scale

_MARGIN = 0.05
"""Of the height, above what is drawn highest and below what is drawn lowest."""
_OFFSET = 0.004
"""How far beyond 0 and 1 the folded scale ends."""
_CROWDED, _CROWD = 0.1, 0.5
"""Rates crowd if such a part of them is so near to 0 or 1."""
_TICKS = (0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 1)
_DECADE = 10


def crowds(rates: Sequence[float]) -> bool:
    """Whether a linear axis could not tell most of these rates apart."""
    near = sum(min(rate, 1 - rate) <= _CROWDED for rate in rates)
    return bool(rates) and all(0 <= rate <= 1 for rate in rates) and near > _CROWD * len(rates)


def folded(rate: ArrayLike) -> NDArray[np.float64]:
    """The place of a rate on the folded scale."""
    inside = np.clip(np.asarray(rate, dtype=float), -_OFFSET * 0.99, 1 + _OFFSET * 0.99)
    return np.asarray(np.log((inside + _OFFSET) / (1 - inside + _OFFSET)))


def unfolded(place: ArrayLike) -> NDArray[np.float64]:
    """The rate at a place of the folded scale."""
    odds = np.exp(np.asarray(place, dtype=float))
    return np.asarray((odds * (1 + _OFFSET) - _OFFSET) / (1 + odds))


def set_scale(axes: Axes, scale: Scale, values: Sequence[float], rates: Sequence[float]) -> str:
    """Makes the vertical axis show `values`; `rates` are the means among them. Returns what its title adds."""
    low, high = min(values), max(values)
    if scale is Scale.LOGARITHMIC and low > 0:
        return _logarithmic(axes, low, high)
    axes.ticklabel_format(axis="y", useOffset=False)  # an offset at the end of the axis is easily overlooked
    if scale is Scale.SHARE and crowds(rates):
        return _folded(axes, low, high)
    if scale is Scale.SHARE:
        axes.set_ylim(min(0.0, low), max(1.0, high))
        return ""
    bottom = 0.0 if scale is not Scale.CUT and low >= 0 else low - _MARGIN * ((high - low) or 1.0)
    axes.set_ylim(bottom, high + _MARGIN * ((high - bottom) or 1.0))
    return ""


def _folded(axes: Axes, low: float, high: float) -> str:
    """Begins and ends at ticks, so that the reader sees where."""
    axes.set_yscale("function", functions=(folded, unfolded))
    bottom = max((tick for tick in _TICKS if tick <= low + 1e-9), default=0.0)
    top = min((tick for tick in _TICKS if tick >= high - 1e-9), default=1.0)
    if bottom == top:
        bottom, top = max(0.0, bottom - 0.05), min(1.0, top + 0.05)
    axes.set_ylim(bottom, top)
    axes.yaxis.set_major_locator(FixedLocator([tick for tick in _TICKS if bottom <= tick <= top]))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_locator(NullLocator())
    return ", logit scale"


def _logarithmic(axes: Axes, low: float, high: float) -> str:
    reach = (high / low) ** _MARGIN
    axes.set_yscale("log")
    axes.set_ylim(low / max(reach, 1.05), high * max(reach, 1.05))
    subs = (1, 2, 5) if high / low > 2 * _DECADE else (1, 1.5, 2, 3, 5, 7)
    axes.yaxis.set_major_locator(LogLocator(subs=subs))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    axes.yaxis.set_minor_locator(NullLocator())
    return ", logarithmic"
