"""Intervals: how far the mean over seeds may be from the true mean.

Student's interval is right for normal values. Delays and counts are skewed, so their interval is made on the
logarithmic scale g and carried back (`Metric.support`): mean and standard error are the jackknife's (Miller, 1974,
Biometrika 61), from n g(m) - (n - 1) g(m_i), where m_i omits seed i; from six seeds on with n - 2 degrees of freedom
(Hinkley, 1977, Biometrika 64). Missing pseudo-values take the delta method.

A share takes the binomial interval of its effective number of pairs (Korn and Graubard, 1998, Survey Methodology 24),
from six seeds on together with the jackknife's on the logit scale. Values outside of a scale take Student's interval.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import betaincinv, expit, logit, ndtri, stdtrit

from roambus.spark.metrics.metric import Support
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


def interval(
    values: Sequence[float] | Any,
    within: Support = Support.ANY,
    confidence: float = CONFIDENCE,
    pairs: float = math.inf,
) -> Interval:
    """The interval of the mean of these values, shares of so many `pairs` in all."""
    if len(values) < 2:
        return Interval(math.nan, math.nan)
    low, high = ends(np.asarray(values, dtype=float)[np.newaxis], within, confidence, np.array([pairs]))
    return Interval(float(low[0]), float(high[0]))


def ends(
    rows: Floats, within: Support, confidence: float = CONFIDENCE, pairs: Floats | None = None
) -> tuple[Floats, Floats]:
    """Return the interval ends of each row's mean; rows have at least two values.

    `pairs` are those whose shares a row has, in all.
    """
    low, high = scaled(rows, within, confidence)
    if within is Support.SHARE:
        shares = (rows.min(axis=1) >= 0) & (rows.max(axis=1) <= 1)
        counted = np.full(len(rows), math.inf) if pairs is None else pairs
        of_shares = _of_shares(rows[shares], counted[shares], confidence)
        if rows.shape[1] >= _FEWEST:
            of_shares = np.minimum(of_shares[0], low[shares]), np.maximum(of_shares[1], high[shares])
        low[shares], high[shares] = of_shares
    mean = rows.mean(axis=1)
    return np.minimum(low, mean), np.maximum(high, mean)


def scaled(rows: Floats, within: Support, confidence: float = CONFIDENCE) -> tuple[Floats, Floats]:
    """Return Student's interval of each row, or the jackknife's on the scale of its values."""
    size = rows.shape[1]
    mean, error = rows.mean(axis=1), rows.std(axis=1, ddof=1) / math.sqrt(size)
    reach = _quantile(confidence, size - 1) * error
    low, high = mean - reach, mean + reach
    inside = _inside(rows, within) & (error > 0)
    if inside.any():
        on_scale = _on_scale(rows[inside], mean[inside], error[inside], within, confidence)
        low[inside], high[inside] = on_scale
    return low, high


def _quantile(confidence: float, freedom: Any) -> Any:
    return stdtrit(freedom, (1 + confidence) / 2)


def _inside(rows: Floats, within: Support) -> Any:
    if within is Support.ANY:
        return np.zeros(len(rows), dtype=bool)
    mean = rows.mean(axis=1)
    top = 1.0 if within is Support.SHARE else math.inf
    return (rows.min(axis=1) >= 0) & (rows.max(axis=1) <= top) & (mean > 0) & (mean < top)


def _of_shares(rows: Floats, pairs: Floats, confidence: float) -> tuple[Floats, Floats]:
    """Return Korn and Graubard's interval of each row of shares.

    As many independent pairs as would vary like the seeds take the exact interval of Clopper and Pearson, with the
    quantile of few seeds.
    """
    size, error = rows.shape[1], 1 - confidence
    mean, variance = rows.mean(axis=1), rows.var(axis=1, ddof=1) / rows.shape[1]
    varies = (variance > 0) & (mean > 0) & (mean < 1)
    few = (ndtri(1 - error / 2) / _quantile(confidence, size - 1)) ** 2
    most = np.minimum(pairs[varies], _MOST_PAIRS)
    many = np.minimum(few * mean[varies] * (1 - mean[varies]) / variance[varies], most)
    there, lacking = mean[varies] * many, (1 - mean[varies]) * many
    low, high = _of_equal_shares(mean, size, error)
    low[varies] = betaincinv(there, lacking + 1, error / 2)
    high[varies] = betaincinv(there + 1, lacking, 1 - error / 2)
    return low, high


def _of_equal_shares(mean: Floats, size: int, error: float) -> tuple[Floats, Floats]:
    """Return the exact bounds if all seeds have one share, and the unseen runs are as bad, or good, as can be.

    n seeds miss a part 1 - error^(1/n) of all runs. At 0 and 1 one bound has the whole error.
    """
    seen = np.where((mean > 0) & (mean < 1), error / 2, error) ** (1 / size)
    return mean * seen, 1 - (1 - mean) * seen


_MOST_PAIRS = 1e9
"""Of more the binomial interval is as wide as rounding makes it."""
_FEWEST = 6
"""With fewer seeds Student's t is wide enough with all degrees of freedom, and a share's jackknife too wide."""
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
