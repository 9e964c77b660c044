"""The scale of a vertical axis, and as many ticks on it as have room.

Axes hold all intervals and begin at 0 where lengths are compared. Rates near 0 or 1 get a folded scale (logit with
offset); a non-linear axis says so. Every axis has numbers, however many decades it spans and however low it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, Locator, NullLocator
from numpy.typing import ArrayLike, NDArray

from roambus.spark.metrics.metric import Scale

_MARGIN = 0.05
"""The free share of the height above the highest and below the lowest mark."""
_OFFSET = 0.004
"""How far beyond 0 and 1 the folded scale's infinity lies: smaller gives extreme rates more room."""
_CROWDED, _CROWD = 0.1, 0.5
"""Rates crowd if such a part is so near to 0 or 1."""
# The same distances from 0 and from 1, because the scale is the same at both ends.
_TICKS = (0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 1)
_DECADE = 10
_DIGITS = ((1, 1.5, 2, 3, 5, 7), (1, 2, 5), (1,))
"""The first digits of a logarithmic axis' ticks, from the finest."""
_FEWEST_TICKS = 2
_LINE = 1.1
"""The least distance of two ticks, in letter heights."""
CUT = ", axis not from 0"
"""The end of the title of an axis on which lengths cannot be compared."""
FOLDED, LOGARITHMIC = ", logit scale", ", logarithmic"
"""The ends of the titles of axes that are not linear."""
# In full: an offset or a power at the end of the axis is easily overlooked.
_NUMBERS = FuncFormatter(lambda value, _: f"{value:,.10g}".replace("-", "\N{MINUS SIGN}"))

Ticks = Callable[[float, float, float], list[float]]
"""The ticks from a low to a high value that are at least a share of the axis apart."""


def crowds(rates: Sequence[float]) -> bool:
    """Whether a linear axis could not separate most of these rates."""
    near = sum(min(rate, 1 - rate) <= _CROWDED for rate in rates)
    return bool(rates) and all(0 <= rate <= 1 for rate in rates) and near > _CROWD * len(rates)


def folded(rate: ArrayLike) -> NDArray[np.float64]:
    """A rate's place on the folded scale, clipped to its ends."""
    inside = np.clip(np.asarray(rate, dtype=float), -_OFFSET * 0.99, 1 + _OFFSET * 0.99)
    return np.asarray(np.log((inside + _OFFSET) / (1 - inside + _OFFSET)))


def unfolded(place: ArrayLike) -> NDArray[np.float64]:
    """The rate at a place of the folded scale."""
    odds = np.exp(np.asarray(place, dtype=float))
    return np.asarray((odds * (1 + _OFFSET) - _OFFSET) / (1 + odds))


def folded_ends(low: float, high: float) -> tuple[float, float]:
    """The ends of a folded axis that holds rates from `low` to `high`."""
    bottom = max((tick for tick in _TICKS if tick <= low + 1e-9), default=0.0)
    top = min((tick for tick in _TICKS if tick >= high - 1e-9), default=1.0)
    return (bottom, top) if bottom < top else (max(0.0, bottom - 0.05), min(1.0, top + 0.05))


def folded_ticks(low: float, high: float, gap: float) -> list[float]:
    """The rates to write on a folded axis; both ends of it if they are among them."""
    within = [tick for tick in _TICKS if low - 1e-9 <= tick <= high + 1e-9]
    if not within:
        return []
    least = gap * float(folded(high) - folded(low))
    kept = [within[0]]
    for tick in within[1:-1]:
        if min(abs(folded(tick) - folded([kept[-1], within[-1]]))) >= least:
            kept.append(tick)
    return [*kept, *within[1:][-1:]]


def decade_ticks(low: float, high: float, gap: float) -> list[float]:
    """The numbers to write on a logarithmic axis: the finest digits that have room, else every so many decades."""
    decades = math.log10(high / low)
    for digits in _DIGITS if high <= 2 * _DECADE * low else _DIGITS[1:]:
        ticks = [*_of_digits(digits, 1, low, high)]
        if len(ticks) >= _FEWEST_TICKS and min(np.diff(np.log10(ticks))) >= gap * decades:
            return ticks
    ticks = [*_of_digits((1,), max(1, math.ceil(gap * decades)), low, high)]
    return ticks if len(ticks) >= _FEWEST_TICKS else _round_ends(low, high)


def _round_ends(low: float, high: float) -> list[float]:
    """The first and the last round number within, of as few digits as separate them."""
    power = math.floor(math.log10((high - low) / 2))
    first, last = math.ceil(low / 10.0**power), math.floor(high / 10.0**power)
    return [float(f"{number}e{power}") for number in (first, last)]


def _of_digits(digits: Sequence[float], step: int, low: float, high: float) -> Iterator[float]:
    first = math.floor(math.log10(low) / step) * step
    for power in range(first, math.ceil(math.log10(high)) + 1, step):
        yield from (tick for digit in digits if low <= (tick := float(f"{digit}e{power}")) <= high)


class _Roomy(Locator):
    """Puts as many ticks on a vertical axis as it has room for, at the size that it is drawn in."""

    def __init__(self, axes: Axes, ticks: Ticks) -> None:
        self._axes, self._ticks = axes, ticks
        self._letters = float(axes.yaxis.get_ticklabels()[0].get_fontsize())

    def __call__(self) -> list[float]:
        """The ticks of the axis as it is now."""
        low, high = sorted(self._axes.get_ylim())
        return self.tick_values(low, high)

    def tick_values(self, vmin: float, vmax: float) -> list[float]:
        """The ticks of an axis with these ends."""
        height = 72 * self._axes.get_window_extent().height / self._axes.figure.dpi
        return self._ticks(vmin, vmax, _LINE * self._letters / height)


def set_scale(axes: Axes, scale: Scale, values: Sequence[float], rates: Sequence[float]) -> str:
    """Make the vertical axis show `values`; `rates` are the means. Return the title's addition."""
    low, high = min(values), max(values)
    if scale is Scale.LOGARITHMIC and low > 0:
        return _logarithmic(axes, low, high)
    axes.yaxis.set_major_formatter(_NUMBERS)
    if scale is Scale.SHARE and crowds(rates):
        return _folded(axes, low, high)
    if scale is Scale.SHARE:
        axes.set_ylim(min(0.0, low), max(1.0, high))
        return ""
    bottom = 0.0 if scale is not Scale.CUT and low >= 0 else low - _MARGIN * ((high - low) or 1.0)
    axes.set_ylim(bottom, high + _MARGIN * ((high - bottom) or 1.0))
    return CUT if bottom > 0 else ""


def _folded(axes: Axes, low: float, high: float) -> str:
    axes.set_yscale("function", functions=(folded, unfolded))
    axes.set_ylim(*folded_ends(low, high))
    _set_ticks(axes, folded_ticks)
    return FOLDED


def _logarithmic(axes: Axes, low: float, high: float) -> str:
    reach = max((high / low) ** _MARGIN, 1.05)
    axes.set_yscale("log")
    axes.set_ylim(low / reach, high * reach)
    _set_ticks(axes, decade_ticks)
    return LOGARITHMIC


def _set_ticks(axes: Axes, ticks: Ticks) -> None:
    axes.yaxis.set_major_locator(_Roomy(axes, ticks))
    axes.yaxis.set_major_formatter(_NUMBERS)
    axes.yaxis.set_minor_locator(NullLocator())
