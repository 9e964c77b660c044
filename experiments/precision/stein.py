"""Stein's two stages: the first seeds say how many more are needed for an interval as narrow as asked.

Who adds seeds until the usual interval is narrow enough stops too often where the variance looks small by chance, and
the interval then covers the mean less often than it says. Stein (1945, "A two-sample test for a linear hypothesis whose
power is independent of the variance", Annals of Mathematical Statistics 16) takes the variance from the first seeds
only. With n0 of them, of variance s^2, and N = ceil((t s / d)^2) seeds in all, mean plus or minus d covers the mean
with the confidence of t, Student's quantile of n0 - 1 degrees of freedom: exactly so for normal values, whatever their
variance. `benchmarks.precision_coverage` shows it for others, too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy import stats

from roambus.experiments.precision.width import Width
from roambus.spark.aggregation.points import CONFIDENCE


def seeds_needed(first: Sequence[float], width: Width) -> float:
    """How many seeds in all the mean needs, by the values of the first seeds; infinite if they are fewer than two.

    With a width that is relative to a mean of 0 it is infinite, too, unless all values are the same.
    """
    if len(first) < 2:
        return math.inf
    deviation, half_width = float(np.std(first, ddof=1)), width.at(float(np.mean(first)))
    if deviation == 0:
        return len(first)
    if half_width == 0:
        return math.inf
    quantile = float(stats.t.ppf((1 + CONFIDENCE) / 2, len(first) - 1))
    return max(len(first), math.ceil((quantile * deviation / half_width) ** 2))
