"""The MAC: TunableMAC as CSMA, as docs/radio.md, "The MAC", tells it.

A MAC has a bounded queue and one timer, which runs by the node's own clock; its state says what the timer is for. An
idle MAC that gets a frame contends for the channel: it senses, backs off while the channel is busy, and then drains
its queue, handing the radio one frame after the other, each as often as it has tries; or it hands over one frame, and
contends anew for the next. By chance a try does not happen. A frame that has no tries left is dropped.
"""

from __future__ import annotations

import math
from typing import Any

from roambus.bridge.backends.radio import events
from roambus.bridge.backends.radio.chance import BACKOFF, uniform
from roambus.bridge.backends.radio.compiled import compiled
from roambus.bridge.backends.radio.outbox import BUFFER_FULL, NO_ENERGY, NOT_BOOTED, QUEUE_FULL, TAKEN, let_go, refuse
from roambus.bridge.backends.radio.receiver import measured_power
from roambus.bridge.backends.radio.state import DEAD_MAC, LISTENING, State
from roambus.bridge.backends.radio.transmitter import buffer_frame

EARLY = 0.95
"""The next frame goes to the radio after this share of the air time of the one before, so that TX is not left."""

IDLE, CONTENDING, DRAINING, WAITING = 0, 1, 2, 3
"""The states of the MAC: it has nothing to send, senses or backs off, sends all it has, or waits to try again."""

CONSTANT, MULTIPLYING, EXPONENTIAL = 1, 2, 3
"""The types of back-off: its bound is the base, or that times the busy results in a row, or doubled by each."""


@compiled
def accept(s: State, sender: int, frame: int, now: int) -> None:
    """Takes a frame that comes down from the network layer, or refuses it."""
    node, run = s.nodes[sender], s.run[0]
    node.offered += 1
    if not _takes(s, node, s.frames[frame], now):
        refuse(s, frame)
        return
    s.queues[sender, (node.front + node.queued) % run.mac.buffer_size] = frame
    node.queued += 1
    s.frames[frame].holders = 1
    if node.mac == IDLE and node.queued == 1:
        node.tries = run.mac.tries
        _attempt(s, sender, now)


@compiled
def _attempt(s: State, sender: int, now: int) -> None:
    """Tries to transmit the first queued frame; by chance the try does not happen."""
    node, mac = s.nodes[sender], s.run[0].mac
    if mac.prob_tx < 1.0 and uniform(s.run[0], BACKOFF) >= mac.prob_tx:
        node.mac = WAITING
        node.tries -= 1
        _set_timer(s, sender, float(mac.retransmission_interval), now)
    else:
        node.mac = CONTENDING
        _set_timer(s, sender, uniform(s.run[0], BACKOFF) * mac.random_tx_offset, now)


@compiled
def _takes(s: State, node: Any, frame: Any, now: int) -> bool:
    if now < node.start:
        frame.refusal = NO_ENERGY if node.mac == DEAD_MAC else NOT_BOOTED
    elif frame.refusal == TAKEN and node.queued == s.run[0].mac.buffer_size:
        node.mac_overflown += 1
        frame.refusal = QUEUE_FULL
    taken: bool = frame.refusal == TAKEN
    return taken


@compiled
def timer_fired(s: State, sender: int, now: int) -> None:
    """Goes on with what the MAC is at; it has one timer, which runs unless the MAC is idle or dead."""
    if s.nodes[sender].mac == CONTENDING:
        _sense(s, sender, now)
    elif s.nodes[sender].mac == DRAINING:
        _drain(s, sender, now)
    elif s.nodes[sender].mac == WAITING:
        _go_on(s, sender, now)


@compiled
def _go_on(s: State, sender: int, now: int) -> None:
    """Tries again, or drops the first queued frame if it has no tries left; like TunableMAC, it tells nobody."""
    node = s.nodes[sender]
    if node.tries <= 0:
        let_go(s, _take_first(s, sender))
        node.tries = s.run[0].mac.tries
    if node.queued > 0:
        _attempt(s, sender, now)
    else:
        node.mac = IDLE


@compiled
def _take_first(s: State, sender: int) -> int:
    node = s.nodes[sender]
    frame: int = s.queues[sender, node.front]
    node.front = (node.front + 1) % s.run[0].mac.buffer_size
    node.queued -= 1
    return frame


@compiled
def _sense(s: State, sender: int, now: int) -> None:
    """Senses the carrier: sends if it is clear, backs off if not, tries again soon if the radio cannot tell."""
    node, run = s.nodes[sender], s.run[0]
    power = measured_power(s, sender, now)
    if node.radio != LISTENING or math.isnan(power):
        _set_timer(s, sender, float(run.mac.valid_cs_delay), now)
    elif power < run.radio.cca_threshold_dbm:
        _find_clear(s, sender, now)
    elif run.mac.persistence > 0.0:
        _set_timer(s, sender, float(run.mac.valid_cs_delay), now)
    else:
        node.backoffs += 1
        _set_timer(s, sender, uniform(s.run[0], BACKOFF) * _backoff_bound(s, node.backoffs), now)


@compiled
def _find_clear(s: State, sender: int, now: int) -> None:
    """Sends into the clear channel; a p-persistent MAC does so with probability p only, and else senses again soon."""
    node, mac = s.nodes[sender], s.run[0].mac
    if 0.0 < mac.persistence < 1.0 and mac.persistence < uniform(s.run[0], BACKOFF):
        _set_timer(s, sender, float(mac.valid_cs_delay), now)
        return
    node.backoffs = 0
    if mac.sends_all:
        node.mac = DRAINING
        _drain(s, sender, now)
    else:
        _send_one(s, sender, now)


@compiled
def _backoff_bound(s: State, backoffs: int) -> float:
    mac = s.run[0].mac
    factor = 1.0
    if mac.backoff_type == MULTIPLYING:
        factor = float(backoffs)
    elif mac.backoff_type == EXPONENTIAL:
        factor = 2.0 ** (backoffs - 1)
    return factor * float(mac.backoff_base)


@compiled
def _set_timer(s: State, sender: int, delay: float, now: int) -> None:
    events.schedule(s, now + round(delay * s.nodes[sender].clock_rate), events.MAC_TIMER, sender)


@compiled
def _drain(s: State, sender: int, now: int) -> None:
    """Passes the first queued frame to the radio; with none left the MAC is idle."""
    node = s.nodes[sender]
    if node.queued == 0:
        node.mac = IDLE
        return
    frame = s.queues[sender, node.front]
    _hand_over(s, sender, frame, now)
    if node.mac == DEAD_MAC:
        return  # its last energy went when the radio turned round
    if node.tries <= 0:
        node.tries = s.run[0].mac.tries
        let_go(s, _take_first(s, sender))
    early = EARLY * s.frames[frame].airtime * node.clock_rate
    events.schedule(s, now + round(early), events.MAC_TIMER, sender)


@compiled
def _send_one(s: State, sender: int, now: int) -> None:
    """Passes the first queued frame to the radio, and tries the next time when that has left."""
    node, mac = s.nodes[sender], s.run[0].mac
    frame = s.queues[sender, node.front]
    _hand_over(s, sender, frame, now)
    if node.mac == DEAD_MAC:
        return
    node.mac = WAITING
    wait = float(s.frames[frame].airtime)
    if node.tries > 0:
        wait += float(mac.retransmission_interval)
    _set_timer(s, sender, wait, now)


@compiled
def _hand_over(s: State, sender: int, frame: int, now: int) -> None:
    """Uses up a try of the frame: a copy of it goes to the radio, if that has room."""
    s.nodes[sender].tries -= 1
    s.frames[frame].holders += 1
    if not buffer_frame(s, sender, frame, now):
        s.frames[frame].holders -= 1
        if s.run[0].mac.tries == 1:  # of several copies some may have left: then nobody is told
            s.frames[frame].refusal = BUFFER_FULL
