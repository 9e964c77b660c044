"""The medium: who hears a sender, and with what power, while nodes move and links vary or are measured.

docs/reference/radio.md, "Path loss", "Variation in time" and "Measured links", has the model.

1. A node is in a place: a cell of the field, or a place of its own where all are static. The path loss leads from place
   to place (`channel`). Each place has the list of the nodes in it, so that in a large field a sender looks only at the
   places in its reach, and far nodes cost nothing; in a small one it looks at all nodes, which is faster.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from roambus.bridge.backends.radio.engine import MEASURED_LOSS, VARIATION, compiled, uniform
from roambus.bridge.backends.radio.state import State

NOBODY = -1
"""This ends the list of the nodes in a place."""
DIGIT_BITS = 7
"""Of the numbers of nodes, by which links are sorted."""
DIGIT_MASK = (1 << DIGIT_BITS) - 1

LEAST, RESOLUTION, MOST = 0, 1, 2
COHERENCE, CORRELATION = 0, 1
"""`steps` begins with the coherence time; correlation times follow."""
MOST_LAYERS = 100
"""After this number of steps from layer to layer a draw ends at the mean; Castalia ends the run."""


def occupants(cells: NDArray[np.int64], places: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The lists of nodes by place: node[place] that is first in each, and node[node] after each; NOBODY ends a list."""
    first, after = np.full(places, NOBODY), np.full(len(cells), NOBODY)
    for node, cell in enumerate(cells):
        first[cell], after[node] = node, first[cell]
    return first, after


@compiled
def apply_moves(s: State, now: int) -> None:
    """Puts the nodes in the cells where they are at `now`.

    `RUN.moves` counts the moves done: who has found its hearers at another count looks for them again. Any node's move
    counts, for it may come into reach, or go.
    """
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
    """Takes the node out of the list of its cell, which is short enough to be searched."""
    cell = s.nodes[node].cell
    if s.first_in[cell] == node:
        s.first_in[cell] = s.next_in[node]
        return
    before = s.first_in[cell]
    while s.next_in[before] != node:
        before = s.next_in[before]
    s.next_in[before] = s.next_in[node]


@compiled
def apply_changes(s: State, now: int) -> None:
    """Makes measured links what they are at `now`; who sends on a changed one has to find again who hears it."""
    run, changes = s.run[0], s.measured.changes
    while run.changes < len(changes) and changes[run.changes].time <= now:
        change = changes[run.changes]
        s.loss_db[change.way] = change.loss_db
        s.measured.delivery[change.way] = change.delivery
        # With measured links each node is a place, so that a way's number tells its sender.
        s.nodes[change.way // len(s.nodes)].moves_seen = -1
        run.changes += 1


@compiled
def is_lost(s: State, sender: int, receiver: int) -> bool:
    """Whether this frame is one of those that the measured link loses without any interference."""
    delivery = s.measured.delivery[sender * len(s.nodes) + receiver]
    return bool(delivery < 1.0 and uniform(s.run[0], MEASURED_LOSS) >= delivery)


@compiled
def find_hearers(s: State, sender: int, now: int) -> None:
    """Finds who hears the frame that `sender` is about to send, unless no node has moved since it was last found.

    The loop may ask twice for one frame, because room has to be made first; the second time the same is found.
    """
    if s.nodes[sender].moves_seen == s.run[0].moves:
        return
    s.run[0].found = 0
    if len(s.towards) == 0:
        _look_at_nodes(s, sender, now)
    else:
        _look_at_places(s, sender, now)


@compiled
def take_found(s: State, sender: int) -> None:
    """Takes over what was found just now. Where links vary it holds for this frame only."""
    node, run = s.nodes[sender], s.run[0]
    if node.moves_seen == run.moves:
        return
    node.moves_seen = run.moves
    node.reached = run.found
    for k in range(run.found):
        link, found = s.links[sender, k], s.found[k]
        link.receiver, link.power = found.receiver, found.power
    if run.varies:
        node.moves_seen = -1
        run.frames += 1


@compiled
def _look_at_nodes(s: State, sender: int, now: int) -> None:
    """In a small field the path loss is a whole table, and every node has an entry."""
    row, varies = s.way_starts[s.nodes[sender].cell], s.run[0].varies
    for receiver in range(len(s.nodes)):
        way = row + s.nodes[receiver].cell
        # a way of infinite loss is none: it must not draw, for in a large field it is not even looked at
        if receiver != sender and not (varies and math.isinf(s.loss_db[way])):
            _note_hearer(s, sender, receiver, _power_on(s, sender, way, varies, now))


@compiled
def _look_at_places(s: State, sender: int, now: int) -> None:
    """In a large field the sender's cell has a row of ways; nodes are found by place, and then sorted."""
    varies = s.run[0].varies
    for k in range(_occupied_ways(s, s.nodes[sender].cell)):
        way = s.occupied[k]
        receiver = s.first_in[s.towards[way]]
        while receiver != NOBODY:
            _note_hearer(s, sender, receiver, _power_on(s, sender, way, varies, now))
            receiver = s.next_in[receiver]
    _sort_found(s)


@compiled
def _occupied_ways(s: State, cell: int) -> int:
    """Notes the ways from the cell to places where somebody is; returns how many there are.

    Few places are occupied, and nobody can guess which: so nothing is decided here that the processor would guess.
    """
    count = 0
    for way in range(s.way_starts[cell], s.way_starts[cell + 1]):
        s.occupied[count] = way
        count += int(s.first_in[s.towards[way]] != NOBODY)
    return count


@compiled
def _power_on(s: State, sender: int, way: int, varies: int, now: int) -> float:
    """With what power the sender is heard on this way.

    `varies` says whether links vary. It stands in RUN, and is not read there for every way, for the compiler cannot
    know that it stays as it is.
    """
    power = s.nodes[sender].tx_power - s.loss_db[way]
    if varies:
        power += _deviation(s, way, now)
    return float(power)


@compiled
def _note_hearer(s: State, sender: int, receiver: int, power: float) -> None:
    """Notes that `receiver` hears `sender`, if the power is enough for the signal to reach it."""
    run = s.run[0]
    if receiver != sender and power >= run.channel.signal_delivery_threshold_dbm:
        link = s.found[run.found]
        link.receiver, link.power = receiver, power
        run.found += 1


@compiled
def _sort_found(s: State) -> None:
    """Sorts what was found by receiver, two digits at a time, the lowest first: so nothing is compared.

    Comparing would cost more: the processor cannot guess how two numbers compare that are in no order.
    """
    shift = 0
    while len(s.nodes) >> shift > 0:
        _sort_by_digit(s, s.found, s.sorting, shift)
        _sort_by_digit(s, s.sorting, s.found, shift + DIGIT_BITS)
        shift += 2 * DIGIT_BITS


@compiled
def _sort_by_digit(s: State, links: NDArray[Any], into: NDArray[Any], shift: int) -> None:
    """Counts how often each digit is there, and so knows where the links with each one begin; equal ones keep order."""
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
        link.receiver, link.power = links[k].receiver, links[k].power
        places[digit] += 1


@compiled
def _deviation(s: State, way: int, now: int) -> float:
    """What is added to the power on this way now, in dB; `drawn_for` has it drawn once for a frame."""
    v = s.variation
    if v.drawn_for[way] != s.run[0].frames + 1:
        v.drawn_for[way] = s.run[0].frames + 1
        _let_vary(s, way, now)
    return float(v.deviation[way])


@compiled
def _let_vary(s: State, way: int, now: int) -> None:
    """Runs the model up to `now`; what is left is smaller than the shortest correlation time, and waits."""
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
    """The number of the level that is nearest; beyond the last level a link counts as being at it."""
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
            return float(v.elements[start + place])
        layer = int(v.elements[start + place])
    return 0.0
