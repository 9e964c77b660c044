"""The radio: its states and the changes between them, its buffer, and the frames that leave it.

docs/reference/radio.md, "The radio", has the model, which is that of Castalia's Radio with the values of the CC2420.

1. A radio is in RX (LISTENING), in TX (SENDING), asleep, or SWITCHING between two of these. A change takes the time in
   `switch_time`; to go back to the state where it comes from takes no time.
2. A change can be overtaken by another one while it is under way. Its end, which is in the queue of events already,
   then is not the end that the node waits for, and nothing happens at it.
"""

from __future__ import annotations

from roambus.bridge.backends.radio import state
from roambus.bridge.backends.radio.energy import spend
from roambus.bridge.backends.radio.engine import compiled
from roambus.bridge.backends.radio.medium import take_found
from roambus.bridge.backends.radio.memory import ask_ahead, asked_ahead
from roambus.bridge.backends.radio.receiver import signal_ends, signal_starts
from roambus.bridge.backends.radio.state import LISTENING, SENDING, SLEEPING, SWITCHING, State
from roambus.python_protocol.vocabulary import MICROSECOND

PROCESSING_DELAY = 10 * MICROSECOND
"""The time that a frame takes from a receiver's radio to its MAC, as in Castalia."""

NO_FRAME = -1


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
def _set_out(s: State, index: int, origin: int, target: int, now: int) -> None:
    """Begins a change of state. One that is under way is overtaken, and this one starts from where that came from."""
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
    """Whether the radio's change to `target` ends now, and was not overtaken by another one."""
    node = s.nodes[index]
    return bool(node.radio == SWITCHING and node.target == target and node.switched == now)


@compiled
def fall_asleep(s: State, index: int, now: int) -> None:
    """The radio sleeps, and knows nothing any more of the power that it received."""
    node = s.nodes[index]
    spend(s, index, now)
    node.radio = SLEEPING
    node.remembered = 0


@compiled
def buffer_frame(s: State, sender: int, frame: int, now: int) -> bool:
    """Takes a frame from the MAC, and goes to TX for it; false if the buffer is full.

    Only a radio in RX sets out for TX: one that is in TX goes on with the frame, one on its way there begins with it.
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
    """Puts the first frame of the buffer on the air; the radio is in TX.

    From now on the radio has no reading of the power received. Whom the frame reaches was found before this event.
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
    node.transmitted += 1
    node.sending_time += s.frames[frame].airtime
    take_found(s, sender)
    last = asked_ahead(s, node.reached)
    for k in range(node.reached):
        ask_ahead(s, sender, k, last)
        link = s.links[sender, k]
        signal_starts(s, link.receiver, sender, link.power, now)
    state.schedule(s, now + s.frames[frame].airtime, state.FRAME_END, sender)


@compiled
def end_frame(s: State, sender: int, now: int) -> None:
    """Ends the frame: receivers judge it, and with an empty buffer the radio leaves TX.

    The frame ends at those whom it reached when it began, wherever nodes have moved since: `links` is found by the
    next frame only.
    """
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
        target = node.after
        node.after = LISTENING
        _set_out(s, sender, SENDING, target, now)
