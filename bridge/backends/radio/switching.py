"""The states of a radio, and how it changes between them: docs/radio.md, "The radio".

A change takes a time, and can be overtaken by another one; then its end, which is in the queue of events already, is
none any more.
"""

from __future__ import annotations

from typing import Any

from roambus.bridge.backends.radio import events
from roambus.bridge.backends.radio.battery import spend
from roambus.bridge.backends.radio.compiled import compiled
from roambus.bridge.backends.radio.state import LISTENING, SENDING, SLEEPING, SWITCHING, State


@compiled
def turn_to(s: State, index: int, target: int, now: int) -> None:
    """Has the radio go to RX, TX or sleep, unless it is there or on the way; if in TX, when it has sent all."""
    node = s.nodes[index]
    if node.radio == SENDING:
        node.after = target
    elif node.radio != target and not (node.radio == SWITCHING and node.target == target):
        spend(s, index, now)
        _set_out(s, index, node.origin if node.radio == SWITCHING else node.radio, target, now)


@compiled
def leave_tx(s: State, index: int, now: int) -> None:
    """The radio has sent all: it goes to RX, or to where it was told to go meanwhile."""
    node = s.nodes[index]
    target = node.after
    node.after = LISTENING
    _set_out(s, index, SENDING, target, now)


@compiled
def _set_out(s: State, index: int, origin: int, target: int, now: int) -> None:
    node = s.nodes[index]
    node.radio = SWITCHING
    node.origin = origin
    node.target = target
    node.switches += 1
    node.switched = now + _delay(s.run[0].radio, origin, target)
    kind = events.LISTENING_ON
    if target == SENDING:
        kind = events.SENDING_ON
    elif target == SLEEPING:
        kind = events.SLEEPING_ON
    events.schedule(s, node.switched, kind, index)


@compiled
def _delay(radio: Any, origin: int, target: int) -> int:
    """How long the change takes; to go back to where it comes from takes the radio no time."""
    delay = 0
    if origin == LISTENING and target == SENDING:
        delay = radio.rx_to_tx
    elif origin == SENDING and target == LISTENING:
        delay = radio.tx_to_rx
    elif origin == SLEEPING and target == LISTENING:
        delay = radio.sleep_to_rx
    elif target == SLEEPING and origin == LISTENING:
        delay = radio.rx_to_sleep
    elif target == SLEEPING and origin == SENDING:
        delay = radio.tx_to_sleep
    return delay


@compiled
def has_switched(s: State, index: int, target: int, now: int) -> bool:
    """Whether the radio's change to `target` ends now, and was not overtaken by another one."""
    node = s.nodes[index]
    ends: bool = node.radio == SWITCHING and node.target == target and node.switched == now
    return ends


@compiled
def fall_asleep(s: State, index: int, now: int) -> None:
    """The radio sleeps, and knows nothing any more of the power that it received."""
    node = s.nodes[index]
    spend(s, index, now)
    node.radio = SLEEPING
    node.remembered = 0
