"""The MAC: TunableMAC as CSMA. A bounded queue, carrier sense, back-off, and everything queued sent back to back.

Its timers run by the node's own clock. Source: the design, section 7.
"""

from __future__ import annotations

from bridge.backends.radio import events
from bridge.backends.radio.chance import BACKOFF, uniform
from bridge.backends.radio.compiled import compiled
from bridge.backends.radio.outbox import BUFFER_FULL, NOT_BOOTED, QUEUE_FULL, TAKEN, refuse
from bridge.backends.radio.receiver import measured_power
from bridge.backends.radio.state import CONTENDING, DRAINING, IDLE, LISTENING, State
from bridge.backends.radio.transmitter import buffer_frame

EARLY = 0.95
"""The next frame goes to the radio after this share of the air time of the one before, so that TX is not left."""

CONSTANT, MULTIPLYING, EXPONENTIAL = 1, 2, 3
"""Back-off types: the bound is the base; times the busy results in a row; doubled by each."""


@compiled
def accept(s: State, sender: int, frame: int, now: int) -> None:
    """A frame comes down from the network layer."""
    node, model = s.nodes[sender], s.model[0]
    node.offered += 1
    refusal = s.frames[frame].refusal if now >= node.start else NOT_BOOTED
    if refusal == TAKEN and node.queued == model.queue_size:
        node.mac_overflown += 1
        refusal = QUEUE_FULL
    if refusal != TAKEN:
        refuse(s, frame, refusal)
        return
    s.queues[sender, (node.front + node.queued) % model.queue_size] = frame
    node.queued += 1
    if node.mac == IDLE and node.queued == 1:
        node.mac = CONTENDING
        _sense_after(s, sender, uniform(s.streams, BACKOFF) * model.random_tx_offset, now)


@compiled
def sense(s: State, sender: int, now: int) -> None:
    """Senses the carrier: sends if it is clear, backs off if not, tries again soon if the radio cannot tell."""
    node, model = s.nodes[sender], s.model[0]
    power = measured_power(s, sender, now)
    if node.radio != LISTENING or power != power:
        _sense_after(s, sender, model.valid_cs_delay, now)
    elif power < model.cca_threshold:
        node.backoffs = 0
        node.mac = DRAINING
        drain(s, sender, now)
    else:
        node.backoffs += 1
        _sense_after(s, sender, uniform(s.streams, BACKOFF) * _backoff_bound(s, node.backoffs), now)


@compiled
def _backoff_bound(s: State, backoffs: int) -> float:
    model = s.model[0]
    if model.backoff_type == MULTIPLYING:
        return model.backoff_base * float(backoffs)
    if model.backoff_type == EXPONENTIAL:
        return model.backoff_base * 2.0 ** (backoffs - 1)
    return float(model.backoff_base)


@compiled
def _sense_after(s: State, sender: int, delay: float, now: int) -> None:
    events.schedule(s, now + round(delay * s.nodes[sender].clock_rate), events.SENSE, sender)


@compiled
def drain(s: State, sender: int, now: int) -> None:
    """Passes the first queued frame to the radio; with none left the MAC is idle."""
    node = s.nodes[sender]
    if node.queued == 0:
        node.mac = IDLE
        return
    frame = s.queues[sender, node.front]
    node.front = (node.front + 1) % s.model[0].queue_size
    node.queued -= 1
    if not buffer_frame(s, sender, frame, now):
        refuse(s, frame, BUFFER_FULL)
    early = EARLY * s.frames[frame].airtime * node.clock_rate
    events.schedule(s, now + round(early), events.DRAIN, sender)
