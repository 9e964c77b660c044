"""The MAC: TunableMAC as CSMA, as docs/radio.md, "The MAC", tells it.

A MAC has a bounded queue and one timer, which runs by the node's own clock; its state says what the timer is for. An
idle MAC that gets a frame contends for the channel: it senses, backs off while the channel is busy, and then drains
its queue, handing the radio one frame after the other, each as often as it has tries; or it hands over one frame, and
contends anew for the next. By chance a try does not happen. A frame that has no tries left is dropped.

With a duty cycle an idle MAC has its radio listen and sleep in turns. What is sent has preambles before it, for as long
as others sleep. Who hears one stays awake until a packet comes, or would have come.

The one timer of a MAC, which runs by the node's own clock, and is set anew when the MAC has something else to do.

The queue of events forgets nothing. So a timer that is set to a later time leaves its event where it is, and is put
there anew when that comes; one that is set to an earlier time leaves an event behind that is none any more.

What a duty cycle adds to the state of the compiled loop: preambles, and when nodes first sleep.

TunableMAC calls its preambles beacons. All that a node sends are alike, so each node has one frame for them.

What comes up from a radio to a MAC: a packet that is for the node is passed on, and a preamble announces one.

Traffic for benchmarks that is made inside the compiled loop; it is counted, and Python never hears of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from roambus.bridge.backends.radio import state
from roambus.bridge.backends.radio.heap import BACKOFF, NEVER, TRAFFIC, compiled, exponential, uniform
from roambus.bridge.backends.radio.radio import buffer_frame, turn_to
from roambus.bridge.backends.radio.receiver import measured_power
from roambus.bridge.backends.radio.state import (
    BUFFER_FULL,
    DEAD_MAC,
    FRAME,
    LISTENING,
    NO_ENERGY,
    NOT_BOOTED,
    QUEUE_FULL,
    SLEEPING,
    TAKEN,
    State,
    let_go,
    refuse,
)
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.radio import MacSettings
from roambus.python_protocol.roles import BROADCAST
from roambus.python_protocol.simtime import SECOND, SimTime


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
    state.schedule(s, node.timer, state.MAC_TIMER, index)


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


def preambles_of(scenario: Scenario) -> int:
    """How many frames are kept for preambles: one for each node if nodes sleep in turns."""
    return len(scenario.nodes) if scenario.mac.sleep_interval > 0 else 0


def preamble_airtime(scenario: Scenario) -> SimTime:
    """The time that a preamble is on the air."""
    size = scenario.mac.preamble_bytes + scenario.radio.frame_overhead_bytes
    return size * 8 * SECOND // scenario.radio.data_rate_bps


def preambles_a_packet(scenario: Scenario) -> int:
    """How many go before a packet: as many as cover the time that others sleep, or the given share of it."""
    return math.ceil(scenario.mac.sleep_interval * scenario.mac.preamble_share / preamble_airtime(scenario))


def frames_of(scenario: Scenario, own_frames: int, frames: int) -> NDArray[Any]:
    """FRAME[frames]; of the first `own_frames` the last ones are the preambles."""
    made = np.zeros(frames, FRAME)
    preambles = made[own_frames - preambles_of(scenario) : own_frames]
    preambles["airtime"], preambles["destination"] = preamble_airtime(scenario), BROADCAST
    preambles["sender"] = np.arange(len(preambles))
    return made


def first_naps(nodes: NDArray[Any], mac: MacSettings) -> list[tuple[int, int, int]]:
    """Sets the MACs' timers to when nodes first go to sleep, and returns the events: none without a duty cycle."""
    if mac.sleep_interval == 0:
        return []
    times = nodes["start"] + np.round(mac.listen_interval * nodes["clock_rate"]).astype(np.int64)
    nodes["timer"] = nodes["pending"] = times
    return [(time, state.MAC_TIMER, node) for node, time in enumerate(times.tolist())]


@compiled
def arrive(s: State, sender: int, now: int) -> None:
    """The last frame of `sender` comes up to the MACs of those who received it: the ones that it is for take it."""
    node, run = s.nodes[sender], s.run[0]
    frame = node.arriving
    destination, is_preamble = s.frames[frame].destination, run.first_preamble <= frame < run.own_frames
    for k in range(node.arrivals):
        arrival = s.arrivals[sender, k]
        if is_preamble:
            hear_preamble(s, arrival.receiver, now)
        elif destination == BROADCAST or destination == arrival.receiver:  # noqa: PLR1714  # Numba wants one type in a tuple
            _deliver(s, frame, arrival)
            hear_packet(s, arrival.receiver, now)
    let_go(s, frame)


@compiled
def _deliver(s: State, frame: int, arrival: Any) -> None:
    node, run = s.nodes[arrival.receiver], s.run[0]
    node.received += 1
    node.rssi_sum += arrival.rssi
    node.lqi_sum += arrival.lqi
    if frame >= run.own_frames:
        delivery = s.deliveries[run.deliveries]
        delivery.receiver = arrival.receiver
        delivery.frame = frame
        delivery.rssi = arrival.rssi
        delivery.lqi = arrival.lqi
        run.deliveries += 1


@dataclass(frozen=True, slots=True)
class PoissonSources:
    """Nodes broadcast packets with exponential gaps, the first at uniform(0, mean gap) after the node's start."""

    rate_per_s: float | Sequence[float]
    """The packets per second, for every node or for each; at 0 a node is silent."""
    payload_bytes: int


@compiled
def emit(s: State, node: int, now: int) -> None:
    """Has the node send its next packet, whose frame has the node's index."""
    gap = exponential(s.run[0], TRAFFIC, s.nodes[node].mean_gap)
    state.schedule(s, now + round(gap), state.REQUEST, node)
    accept(s, node, node, now)
