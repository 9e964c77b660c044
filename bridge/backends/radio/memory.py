"""Memory: growing arrays of the compiled loop, and prefetching of their records.

Rows start small, since the numbers of hearers and signals are unknown; memory grows with the nodes in reach, not with
the square of all. Before each event the loop checks room for all its additions; if lacking, the loop stops, Python
doubles the room, and the loop resumes at the same event. So the loop never allocates.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from roambus.bridge.backends.radio.engine import compiled, row_hint
from roambus.bridge.backends.radio.state import LEVEL, SIGNAL, State

ENOUGH, SIGNALS, LINKS, DELIVERIES, EVENTS = range(5)
"""Lacking room: none, a signal per radio, a node's hearers, a frame's deliveries, following events."""

SIGNALS_AT_FIRST, LINKS_AT_FIRST = 16, 64
"""In each row."""

EVENTS_AT_ONCE = 8
"""Exceeds the events that one causes, except at a frame's receivers."""

FAR, NEAR = 12, 6
"""Prefetch distances in links: a node's record, then the records it points to."""
LARGE = 1000
"""With fewer nodes everything stays in a cache of 2 MiB."""
HALF_LINE = 64
"""Bytes: a cache line, of which two make a node's LINE."""
LEVEL_BYTES, SIGNAL_BYTES = LEVEL.itemsize, SIGNAL.itemsize


@compiled
def lacking(s: State, starts: bool) -> int:
    """Return the next event's lacking room; it `starts` a frame if the hearers are its own."""
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
    """Return the state with twice the lacking room."""
    if what == SIGNALS:
        return s._replace(signals=_wider(s.signals))
    if what == LINKS:
        return s._replace(links=_wider(s.links), arrivals=_wider(s.arrivals))
    if what == EVENTS:
        return s._replace(heap=_longer(s.heap, len(s.heap)))
    return s._replace(deliveries=_longer(s.deliveries, len(s.deliveries)))


def make_room_for_frames(s: State) -> State:
    """Return the state with room for twice the frames and their events."""
    more = len(s.frames)
    return s._replace(
        frames=_longer(s.frames, more),
        heap=_longer(s.heap, more),
        inbox=_longer(s.inbox, more),
        done=_longer(s.done, more),
    )


def _longer(array: NDArray[Any], more: int) -> NDArray[Any]:
    """Return the array with this many zeros appended."""
    return np.concatenate([array, np.zeros((more, *array.shape[1:]), array.dtype)])


def _wider(array: NDArray[Any]) -> NDArray[Any]:
    return np.concatenate([array, np.zeros_like(array)], axis=1)


@compiled
def asked_ahead(s: State, reached: int) -> int:
    """Return the number of a sender's links to prefetch; 0 if all fits in the cache."""
    return reached if len(s.nodes) >= LARGE else 0


@compiled
def ask_ahead(s: State, sender: int, place: int, reached: int) -> None:
    """Prefetch for links after the sender's link at `place`: a node's record, then the signal and level it names."""
    if place + FAR < reached:
        node = s.links[sender, place + FAR].receiver
        row_hint(s.nodes, node, 0)
        row_hint(s.nodes, node, HALF_LINE)
        row_hint(s.signals, node, 0)
    if place + NEAR < reached:
        node = s.links[sender, place + NEAR].receiver
        row_hint(s.levels, node, s.nodes[node].newest * LEVEL_BYTES)
        row_hint(s.signals, node, s.nodes[node].heard * SIGNAL_BYTES)
