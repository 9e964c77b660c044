"""Transmission: frames wait in the radio's buffer, the radio turns round, and they leave.

docs/radio.md, "The radio", has the model.
"""

from __future__ import annotations

from roambus.bridge.backends.radio import events
from roambus.bridge.backends.radio.ahead import ask_ahead, asked_ahead
from roambus.bridge.backends.radio.battery import spend
from roambus.bridge.backends.radio.compiled import compiled
from roambus.bridge.backends.radio.hearers import take_found
from roambus.bridge.backends.radio.receiver import signal_ends, signal_starts
from roambus.bridge.backends.radio.state import LISTENING, SENDING, State
from roambus.bridge.backends.radio.switching import leave_tx, turn_to
from roambus.bridge.backends.radio.variation import look_again
from roambus.python_protocol.simtime import MICROSECOND

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
    events.schedule(s, now + s.frames[frame].airtime, events.FRAME_END, sender)


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
    events.schedule(s, now + PROCESSING_DELAY, events.ARRIVE, sender)
    if node.buffered == 0:
        leave_tx(s, sender, now)
