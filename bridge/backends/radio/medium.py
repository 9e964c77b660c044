"""The medium: a sender's hearers and their power, while nodes move and links vary or are measured.

Model: docs/reference/radio.md, "Path loss", "Variation in time" and "Measured links". A node is in a cell of the field,
or static in its own place; path loss leads between places (`channel`). In a large field a sender searches only places
within reach, so far nodes cost nothing; in a small one trying all nodes is faster.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from roambus.bridge.backends.radio.engine import MEASURED_LOSS, compiled, uniform
from roambus.bridge.backends.radio.propagation import temporal as fading  # stands for the one in its place
from roambus.bridge.backends.radio.state import State

NOBODY = -1
"""Ends a place's list of nodes."""
DIGIT_BITS = 7
"""Of the numbers of nodes, by which links are sorted."""
DIGIT_MASK = (1 << DIGIT_BITS) - 1


def occupants(cells: NDArray[np.int64], places: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return lists of nodes by place: first node[place], next node[node]; NOBODY ends a list."""
    first, after = np.full(places, NOBODY), np.full(len(cells), NOBODY)
    for node, cell in enumerate(cells):
        first[cell], after[node] = node, first[cell]
    return first, after


@compiled
def apply_moves(s: State, now: int) -> None:
    """Move the nodes to their cells at `now`; a new `RUN.moves` makes found hearers stale."""
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
    """Remove the node from its cell's short list."""
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
    """Update measured links to `now`; changed senders' hearers become stale."""
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
    """Return whether the measured link loses this frame without interference."""
    delivery = s.measured.delivery[sender * len(s.nodes) + receiver]
    return bool(delivery < 1.0 and uniform(s.run[0], MEASURED_LOSS) >= delivery)


@compiled
def find_hearers(s: State, sender: int, now: int) -> None:
    """Find the hearers of `sender`'s next frame, unless still fresh; repeatable."""
    if s.nodes[sender].moves_seen == s.run[0].moves:
        return
    s.run[0].found = 0
    if len(s.towards) == 0:
        _look_at_nodes(s, sender, now)
    else:
        _look_at_places(s, sender, now)


@compiled
def take_found(s: State, sender: int) -> None:
    """Adopt the found hearers; where links vary, for this frame only."""
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
    """Try every node of a small field, whose path loss is a whole table."""
    row, varies = s.way_starts[s.nodes[sender].cell], s.run[0].varies
    for receiver in range(len(s.nodes)):
        way = row + s.nodes[receiver].cell
        # a way of infinite loss is none: it must not draw, for in a large field it is not even looked at
        if receiver != sender and not (varies and math.isinf(s.loss_db[way])):
            _note_hearer(s, sender, receiver, _power_on(s, sender, way, varies, now))


@compiled
def _look_at_places(s: State, sender: int, now: int) -> None:
    """Find nodes by the ways of the sender's cell in a large field, then sort."""
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
    """Note the cell's ways to occupied places; return their number.

    Branch-free, since occupation is unpredictable.
    """
    count = 0
    for way in range(s.way_starts[cell], s.way_starts[cell + 1]):
        s.occupied[count] = way
        count += int(s.first_in[s.towards[way]] != NOBODY)
    return count


@compiled
def _power_on(s: State, sender: int, way: int, varies: int, now: int) -> float:
    """Return the sender's power on this way.

    `varies` is passed in: to the compiler RUN's is no constant.
    """
    power = s.nodes[sender].tx_power - s.loss_db[way]
    if varies:
        power += _deviation(s, way, now)
    return float(power)


@compiled
def _note_hearer(s: State, sender: int, receiver: int, power: float) -> None:
    """Note that `receiver` hears `sender`, if the power suffices."""
    run = s.run[0]
    if receiver != sender and power >= run.channel.signal_delivery_threshold_dbm:
        link = s.found[run.found]
        link.receiver, link.power = receiver, power
        run.found += 1


@compiled
def _sort_found(s: State) -> None:
    """Sort hearers by receiver, two digits a pass: comparisons would be mispredicted."""
    shift = 0
    while len(s.nodes) >> shift > 0:
        _sort_by_digit(s, s.found, s.sorting, shift)
        _sort_by_digit(s, s.sorting, s.found, shift + DIGIT_BITS)
        shift += 2 * DIGIT_BITS


@compiled
def _sort_by_digit(s: State, links: NDArray[Any], into: NDArray[Any], shift: int) -> None:
    """Sort the links by one digit with a stable counting sort."""
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
    """Return the way's current deviation in dB; `drawn_for` draws it once per frame."""
    v = s.variation
    if v.drawn_for[way] != s.run[0].frames + 1:
        v.drawn_for[way] = s.run[0].frames + 1
        v.deviation[way] = fading.deviation(s, way, now)
    return float(v.deviation[way])


OF_FADING = (_deviation, _power_on, _look_at_nodes, _look_at_places, find_hearers)
"""The functions that lead to `fading`, callees first."""
