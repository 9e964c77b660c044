"""The MAC: TunableMAC as CSMA, as docs/radio.md, "The MAC", tells it.

A MAC has a bounded queue and one timer, which runs by the node's own clock; its state says what the timer is for. An
idle MAC that gets a frame contends for the channel: it senses, backs off while the channel is busy, and then drains
its queue, handing the radio one frame after the other, each as often as it has tries; or it hands over one frame, and
contends anew for the next. By chance a try does not happen. A frame that has no tries left is dropped.

With a duty cycle an idle MAC has its radio listen and sleep in turns. What is sent has preambles before it, for as long
as others sleep. Who hears one stays awake until a packet comes, or would have come.
"""

from __future__ import annotations

import math
from typing import Any

from roambus.bridge.backends.radio.chance import BACKOFF, uniform
from roambus.bridge.backends.radio.compiled import compiled
from roambus.bridge.backends.radio.mac_timer import set_timer
from roambus.bridge.backends.radio.outbox import BUFFER_FULL, NO_ENERGY, NOT_BOOTED, QUEUE_FULL, TAKEN, let_go, refuse
from roambus.bridge.backends.radio.receiver import measured_power
from roambus.bridge.backends.radio.state import DEAD_MAC, LISTENING, SLEEPING, State
from roambus.bridge.backends.radio.switching import turn_to
from roambus.bridge.backends.radio.transmitter import buffer_frame

EARLY, PREAMBLE_EARLY = 0.95, 0.98
"""The next frame goes to the radio after this share of the air time of the one before, so that TX is not left."""

IDLE, CONTENDING, DRAINING, WAITING, RECEIVING, PAUSING = 0, 1, 2, 3, 5, 6
"""The states of the MAC: it has nothing to send, senses or backs off, sends all it has, waits to try again, waits for
the packet that a preamble has announced, or for what it sent to have left. 4 is DEAD_MAC."""

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
        set_timer(s, sender, float(mac.retransmission_interval), now)
    else:
        node.mac = CONTENDING
        set_timer(s, sender, uniform(s.run[0], BACKOFF) * mac.random_tx_offset, now)


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
    """Goes on with what the MAC is at."""
    mac = s.nodes[sender].mac
    if mac == CONTENDING:
        _sense(s, sender, now)
    elif mac == DRAINING:
        _drain(s, sender, now)
    elif mac == IDLE:
        _take_turns(s, sender, now)
    elif mac != DEAD_MAC:
        _go_on(s, sender, now)


@compiled
def hear_preamble(s: State, receiver: int, now: int) -> None:
    """The MAC leaves what it is at, and waits for the packet, unless it is sending itself."""
    node = s.nodes[receiver]
    if node.mac != DRAINING and node.mac != PAUSING and node.mac != DEAD_MAC:  # noqa: PLR1714  # as in `arrive`
        node.mac = RECEIVING
        set_timer(s, receiver, float(s.run[0].sleep_interval), now)


@compiled
def hear_packet(s: State, receiver: int, now: int) -> None:
    """If it was waited for, the MAC goes on with what it was at."""
    if s.nodes[receiver].mac == RECEIVING:
        _go_on(s, receiver, now)


@compiled
def _rest(s: State, sender: int, now: int) -> None:
    """The MAC has nothing to send; with a duty cycle its radio goes to sleep first."""
    node = s.nodes[sender]
    node.mac = IDLE
    node.tries = 0
    node.dozing = 0
    if s.run[0].sleep_interval > 0:
        set_timer(s, sender, 0.0, now)


@compiled
def _take_turns(s: State, index: int, now: int) -> None:
    """The idle MAC has its radio listen if it slept, and sleep if it listened."""
    node, run = s.nodes[index], s.run[0]
    node.dozing = 1 - node.dozing
    if node.dozing:
        turn_to(s, index, SLEEPING, now)
        set_timer(s, index, float(run.sleep_interval), now)
    else:
        turn_to(s, index, LISTENING, now)
        set_timer(s, index, float(run.mac.listen_interval), now)


@compiled
def _go_on(s: State, sender: int, now: int) -> None:
    """Tries again, or drops the first queued frame if it has no tries left; like TunableMAC, it tells nobody.

    Like TunableMAC, too, it so drops what came from above while it waited for a packet.
    """
    node = s.nodes[sender]
    if node.tries <= 0:
        if node.queued > 0:
            let_go(s, _take_first(s, sender))
        node.tries = s.run[0].mac.tries
    if node.queued > 0:
        _attempt(s, sender, now)
    else:
        _rest(s, sender, now)


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
    if run.may_sleep:
        turn_to(s, sender, LISTENING, now)
    power = measured_power(s, sender, now)
    if node.radio != LISTENING or math.isnan(power):
        set_timer(s, sender, float(run.mac.valid_cs_delay), now)
    elif power < run.radio.cca_threshold_dbm:
        _find_clear(s, sender, now)
    elif run.mac.persistence > 0.0:
        set_timer(s, sender, float(run.mac.valid_cs_delay), now)
    else:
        node.backoffs += 1
        set_timer(s, sender, uniform(s.run[0], BACKOFF) * _backoff_bound(s, node.backoffs), now)
        if run.may_sleep:
            turn_to(s, sender, SLEEPING, now)


@compiled
def _find_clear(s: State, sender: int, now: int) -> None:
    """Sends into the clear channel; a p-persistent MAC does so with probability p only, and else senses again soon."""
    node, mac = s.nodes[sender], s.run[0].mac
    if 0.0 < mac.persistence < 1.0 and mac.persistence < uniform(s.run[0], BACKOFF):
        set_timer(s, sender, float(mac.valid_cs_delay), now)
        return
    node.backoffs = 0
    node.preambles = s.run[0].preambles
    node.mac = DRAINING
    _drain(s, sender, now)


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
def _drain(s: State, sender: int, now: int) -> None:
    """Passes the next preamble to the radio, or the first queued frame, or all of them one after the other."""
    node, run = s.nodes[sender], s.run[0]
    if node.preambles > 0:
        _send_preamble(s, sender, now)
    elif node.queued == 0:
        _rest(s, sender, now)
    elif run.mac.sends_all:
        _send_next(s, sender, now)
    else:
        _send_one(s, sender, now)


@compiled
def _send_preamble(s: State, sender: int, now: int) -> None:
    node = s.nodes[sender]
    frame = s.run[0].first_preamble + sender
    node.preambles -= 1
    buffer_frame(s, sender, frame, now)
    if node.mac != DEAD_MAC:
        set_timer(s, sender, PREAMBLE_EARLY * s.frames[frame].airtime, now)


@compiled
def _send_next(s: State, sender: int, now: int) -> None:
    """Passes the first queued frame to the radio, and the next one shortly before that has left."""
    node = s.nodes[sender]
    frame = s.queues[sender, node.front]
    _hand_over(s, sender, frame, now)
    if node.mac == DEAD_MAC:
        return  # its last energy went when the radio turned round
    if node.tries <= 0:
        node.tries = s.run[0].mac.tries
        let_go(s, _take_first(s, sender))
    set_timer(s, sender, EARLY * s.frames[frame].airtime, now)


@compiled
def _send_one(s: State, sender: int, now: int) -> None:
    """Passes the first queued frame to the radio, and tries the next time when that has left."""
    node, mac = s.nodes[sender], s.run[0].mac
    frame = s.queues[sender, node.front]
    _hand_over(s, sender, frame, now)
    if node.mac == DEAD_MAC:
        return
    node.mac = PAUSING
    wait = float(s.frames[frame].airtime)
    if node.tries > 0:
        wait += float(mac.retransmission_interval)
    set_timer(s, sender, wait, now)


@compiled
def _hand_over(s: State, sender: int, frame: int, now: int) -> None:
    """Uses up a try of the frame: a copy of it goes to the radio, if that has room."""
    s.nodes[sender].tries -= 1
    s.frames[frame].holders += 1
    if not buffer_frame(s, sender, frame, now):
        s.frames[frame].holders -= 1
        if s.run[0].mac.tries == 1:  # of several copies some may have left: then nobody is told
            s.frames[frame].refusal = BUFFER_FULL
