"""Room in the arrays of the compiled loop, which is made when it is needed.

Nobody knows beforehand how many nodes will hear one, nor how many signals will meet at a radio. Rows have room for some
at first. Before each event the loop sees whether everything that the event may add has room; if not it stops, Python
doubles the room, and the loop goes on with the same event.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from roambus.bridge.backends.radio.compiled import compiled
from roambus.bridge.backends.radio.state import State

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
