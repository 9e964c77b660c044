"""Random numbers inside the compiled loop are from SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).

NumPy's generators cost several times as much there, through a function pointer.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from roambus.bridge.backends.radio.compiled import compiled

BIT_ERRORS, BACKOFF, TRAFFIC, VARIATION, MEASURED_LOSS = (np.int64(stream) for stream in range(5))
"""The streams: what is drawn for one purpose does not shift the others. (Numba compiles anew for each plain int.)"""
STREAMS = 5

_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_SHIFT_1, _SHIFT_2, _SHIFT_3, _TO_53_BITS = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)


@compiled
def uniform(run: Any, stream: np.int64) -> float:
    """A number in [0, 1) with 53 random bits."""
    state = run.streams[stream] + _GAMMA
    run.streams[stream] = state
    mixed = (state ^ (state >> _SHIFT_1)) * _MIX_1
    mixed = (mixed ^ (mixed >> _SHIFT_2)) * _MIX_2
    mixed ^= mixed >> _SHIFT_3
    return float(mixed >> _TO_53_BITS) * 2.0**-53


@compiled
def exponential(run: Any, stream: np.int64, mean: float) -> float:
    """A number from the exponential distribution."""
    return -mean * math.log(1.0 - uniform(run, stream))
