"""Sums of signals' powers, in dBm."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from roambus.bridge.backends.radio.engine import compiled

STEP_DB: NDArray[np.float64] = np.array([3.0, 3.0, 2.5, 2.0, 1.5, 1.5, 1.0, 1.0, 0.0])
"""`STEP_DB[k]`: dB that a signal k dB (rounded up) weaker adds to the stronger."""
MOST_STEPS = len(STEP_DB) - 1


@compiled
def add_dbm(a: float, b: float) -> float:
    """Return two signals' total power, by steps on their difference."""
    # A power in mW would need an exponential and a logarithm for each sum; Castalia saves them, too, by these steps.
    steps = min(math.ceil(abs(a - b)), MOST_STEPS)
    return float(max(a, b) + STEP_DB[steps])
