"""Links that vary in time: docs/radio.md, "Variation in time", has the model, which is that of Castalia.

Each way from place to place is at some distance from its mean path loss. It is looked at when a frame uses it: the
model then runs over the time since it was last looked at, in steps of its correlation times.
"""

from __future__ import annotations

import math

from roambus.bridge.backends.radio.chance import VARIATION, uniform
from roambus.bridge.backends.radio.compiled import compiled
from roambus.bridge.backends.radio.hearers import NOBODY, note_hearer, occupied_ways, sort_found
from roambus.bridge.backends.radio.state import State

LEAST, RESOLUTION, MOST = 0, 1, 2
COHERENCE, CORRELATION = 0, 1
"""`steps` begins with the coherence time; correlation times follow."""
MOST_LAYERS = 100
"""A distribution that leads from layer to layer so often ends there, at the mean; Castalia gives up."""


@compiled
def find_varying_hearers(s: State, sender: int, now: int) -> None:
    """Finds who hears the frame that `sender` is about to send; asked again for the same frame it finds the same."""
    s.run[0].found = 0
    if len(s.towards) == 0:
        _look_at_nodes(s, sender, now)
    else:
        _look_at_places(s, sender, now)


@compiled
def look_again(s: State, sender: int) -> None:
    """The frame is on its way: for the next one all is looked at anew."""
    s.nodes[sender].moves_seen = -1
    s.run[0].frames += 1


@compiled
def _look_at_nodes(s: State, sender: int, now: int) -> None:
    node = s.nodes[sender]
    row = s.way_starts[node.cell]
    for receiver in range(len(s.nodes)):
        way = row + s.nodes[receiver].cell
        if receiver != sender and not math.isinf(s.loss_db[way]):
            note_hearer(s, sender, receiver, node.tx_power - s.loss_db[way] + _deviation(s, way, now))


@compiled
def _look_at_places(s: State, sender: int, now: int) -> None:
    node = s.nodes[sender]
    for k in range(occupied_ways(s, node.cell)):
        way = s.occupied[k]
        receiver = s.first_in[s.towards[way]]
        while receiver != NOBODY:
            note_hearer(s, sender, receiver, node.tx_power - s.loss_db[way] + _deviation(s, way, now))
            receiver = s.next_in[receiver]
    sort_found(s)


@compiled
def _deviation(s: State, way: int, now: int) -> float:
    """What is added to the power on this way now, in dB."""
    v = s.variation
    if v.drawn_for[way] != s.run[0].frames + 1:
        v.drawn_for[way] = s.run[0].frames + 1
        _let_vary(s, way, now)
    deviation: float = v.deviation[way]
    return deviation


@compiled
def _let_vary(s: State, way: int, now: int) -> None:
    v = s.variation
    left = now - v.seen[way]
    if left == 0 or left >= v.steps[COHERENCE]:
        v.deviation[way] = _draw(s, 0)
        left = 0
    levels = (len(v.first_layers) - 1) // (len(v.steps) - 1)
    for step in range(CORRELATION, len(v.steps)):
        while left >= v.steps[step]:
            left -= v.steps[step]
            v.deviation[way] = _draw(s, 1 + (step - CORRELATION) * levels + _level(s, v.deviation[way], levels))
    v.seen[way] = now - left


@compiled
def _level(s: State, deviation: float, levels: int) -> int:
    """The number of the level that is nearest."""
    v = s.variation
    if deviation <= v.levels[LEAST]:
        return 0
    if deviation >= v.levels[MOST]:
        return levels - 1
    return int((deviation - v.levels[LEAST]) / v.levels[RESOLUTION] + 0.5)


@compiled
def _draw(s: State, distribution: int) -> float:
    """A value, each element of a layer being as likely as the others; some lead to another layer."""
    v = s.variation
    layer = v.first_layers[distribution]
    for _ in range(MOST_LAYERS):
        start, values, elements = v.layers[layer, 0], v.layers[layer, 1], v.layers[layer, 2]
        place = int(uniform(s.run[0], VARIATION) * elements)
        if place < values:
            value: float = v.elements[start + place]
            return value
        layer = int(v.elements[start + place])
    return 0.0
