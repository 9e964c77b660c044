"""Memory: the arrays of the compiled loop, which grow when necessary, and prefetching of their records.

*Room.* Nobody knows beforehand how many nodes will hear one, nor how many signals will meet at a radio. Rows have room
for some at first, so that memory grows with the nodes in reach and not with the square of all. Before each event the
loop sees whether everything that the event may add has room; if not it stops, Python doubles the room, and the loop
goes on with the same event. So the loop itself never allocates, and needs no check where it adds something.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from roambus.bridge.backends.radio.engine import compiled, row_hint
from roambus.bridge.backends.radio.state import LEVEL, SIGNAL, State

ENOUGH, SIGNALS, LINKS, DELIVERIES, EVENTS = range(5)
"""What room is lacking: none, for one more signal at each radio, for all who hear a node, for one more frame told, for
what may follow from an event."""

SIGNALS_AT_FIRST, LINKS_AT_FIRST = 16, 64
"""In each row."""

EVENTS_AT_ONCE = 8
"""More than follow from one, except for those at the nodes at which a frame arrives."""

FAR, NEAR = 12, 6
"""How many links ahead a node's record is prefetched, and then the records to which it points."""
LARGE = 1000
"""With fewer nodes everything stays in a cache of 2 MiB."""
HALF_LINE = 64
"""Bytes: a cache line, of which two make a node's LINE."""
LEVEL_BYTES, SIGNAL_BYTES = LEVEL.itemsize, SIGNAL.itemsize


@compiled
def lacking(s: State, starts: bool) -> int:
    """What room the next event may lack; it `starts` a frame if the hearers found are its own."""
    run = s.run[0]
    # Not only at nodes that hear the next frame: the most at any node so far is cheaper to know, and never too little.
    if run.most_heard >= s.signals.shape[1]:
        return SIGNALS
    if starts and run.found > s.links.shape[1]:
        return LINKS
    if run.deliveries + s.arrivals.shape[1] > len(s.deliveries):
        return DELIVERIES
    if run.events + s.arrivals.shape[1] + EVENTS_AT_ONCE > len(s.heap):
        return EVENTS
    return ENOUGH


def make_room(s: State, what: int) -> State:
    """The same state with twice the room for what is lacking."""
    if what == SIGNALS:
        return s._replace(signals=_wider(s.signals))
    if what == LINKS:
        return s._replace(links=_wider(s.links), arrivals=_wider(s.arrivals))
    if what == EVENTS:
        return s._replace(heap=_longer(s.heap, len(s.heap)))
    return s._replace(deliveries=_longer(s.deliveries, len(s.deliveries)))


def make_room_for_frames(s: State) -> State:
    """The same state with room for twice the frames, each of which may be an event, too."""
    more = len(s.frames)
    return s._replace(
        frames=_longer(s.frames, more),
        heap=_longer(s.heap, more),
        inbox=_longer(s.inbox, more),
        done=_longer(s.done, more),
    )


def _longer(array: NDArray[Any], more: int) -> NDArray[Any]:
    """The array with this number of zeros appended."""
    return np.concatenate([array, np.zeros((more, *array.shape[1:]), array.dtype)])


def _wider(array: NDArray[Any]) -> NDArray[Any]:
    return np.concatenate([array, np.zeros_like(array)], axis=1)


@compiled
def asked_ahead(s: State, reached: int) -> int:
    """The number of a sender's links for which memory is prefetched: none if all of it stays in the cache."""
    return reached if len(s.nodes) >= LARGE else 0


@compiled
def ask_ahead(s: State, sender: int, place: int, reached: int) -> None:
    """While the link at `place` of the sender is handled: asks for what some links after it will need.

    A node's record says where in its rows the next signal and the newest level are. So the record is asked for first,
    with the beginning of its row of signals, and the places that it names when it has come.
    """
    if place + FAR < reached:
        node = s.links[sender, place + FAR].receiver
        row_hint(s.nodes, node, 0)
        row_hint(s.nodes, node, HALF_LINE)
        row_hint(s.signals, node, 0)
    if place + NEAR < reached:
        node = s.links[sender, place + NEAR].receiver
        row_hint(s.levels, node, s.nodes[node].newest * LEVEL_BYTES)
        row_hint(s.signals, node, s.nodes[node].heard * SIGNAL_BYTES)
