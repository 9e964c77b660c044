"""Guesses where nodes are, for a K7 file does not say: classical multidimensional scaling of signal strengths."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

LOSS_EXPONENT = 2.4
"""Strength falls with 24 dB a decade, as in the channel's model; only proportions matter."""


def places_of(strengths: NDArray[np.float64]) -> NDArray[np.float64]:
    """Places[node, 2] from 0 to 1, from dBm[source, target] with NaN for pairs that never heard each other.

    These count as somewhat farther away than the weakest that did.
    """
    both = np.stack([strengths, strengths.T])
    heard = np.isfinite(both)
    mean = np.where(heard, both, 0.0).sum(axis=0) / np.maximum(heard.sum(axis=0), 1)
    weakest, strongest = np.nanmin(strengths), np.nanmax(strengths)
    mean = np.where(heard.any(axis=0), mean, weakest - 5.0)
    distance = 10 ** ((strongest - mean) / (10 * LOSS_EXPONENT))
    np.fill_diagonal(distance, 0.0)
    return _scaled(_main_axes(distance))


def _main_axes(distance: NDArray[np.float64]) -> NDArray[np.float64]:
    """The two directions in which places are farthest apart."""
    nodes = len(distance)
    centre = np.eye(nodes) - 1 / nodes
    values, vectors = np.linalg.eigh(-0.5 * centre @ (distance**2) @ centre)
    places: NDArray[np.float64] = vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 0.0))
    return places


def _scaled(places: NDArray[np.float64]) -> NDArray[np.float64]:
    """By rank in each direction half of the way, so that nodes that stand close can be told apart."""
    ranks = places.argsort(axis=0).argsort(axis=0) / max(len(places) - 1, 1)
    extent = np.ptp(places, axis=0)
    even: NDArray[np.float64] = (places - places.min(axis=0)) / np.where(extent > 0, extent, 1.0)
    scaled: NDArray[np.float64] = (ranks + even) / 2
    return scaled
