"""The one timer of a MAC, which runs by the node's own clock, and is set anew when the MAC has something else to do.

The queue of events forgets nothing. So a timer that is set to a later time leaves its event where it is, and is put
there anew when that comes; one that is set to an earlier time leaves an event behind that is none any more.
"""

from __future__ import annotations

from roambus.bridge.backends.radio import events
from roambus.bridge.backends.radio.compiled import compiled
from roambus.bridge.backends.radio.heap import NEVER
from roambus.bridge.backends.radio.state import State


@compiled
def set_timer(s: State, index: int, delay: float, now: int) -> None:
    """The MAC's timer runs out after `delay` ns of the node's clock, and at no other time."""
    node = s.nodes[index]
    node.timer = now + round(delay * node.clock_rate)
    if node.timer < node.pending:
        _put(s, index)


@compiled
def is_due(s: State, index: int, now: int) -> bool:
    """Whether the timer runs out with this event, and not later, nor has with an earlier one."""
    node = s.nodes[index]
    if now != node.pending:
        return False
    node.pending = NEVER
    if now < node.timer:
        if node.timer != NEVER:
            _put(s, index)
        return False
    node.timer = NEVER
    return True


@compiled
def _put(s: State, index: int) -> None:
    node = s.nodes[index]
    node.pending = node.timer
    events.schedule(s, node.timer, events.MAC_TIMER, index)
