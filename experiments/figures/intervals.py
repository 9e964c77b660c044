"""The ends of the intervals that figures draw: they stay where a metric's values can be.

Half the width of a Student-t interval over the seeds is what is measured. Around a rate near 1 such an interval would
reach beyond 1. So that of a rate is made on the logit scale, where the standard error of a mean m is that of the rate
divided by m (1 - m) (the delta method, as the logit intervals of survey statistics have it), and carried back, which
keeps it within 0 and 1. In the same way that of a metric with a logarithmic axis is made on the logarithmic scale, so
it stays above 0. Single seeds may be 0 or 1. If all of them are, nothing was seen to vary, and there is no interval.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import expit, logit

from roambus.spark.metrics.catalogue import Scale

NAMES = {Scale.SHARE: "t-intervals on the logit scale", Scale.LOGARITHMIC: "t-intervals on the logarithmic scale"}
"""What captions call the intervals of a scale; those of the others are plain t-intervals."""


def interval(mean: float, half_width: float, scale: Scale) -> tuple[float, float]:
    """The ends of the 95 % interval of a mean; both are the mean itself if there is no interval."""
    if math.isnan(half_width) or half_width == 0:
        return mean, mean
    with np.errstate(over="ignore"):  # an end may be as far away as numbers go
        if scale is Scale.SHARE and 0 < mean < 1:
            reach = half_width / (mean * (1 - mean))
            low, high = expit(logit(mean) - reach), expit(logit(mean) + reach)
            return min(float(low), mean), max(float(high), mean)
        if scale is Scale.LOGARITHMIC and mean > 0:
            reach = half_width / mean
            return mean * math.exp(-reach), max(float(mean * np.exp(reach)), mean)
    return mean - half_width, mean + half_width
