"""Intervals: how far the mean over seeds may be from the true mean.

Student's interval is right for normal values. Rates near 0 or 1, delays and counts are skewed, so their interval is
made on a logit or logarithmic scale g and carried back (`Metric.support`). There, mean and standard error are the
jackknife's (Tukey, 1958; Miller, 1974, Biometrika 61), from n g(m) - (n - 1) g(m_i), where m_i omits seed i. From six
seeds on, t has n - 2 degrees of freedom (Hinkley, 1977, Biometrika 64; see docs/guide/precision.md). Missing
pseudo-values take the delta method; values outside of the scale take Student's interval.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, logit, stdtrit

from roambus.spark.metrics.catalogue import Support
from roambus.spark.metrics.rows import Floats

CONFIDENCE = 0.95


class Interval(NamedTuple):
    """The ends of an interval; NaN if there is none."""

    low: float
    high: float

    @property
    def half_width(self) -> float:
        """Half of the distance between the ends."""
        return (self.high - self.low) / 2


def interval(values: Sequence[float] | Any, within: Support = Support.ANY, confidence: float = CONFIDENCE) -> Interval:
    """The interval of the mean of these values."""
    if len(values) < 2:
        return Interval(math.nan, math.nan)
    low, high = ends(np.asarray(values, dtype=float)[np.newaxis], within, confidence)
    return Interval(float(low[0]), float(high[0]))


def ends(rows: Floats, within: Support, confidence: float = CONFIDENCE) -> tuple[Floats, Floats]:
    """Return the interval ends of each row's mean; rows have at least two values."""
    size = rows.shape[1]
    mean, error = rows.mean(axis=1), rows.std(axis=1, ddof=1) / math.sqrt(size)
    reach = _quantile(confidence, size - 1) * error
    low, high = mean - reach, mean + reach
    inside = _inside(rows, within) & (error > 0)
    if inside.any():
        on_scale = _on_scale(rows[inside], mean[inside], error[inside], within, confidence)
        low[inside], high[inside] = on_scale
    return np.minimum(low, mean), np.maximum(high, mean)


def _quantile(confidence: float, freedom: Any) -> Any:
    return stdtrit(freedom, (1 + confidence) / 2)


def _inside(rows: Floats, within: Support) -> Any:
    if within is Support.ANY:
        return np.zeros(len(rows), dtype=bool)
    mean = rows.mean(axis=1)
    top = 1.0 if within is Support.SHARE else math.inf
    return (rows.min(axis=1) >= 0) & (rows.max(axis=1) <= top) & (mean > 0) & (mean < top)


_FEWEST = 6
"""With fewer seeds Student's t is wide enough with all degrees of freedom."""
_FARTHEST = 1e300
_NEAR = 1e-12
"""A mean this near to its scale's end differs by rounding only."""


def _on_scale(rows: Floats, mean: Floats, error: Floats, within: Support, confidence: float) -> tuple[Floats, Floats]:
    is_share = within is Support.SHARE
    scale, back = (logit, expit) if is_share else (np.log, np.exp)
    size = rows.shape[1]
    others = (size * mean[:, np.newaxis] - rows) / (size - 1)
    there = others.min(axis=1) > _NEAR * mean
    if is_share:
        there &= others.max(axis=1) < 1 - _NEAR
    pseudo = size * scale(mean)[:, np.newaxis] - (size - 1) * scale(np.where(there[:, np.newaxis], others, 0.5))
    slope = 1 / (mean * (1 - mean)) if is_share else 1 / mean
    centre = np.where(there, pseudo.mean(axis=1), scale(mean))
    spread = np.where(there, pseudo.std(axis=1, ddof=1) / math.sqrt(size), slope * error)
    freedom = np.where(there & (size >= _FEWEST), max(size - 2, _FEWEST - 2), size - 1)
    reach = _quantile(confidence, freedom) * spread
    with np.errstate(over="ignore"):  # an end may be as far away as numbers go
        return back(centre - reach), np.minimum(back(centre + reach), _FARTHEST)
