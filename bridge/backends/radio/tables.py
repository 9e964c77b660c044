"""The arithmetic of powers: they are added by steps in dB, and tell the bit errors of PSK.

docs/radio.md, "Reception" and "Interference", has the model. Powers are dBm, ratios dB.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfc

from roambus.bridge.backends.radio.compiled import compiled

NOTHING_DBM = -200.0
"""This is less than any power that can be added to it."""

SHARES = 16
SHARE_DB: NDArray[np.float64] = np.array([-100.0] + [10 * math.log10(k / SHARES) for k in range(1, SHARES + 1)])
"""`SHARE_DB[k]`: what k sixteenths of the averaging time take off a power; less than one counts as nothing."""

STEP_DB: NDArray[np.float64] = np.array([3.0, 3.0, 2.5, 2.0, 1.5, 1.5, 1.0, 1.0, 0.0])
"""`STEP_DB[k]`: what the weaker of two signals adds to the stronger, k dB (rounded up) above it."""
MOST_STEPS = len(STEP_DB) - 1

LOWEST_DB, HIGHEST_DB, STEPS_PER_DB = -40.0, 15.5, 64


def bit_error_rate(snr_db: NDArray[np.float64]) -> NDArray[np.float64]:
    """BER of PSK at a signal-to-noise ratio that is already corrected by noise bandwidth / data rate."""
    rate: NDArray[np.float64] = 0.5 * erfc(np.sqrt(10 ** (snr_db / 10)))
    return rate


def _loss_table() -> NDArray[np.float64]:
    steps = round((HIGHEST_DB - LOWEST_DB) * STEPS_PER_DB)
    loss: NDArray[np.float64] = -np.log1p(-bit_error_rate(LOWEST_DB + np.arange(steps + 2) / STEPS_PER_DB))
    return loss


LOSS = _loss_table()
"""-ln(1 - BER) at LOWEST_DB, and every 1 / STEPS_PER_DB from there; above HIGHEST_DB, 1 - BER is 1 in a double."""


@compiled
def add_dbm(a: float, b: float) -> float:
    """The power of two signals together, by steps on their difference."""
    steps = min(math.ceil(abs(a - b)), MOST_STEPS)
    total: float = max(a, b) + STEP_DB[steps]
    return total


@compiled
def loss_per_bit(snr_db: float) -> float:
    """-ln(1 - BER), interpolated: a frame's survival is exact to 1e-4; `snr_db` is corrected as in bit_error_rate."""
    place = (max(snr_db, LOWEST_DB) - LOWEST_DB) * STEPS_PER_DB
    index = int(place)
    part = place - index
    loss: float = LOSS[index] + part * (LOSS[index + 1] - LOSS[index])
    return loss
