"""Room in the arrays of the compiled loop, which is made when it is needed.

Nobody knows beforehand how many nodes will hear one, nor how many signals will meet at a radio. Rows have room for some
at first. Before each event the loop sees whether everything that the event may add has room; if not it stops, Python
doubles the room, and the loop goes on with the same event.

Asks the processor for memory before it is needed.

In a large network a frame reaches a hundred radios whose states lie anywhere in memory. The loop over them would wait
for each; so it asks for the next ones while it is at work on one. Nothing else changes: a hint alters no value.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from roambus.bridge.backends.radio.heap import compiled, row_hint
from roambus.bridge.backends.radio.state import LEVEL, SIGNAL, State

ENOUGH, SIGNALS, LINKS, DELIVERIES, EVENTS = range(5)
"""What room is lacking: none, for one more signal at each radio, for all who hear a node, for one more frame told, for
what may follow from an event."""

SIGNALS_AT_FIRST, LINKS_AT_FIRST = 16, 64
"""In each row."""

EVENTS_AT_ONCE = 8
"""More than follow from one, but for those at the nodes at which a frame arrives."""


@compiled
def lacking(s: State, starts: bool) -> int:
    """What room the next event may lack; it `starts` a frame if the hearers found are its own."""
    run = s.run[0]
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
        return s._replace(heap=longer(s.heap, len(s.heap)))
    return s._replace(deliveries=longer(s.deliveries, len(s.deliveries)))


def make_room_for_frames(s: State) -> State:
    """The same state with room for twice the frames."""
    more = len(s.frames)
    return s._replace(
        frames=longer(s.frames, more),
        heap=longer(s.heap, more),
        inbox=longer(s.inbox, more),
        done=longer(s.done, more),
    )


def longer(array: NDArray[Any], more: int) -> NDArray[Any]:
    """The array with so many zeros more at its end."""
    return np.concatenate([array, np.zeros((more, *array.shape[1:]), array.dtype)])


def _wider(array: NDArray[Any]) -> NDArray[Any]:
    return np.concatenate([array, np.zeros_like(array)], axis=1)


FAR, NEAR = 12, 6
"""So many links before its turn a node's record is asked for, and then what the record tells the place of."""
LARGE = 1000
"""With fewer nodes everything stays in a cache of 2 MiB, and asking takes a tenth of the loop for nothing."""
HALF_LINE = 64
"""Bytes: a cache line, of which two make a node's LINE."""


@compiled
def asked_ahead(s: State, reached: int) -> int:
    """Of so many links of a sender, for how many memory is asked: for none where all of it stays in the cache."""
    return reached if len(s.nodes) >= LARGE else 0


@compiled
def ask_ahead(s: State, sender: int, place: int, reached: int) -> None:
    """While the link at `place` of the sender is handled: asks for what some links after it will need."""
    if place + FAR < reached:
        _ask_for_node(s, s.links[sender, place + FAR].receiver)
    if place + NEAR < reached:
        _ask_for_rows(s, s.links[sender, place + NEAR].receiver)


@compiled
def _ask_for_node(s: State, node: int) -> None:
    row_hint(s.nodes, node, 0)
    row_hint(s.nodes, node, HALF_LINE)
    row_hint(s.signals, node, 0)


@compiled
def _ask_for_rows(s: State, node: int) -> None:
    record: Any = s.nodes[node]
    row_hint(s.levels, node, record.newest * LEVEL_BYTES)
    row_hint(s.signals, node, record.heard * SIGNAL_BYTES)


LEVEL_BYTES, SIGNAL_BYTES = LEVEL.itemsize, SIGNAL.itemsize
