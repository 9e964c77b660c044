"""The arrays of links that vary in time: how far each way is from its mean, and the model's distributions in a row.

docs/radio.md, "Variation in time", has the model; `roambus.bridge.temporal` reads it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from roambus.bridge.temporal.model import TemporalModel


class Variation(NamedTuple):
    """All arrays are empty without a temporal model."""

    deviation: NDArray[np.float64]
    """dB[way]: what was last drawn"""
    seen: NDArray[np.int64]
    """ns[way]: up to when the model has run"""
    drawn_for: NDArray[np.int64]
    """frame[way] that it was last drawn for, for all nodes in one place see the same"""
    levels: NDArray[np.float64]
    """dB: least, resolution, most"""
    steps: NDArray[np.int64]
    """ns: the coherence time, and then the correlation times, which descend"""
    first_layers: NDArray[np.int64]
    """layer[distribution]: that of the coherence time, then those of each correlation time by level"""
    layers: NDArray[np.int64]
    """start, values, elements[layer, 3]: where its elements begin, how many are values, and how many there are"""
    elements: NDArray[np.float64]
    """dB, or the number of the layer where to go on"""


def variation_of(model: TemporalModel | None, ways: int) -> Variation:
    """The arrays at time 0, when no link is away from its mean."""
    if model is None:
        none, nothing = np.zeros(0), np.zeros(0, np.int64)
        return Variation(none, nothing, nothing, none, nothing, nothing, np.zeros((0, 3), np.int64), none)
    first_layers: list[int] = []
    layers: list[tuple[int, int, int]] = []
    elements: list[float] = []
    for distribution in model.distributions:
        base = len(layers)
        first_layers.append(base)
        for layer in distribution:
            layers.append((len(elements), len(layer.values), len(layer.values) + len(layer.onward)))
            elements += [*layer.values, *(float(base + target) for target in layer.onward)]
    return Variation(
        deviation=np.zeros(ways),
        seen=np.zeros(ways, np.int64),
        drawn_for=np.zeros(ways, np.int64),
        levels=np.array([model.least_db, model.resolution_db, model.most_db]),
        steps=np.array([model.coherence_time, *model.correlation_times], np.int64),
        first_layers=np.array(first_layers, np.int64),
        layers=np.array(layers, np.int64).reshape(-1, 3),
        elements=np.array(elements),
    )
