"""Castalia's temporal model, by which a way's deviation from its path loss walks between levels.

Model: docs/reference/radio.md, "Variation in time". `roambus.bridge.formats.temporal_model` reads its parameters.
"""

from __future__ import annotations

import numpy as np

from roambus.bridge.backends.radio.engine import VARIATION, compiled, uniform
from roambus.bridge.backends.radio.state import State, Variation
from roambus.bridge.formats.temporal_model import TemporalModel

LEAST, RESOLUTION, MOST = 0, 1, 2
COHERENCE, CORRELATION = 0, 1
"""`steps` begins with the coherence time; correlation times follow."""
MOST_LAYERS = 100
"""A draw ends at the mean after this many layers; Castalia ends the run."""


def variation_of(model: TemporalModel | None, ways: int) -> Variation:
    """Return the arrays at time 0: distributions, layers and elements, each with the starts of the next."""
    first_layers: list[int] = []
    layers: list[tuple[int, int, int]] = []
    elements: list[float] = []
    for distribution in model.distributions if model else ():
        base = len(layers)
        first_layers.append(base)
        for layer in distribution:
            layers.append((len(elements), len(layer.values), len(layer.values) + len(layer.onward)))
            elements += [*layer.values, *(float(base + target) for target in layer.onward)]
    return Variation(
        deviation=np.zeros(ways),
        seen=np.zeros(ways, np.int64),
        drawn_for=np.zeros(ways, np.int64),
        levels=np.array([model.least_db, model.resolution_db, model.most_db] if model else [], float),
        steps=np.array([model.coherence_time, *model.correlation_times] if model else [], np.int64),
        first_layers=np.array(first_layers, np.int64),
        layers=np.array(layers, np.int64).reshape(-1, 3),
        elements=np.array(elements, float),
    )


@compiled
def deviation(s: State, way: int, now: int) -> float:
    """Run the model up to `now`, and return dB; keep a rest below the shortest correlation time."""
    v = s.variation
    last = v.deviation[way]
    left = now - v.seen[way]
    if left == 0 or left >= v.steps[COHERENCE]:
        last = _draw(s, 0)
        left = 0
    levels = (len(v.first_layers) - 1) // (len(v.steps) - 1)
    for step in range(CORRELATION, len(v.steps)):
        while left >= v.steps[step]:
            left -= v.steps[step]
            last = _draw(s, 1 + (step - CORRELATION) * levels + _level(s, last, levels))
    v.seen[way] = now - left
    return float(last)


@compiled
def _level(s: State, deviation: float, levels: int) -> int:
    """Return the nearest level's number, clamped to the last levels."""
    v = s.variation
    if deviation <= v.levels[LEAST]:
        return 0
    if deviation >= v.levels[MOST]:
        return levels - 1
    return int((deviation - v.levels[LEAST]) / v.levels[RESOLUTION] + 0.5)


@compiled
def _draw(s: State, distribution: int) -> float:
    """Draw a layer's element, all equally likely; some lead to another layer."""
    v = s.variation
    layer = v.first_layers[distribution]
    for _ in range(MOST_LAYERS):
        start, values, elements = v.layers[layer, 0], v.layers[layer, 1], v.layers[layer, 2]
        place = int(uniform(s.run[0], VARIATION) * elements)
        if place < values:
            return float(v.elements[start + place])
        layer = int(v.elements[start + place])
    return 0.0
