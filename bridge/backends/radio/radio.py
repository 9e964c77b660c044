"""The radio: its states and their changes, its buffer, and outgoing frames.

Model: docs/reference/radio.md, "The radio", as in Castalia's Radio with the CC2420's values. A radio is in RX
(LISTENING), in TX (SENDING), asleep, or SWITCHING in between, for the time in `switch_time`; returning to the original
state takes none. A new change can overtake one under way, whose queued end then has no effect.
"""

from __future__ import annotations

from roambus.bridge.backends.radio import state
from roambus.bridge.backends.radio.energy import spend
from roambus.bridge.backends.radio.engine import compiled
from roambus.bridge.backends.radio.medium import take_found
from roambus.bridge.backends.radio.receiver import signal_ends, signal_starts
from roambus.bridge.backends.radio.state import LISTENING, SENDING, SLEEPING, SWITCHING, State
from roambus.python_protocol.simtime import MICROSECOND

PROCESSING_DELAY = 10 * MICROSECOND
"""A frame's time from radio to MAC at a receiver, as in Castalia."""

NO_FRAME = -1


@compiled
def turn_to(s: State, index: int, target: int, now: int) -> None:
    """Turn the radio to RX, TX or sleep, unless there or on the way; from TX after all frames."""
    node = s.nodes[index]
    if node.radio == SENDING:
        node.after = target
    elif node.radio != target and not (node.radio == SWITCHING and node.target == target):
        spend(s, index, now)
        _set_out(s, index, node.origin if node.radio == SWITCHING else node.radio, target, now)


@compiled
def _set_out(s: State, index: int, origin: int, target: int, now: int) -> None:
    """Begin a change of state; overtake one under way from its original state."""
    node = s.nodes[index]
    node.radio, node.origin, node.target = SWITCHING, origin, target
    node.switches += 1
    node.switched = now + s.run[0].switch_time[origin, target]
    kind = state.LISTENING_ON
    if target == SENDING:
        kind = state.SENDING_ON
    elif target == SLEEPING:
        kind = state.SLEEPING_ON
    state.schedule(s, node.switched, kind, index)


@compiled
def has_switched(s: State, index: int, target: int, now: int) -> bool:
    """Return whether the radio's change to `target` ends now, not overtaken."""
    node = s.nodes[index]
    return bool(node.radio == SWITCHING and node.target == target and node.switched == now)


@compiled
def fall_asleep(s: State, index: int, now: int) -> None:
    """Put the radio to sleep and forget its received power."""
    node = s.nodes[index]
    spend(s, index, now)
    node.radio = SLEEPING
    node.remembered = 0


@compiled
def buffer_frame(s: State, sender: int, frame: int, now: int) -> bool:
    """Take a frame from the MAC; return false if the buffer is full.

    Only a radio in RX sets out for TX: others are there or on the way.
    """
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
    """Put the buffer's first frame on the air, in TX, and drop the power reading.

    The frame's hearers were found before this event.
    """
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
    node.began = now
    node.transmitted += 1
    node.sending_time += s.frames[frame].airtime
    if now >= s.run[0].warm_up:
        node.air_frames += 1
        node.air_bytes += s.frames[frame].bytes
        node.air_ns += s.frames[frame].airtime
    take_found(s, sender)
    for k in range(node.reached):
        link = s.links[sender, k]
        signal_starts(s, link.receiver, sender, link.power, now)
    state.schedule(s, now + s.frames[frame].airtime, state.FRAME_END, sender)


@compiled
def end_frame(s: State, sender: int, now: int) -> None:
    """End the frame: receivers judge it, and an empty buffer ends TX.

    It ends at its first hearers, despite moves: only the next frame updates `links`.
    """
    node = s.nodes[sender]
    spend(s, sender, now)
    node.arrivals = 0
    for k in range(node.reached):
        signal_ends(s, s.links[sender, k].receiver, sender, now)
    node.arriving = node.on_air
    state.schedule(s, now + PROCESSING_DELAY, state.ARRIVE, sender)
    if node.buffered == 0:
        target = node.after
        node.after = LISTENING
        _set_out(s, sender, SENDING, target, now)


OF_RECEPTION = (start_frame, end_frame)
"""The functions that lead to signals, callees first."""
