"""Finds who hears whom, by the nodes in each place and the path loss between places.

In a small field a sender looks at all nodes, in a large one at the places in its reach, so that far nodes cost nothing.
Links are in the order of receivers, for so is what is drawn.

Links that vary in time: docs/radio.md, "Variation in time", has the model, which is that of Castalia.

Each way from place to place is at some distance from its mean path loss. It is looked at when a frame uses it: the
model then runs over the time since it was last looked at, in steps of its correlation times.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from roambus.bridge.backends.radio.heap import VARIATION, compiled, uniform
from roambus.bridge.backends.radio.state import State

NOBODY = -1
"""This ends the list of the nodes in a place."""
DIGIT_BITS = 7
"""Of the numbers of nodes, by which links are sorted."""
DIGIT_MASK = (1 << DIGIT_BITS) - 1


def occupants(cells: NDArray[np.int64], places: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The lists of nodes by place: node[place] that is first in each, and node[node] after each; NOBODY ends a list."""
    first, after = np.full(places, NOBODY), np.full(len(cells), NOBODY)
    for node, cell in enumerate(cells):
        first[cell], after[node] = node, first[cell]
    return first, after


@compiled
def find_hearers(s: State, sender: int) -> None:
    """Finds who hears `sender`, unless no node has moved since it was last found."""
    if s.nodes[sender].moves_seen == s.run[0].moves:
        return
    s.run[0].found = 0
    if len(s.towards) == 0:
        _look_at_nodes(s, sender)
    else:
        _look_at_places(s, sender)


@compiled
def take_found(s: State, sender: int) -> None:
    """Takes over what was found just now."""
    node, run = s.nodes[sender], s.run[0]
    if node.moves_seen == run.moves:
        return
    node.moves_seen = run.moves
    node.reached = run.found
    for k in range(run.found):
        link = s.links[sender, k]
        link.receiver = s.found[k].receiver
        link.power = s.found[k].power


@compiled
def _look_at_nodes(s: State, sender: int) -> None:
    node = s.nodes[sender]
    row = s.way_starts[node.cell]
    for receiver in range(len(s.nodes)):
        note_hearer(s, sender, receiver, node.tx_power - s.loss_db[row + s.nodes[receiver].cell])


@compiled
def _look_at_places(s: State, sender: int) -> None:
    node = s.nodes[sender]
    for k in range(occupied_ways(s, node.cell)):
        way = s.occupied[k]
        receiver = s.first_in[s.towards[way]]
        while receiver != NOBODY:
            note_hearer(s, sender, receiver, node.tx_power - s.loss_db[way])
            receiver = s.next_in[receiver]
    sort_found(s)


@compiled
def occupied_ways(s: State, cell: int) -> int:
    """Notes the ways from the cell to places where somebody is; returns how many there are.

    Few places are occupied, and nobody can guess which: so nothing is decided here that the processor would guess.
    """
    count = 0
    for way in range(s.way_starts[cell], s.way_starts[cell + 1]):
        s.occupied[count] = way
        count += int(s.first_in[s.towards[way]] != NOBODY)
    return count


@compiled
def note_hearer(s: State, sender: int, receiver: int, power: float) -> None:
    """Notes that `receiver` hears `sender` with `power`, if that is enough for the signal to reach it."""
    run = s.run[0]
    if receiver != sender and power >= run.channel.signal_delivery_threshold_dbm:
        link = s.found[run.found]
        link.receiver = receiver
        link.power = power
        run.found += 1


@compiled
def sort_found(s: State) -> None:
    """Sorts what was found by receiver, two digits at a time, the lowest first: so nothing is compared."""
    shift = 0
    while len(s.nodes) >> shift > 0:
        _sort_by_digit(s, s.found, s.sorting, shift)
        _sort_by_digit(s, s.sorting, s.found, shift + DIGIT_BITS)
        shift += 2 * DIGIT_BITS


@compiled
def _sort_by_digit(s: State, links: NDArray[Any], into: NDArray[Any], shift: int) -> None:
    count, places = s.run[0].found, s.places
    for digit in range(len(places)):
        places[digit] = 0
    for k in range(count):
        places[(links[k].receiver >> shift) & DIGIT_MASK] += 1
    before = 0
    for digit in range(len(places)):
        before, places[digit] = before + places[digit], before
    for k in range(count):
        digit = (links[k].receiver >> shift) & DIGIT_MASK
        link = into[places[digit]]
        link.receiver = links[k].receiver
        link.power = links[k].power
        places[digit] += 1


@compiled
def apply_moves(s: State, now: int) -> None:
    """Puts the nodes in the cells where they are at `now`."""
    run = s.run[0]
    while run.moves < len(s.moves) and s.moves[run.moves].time <= now:
        move = s.moves[run.moves]
        _leave(s, move.node)
        s.nodes[move.node].cell = move.cell
        s.next_in[move.node] = s.first_in[move.cell]
        s.first_in[move.cell] = move.node
        run.moves += 1


@compiled
def _leave(s: State, node: int) -> None:
    cell = s.nodes[node].cell
    if s.first_in[cell] == node:
        s.first_in[cell] = s.next_in[node]
        return
    before = s.first_in[cell]
    while s.next_in[before] != node:
        before = s.next_in[before]
    s.next_in[before] = s.next_in[node]


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
        _draw_for_nodes(s, sender, now)
    else:
        _draw_for_places(s, sender, now)


@compiled
def look_again(s: State, sender: int) -> None:
    """The frame is on its way: for the next one all is looked at anew."""
    s.nodes[sender].moves_seen = -1
    s.run[0].frames += 1


@compiled
def _draw_for_nodes(s: State, sender: int, now: int) -> None:
    node = s.nodes[sender]
    row = s.way_starts[node.cell]
    for receiver in range(len(s.nodes)):
        way = row + s.nodes[receiver].cell
        if receiver != sender and not math.isinf(s.loss_db[way]):
            note_hearer(s, sender, receiver, node.tx_power - s.loss_db[way] + _deviation(s, way, now))


@compiled
def _draw_for_places(s: State, sender: int, now: int) -> None:
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
