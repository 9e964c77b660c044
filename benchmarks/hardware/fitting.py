"""Makes a temporal model of a recording, and says how near a model comes to a recording's delivery over strength.

The parameters file is of Castalia's form, and is made from measured statistics: on a testbed nothing moves, so that a
link's deviation from its own mean strength, from burst to burst, is its variation in time. A testbed does not show the
changes between two bursts, which are hours apart: so the coherence time is that of the file, and every step draws from
the same distribution of deviations.

Interference from elsewhere shows as losses at any strength. It is described apart, as what it would be if interferers
that are on the air for a share of the time had powers that are normally distributed in dBm.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize, minimize_scalar
from scipy.special import erfc, ndtr

from benchmarks.hardware.statistics import Curve, Sample
from roambus.bridge.formats.temporal_model import Layer, TemporalModel
from roambus.python_protocol.simtime import SECOND

QUANTILES = 200
"""So many values stand for a distribution of deviations."""
FRAME_BITS = 8 * 106
"""100 bytes and what the PHY adds."""
LEAST_DB, MOST_DB, RESOLUTION_DB = -12.0, 12.0, 1.0


def deviations(sample: Sample) -> NDArray[np.float64]:
    """The dB of each burst from the mean strength of its link; links with at least three bursts only."""
    rows, nodes = sample.rows, sample.nodes
    keys = (rows["source"] * nodes + rows["target"]) * 1000 + rows["channel"]
    _, link, counts = np.unique(keys, return_inverse=True, return_counts=True)
    mean = np.bincount(link, rows["rssi_dbm"]) / counts
    often = counts[link] >= 3
    spread: NDArray[np.float64] = (rows["rssi_dbm"] - mean[link])[often] * np.sqrt(counts / np.maximum(counts - 1, 1))[
        link
    ][often]
    return spread


def temporal_model(sample: Sample, coherence_s: float = 60.0) -> TemporalModel:
    """Links that forget where they were within `coherence_s`, and deviate as the recorded ones do."""
    values = tuple(np.quantile(deviations(sample), (np.arange(QUANTILES) + 0.5) / QUANTILES).round(3).tolist())
    distribution = (Layer(values),)
    levels = round((MOST_DB - LEAST_DB) / RESOLUTION_DB) + 1
    stay = [(Layer((LEAST_DB + level * RESOLUTION_DB,)),) for level in range(levels)]
    coherence = round(coherence_s * SECOND)
    return TemporalModel(LEAST_DB, RESOLUTION_DB, MOST_DB, (coherence - SECOND,), coherence, (distribution, *stay))


class Receiver(NamedTuple):
    """Delivery over strength: bit errors of PSK in noise, and what interference from elsewhere takes."""

    noise_dbm: float
    """the strength at which signal and noise are equal, on the testbed's own scale"""
    busy: float = 0.0
    """of the time, how much somebody else is on the air"""
    interferer_dbm: float = 0.0
    """half of the interferers are too weak to disturb a signal of this strength"""
    spread_db: float = 1.0

    def delivery(self, dbm: NDArray[Any]) -> NDArray[np.float64]:
        """The share of frames delivered at each signal strength."""
        errors = 0.5 * erfc(np.sqrt(10 ** ((dbm - self.noise_dbm) / 10)))
        disturbed = self.busy * ndtr((self.interferer_dbm - dbm) / self.spread_db)
        share: NDArray[np.float64] = (1 - disturbed) * (1 - errors) ** FRAME_BITS
        return share


STARTS = [(noise, busy, power) for noise in (-94, -90, -80) for busy in (0.05, 0.4) for power in (-75, -55)]


def fit_receiver(curve: Curve) -> Receiver:
    """The receiver that comes nearest to the means of a curve, by the squared error over its bins."""

    def error(values: NDArray[np.float64]) -> float:
        receiver = _receiver(values)
        return float(((receiver.delivery(curve.dbm) - curve.mean) ** 2).mean())

    found = [minimize(error, (*start, 10.0), method="Nelder-Mead", options={"maxiter": 2000}) for start in STARTS]
    return _receiver(min(found, key=lambda minimum: float(minimum.fun)).x)


def with_own_air(receiver: Receiver, curve: Curve) -> Receiver:
    """The receiver at the site of a curve: how much of the time its air is busy is fitted, and all else stays."""

    def error(busy: float) -> float:
        return float(((receiver._replace(busy=busy).delivery(curve.dbm) - curve.mean) ** 2).mean())

    return receiver._replace(busy=float(minimize_scalar(error, bounds=(0, 1), method="bounded").x))


def _receiver(values: NDArray[np.float64]) -> Receiver:
    noise, busy, power, spread = map(float, values)
    return Receiver(noise, min(max(busy, 0.0), 1.0), power, max(abs(spread), 0.1))


class Error(NamedTuple):
    """Over bins of strength."""

    median: float
    p90: float
    bins: int


def error_of(receiver: Receiver, curve: Curve) -> Error:
    """How far the receiver's delivery is from the curve's."""
    apart = np.abs(receiver.delivery(curve.dbm) - curve.mean)
    if not len(apart):
        return Error(math.nan, math.nan, 0)
    return Error(float(np.median(apart)), float(np.quantile(apart, 0.9)), len(apart))
