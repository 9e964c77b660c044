"""Transmission: frames wait in the radio's buffer, the radio turns round, and they leave.

docs/radio.md, "The radio", has the model.

The states of a radio, and how it changes between them: docs/radio.md, "The radio".

A change takes a time, and can be overtaken by another one; then its end, which is in the queue of events already, is
none any more.
"""

from __future__ import annotations

from typing import Any

from roambus.bridge.backends.radio import state
from roambus.bridge.backends.radio.energy import spend
from roambus.bridge.backends.radio.heap import compiled
from roambus.bridge.backends.radio.hearers import look_again, take_found
from roambus.bridge.backends.radio.memory import ask_ahead, asked_ahead
from roambus.bridge.backends.radio.receiver import signal_ends, signal_starts
from roambus.bridge.backends.radio.state import LISTENING, SENDING, SLEEPING, SWITCHING, State
from roambus.python_protocol.simtime import MICROSECOND


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
    kind = state.LISTENING_ON
    if target == SENDING:
        kind = state.SENDING_ON
    elif target == SLEEPING:
        kind = state.SLEEPING_ON
    state.schedule(s, node.switched, kind, index)


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


PROCESSING_DELAY = 10 * MICROSECOND
"""The time that a frame takes from a receiver's radio to its MAC."""

NO_FRAME = -1


@compiled
def buffer_frame(s: State, sender: int, frame: int, now: int) -> bool:
    """Takes a frame from the MAC, and goes to TX for it; false if the buffer is full."""
    node, run = s.nodes[sender], s.run[0]
    if node.buffered == run.radio.buffer_size:
        return False
    s.buffers[sender, (node.buffer_front + node.buffered) % run.radio.buffer_size] = frame
    node.buffered += 1
    if node.radio == LISTENING:
        turn_to(s, sender, SENDING, now)
    return True


@compiled
def start_frame(s: State, sender: int, now: int) -> None:
    """Puts the first frame of the buffer on the air; the radio is in TX."""
    node = s.nodes[sender]
    spend(s, sender, now)
    if node.buffered == 0:
        return  # its last energy went before the radio was in TX
    frame = s.buffers[sender, node.buffer_front]
    node.buffer_front = (node.buffer_front + 1) % s.run[0].radio.buffer_size
    node.buffered -= 1
    node.radio = SENDING
    node.remembered = 0
    node.on_air = frame
    node.transmitted += 1
    node.sending_time += s.frames[frame].airtime
    take_found(s, sender)
    if s.run[0].varies:
        look_again(s, sender)
    last = asked_ahead(s, node.reached)
    for k in range(node.reached):
        ask_ahead(s, sender, k, last)
        link = s.links[sender, k]
        signal_starts(s, link.receiver, sender, link.power, now)
    state.schedule(s, now + s.frames[frame].airtime, state.FRAME_END, sender)


@compiled
def end_frame(s: State, sender: int, now: int) -> None:
    """Ends the frame: receivers judge it, and the radio sends the next one or returns to RX."""
    node = s.nodes[sender]
    spend(s, sender, now)
    node.arrivals = 0
    last = asked_ahead(s, node.reached)
    for k in range(node.reached):
        ask_ahead(s, sender, k, last)
        signal_ends(s, s.links[sender, k].receiver, sender, now)
    node.arriving = node.on_air
    state.schedule(s, now + PROCESSING_DELAY, state.ARRIVE, sender)
    if node.buffered == 0:
        leave_tx(s, sender, now)
