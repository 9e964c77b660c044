"""Finds who hears whom, by the nodes in each place and the path loss between places.

In a small field a sender looks at all nodes, in a large one at the places in its reach, so that far nodes cost nothing.
Links are in the order of receivers, for so is what is drawn.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from roambus.bridge.backends.radio.compiled import compiled
from roambus.bridge.backends.radio.state import State

NOBODY = -1
"""This ends the list of the nodes in a place."""
GAPS = (57, 23, 10, 4, 1)
"""The gaps of Shell's sort, from Ciura (2001)."""


def occupants(cells: NDArray[np.int64], places: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The lists of nodes by place: node[place] that is first in each, and node[node] after each; NOBODY ends a list."""
    first, after = np.full(places, NOBODY), np.full(len(cells), NOBODY)
    for node, cell in enumerate(cells):
        first[cell], after[node] = node, first[cell]
    return first, after


@compiled
def refresh_reach(s: State, sender: int) -> None:
    """Finds who hears `sender`, unless no node has moved since it was last found."""
    node, run = s.nodes[sender], s.run[0]
    if node.moves_seen == run.moves:
        return
    node.moves_seen = run.moves
    node.reached = 0
    if len(s.towards) == 0:
        _look_at_nodes(s, sender)
    else:
        _look_at_places(s, sender)


@compiled
def _look_at_nodes(s: State, sender: int) -> None:
    node = s.nodes[sender]
    row = s.way_starts[node.cell]
    for receiver in range(len(s.nodes)):
        _link(s, sender, receiver, node.tx_power - s.loss_db[row + s.nodes[receiver].cell])


@compiled
def _look_at_places(s: State, sender: int) -> None:
    node = s.nodes[sender]
    for way in range(s.way_starts[node.cell], s.way_starts[node.cell + 1]):
        receiver = s.first_in[s.towards[way]]
        while receiver != NOBODY:
            _link(s, sender, receiver, node.tx_power - s.loss_db[way])
            receiver = s.next_in[receiver]
    _sort(s.links[sender], node.reached)


@compiled
def _link(s: State, sender: int, receiver: int, power: float) -> None:
    node = s.nodes[sender]
    if receiver != sender and power >= s.run[0].channel.signal_delivery_threshold_dbm:
        link = s.links[sender, node.reached]
        link.receiver = receiver
        link.power = power
        node.reached += 1


@compiled
def _sort(links: NDArray[Any], count: int) -> None:
    """Sorts the links by their receivers."""
    for gap in GAPS:
        for k in range(gap, count):
            receiver, power = links[k].receiver, links[k].power
            place = k
            while place >= gap and links[place - gap].receiver > receiver:
                links[place].receiver = links[place - gap].receiver
                links[place].power = links[place - gap].power
                place -= gap
            links[place].receiver = receiver
            links[place].power = power


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
