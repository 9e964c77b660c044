"""The MAC: Castalia's TunableMAC, which is CSMA without acknowledgements, as in docs/radio.md, "The MAC".

1. A MAC has a bounded queue, one timer, and a state that says what the timer is for. An idle MAC that gets a frame
   contends for the channel: it senses, backs off while the channel is busy, and then drains its queue, handing the
   radio one frame after the other, each as often as it has tries; or it hands over one frame, and contends for the
   next. By chance (`probTx`) a try does not happen. A frame that has no tries left is dropped, and nobody is told.
2. The next frame goes to the radio shortly before the one before has left, so that TX is not left in between.
3. With a duty cycle an idle MAC has its radio listen and sleep in turns. What is sent has preambles before it
   (TunableMAC calls them beacons), for as long as others sleep. Who hears one stays awake until a packet comes, or
   would have come.
4. The timer runs by the node's own clock, and is set again when the MAC has something else to do. The queue of events
   forgets nothing: so a timer that is set to a later time leaves its event where it is, and is renewed when that
   comes; one that is set to an earlier time leaves an event behind at which nothing happens. Most timers are set later,
   so that the queue stays short.
5. What comes up from the radio is passed on if it is a broadcast, or for the node.

Two of TunableMAC's ways are kept that lose packets, for the reference has them: who has got one packet sleeps, and
misses others that follow the same preambles; and what comes from above while a MAC waits for a packet may be dropped.

The order of draws is part of what a seed means: for the chance of a try (only below 1), the wait before it, the bound
of a back-off, and the persistence. A draw whose result is always 0 is still made where another value of a key would
make it, so that runs which differ in one key share what they can.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from roambus.bridge.backends.radio import state
from roambus.bridge.backends.radio.engine import BACKOFF, NEVER, TRAFFIC, compiled, exponential, uniform
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
    release,
)
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.radio import MacSettings
from roambus.python_protocol.vocabulary import BROADCAST, SECOND, SimTime

EARLY, PREAMBLE_EARLY = 0.95, 0.98
"""The next frame goes to the radio after this share of the air time of the one before, so that TX is not left."""

IDLE, CONTENDING, DRAINING, WAITING, RECEIVING, PAUSING = 0, 1, 2, 3, 5, 6
"""The states of the MAC: it has nothing to send, senses or backs off, sends all it has, waits to try again, waits for
the packet that a preamble has announced, or for what it sent to have left. 4 is DEAD_MAC."""

CONSTANT, MULTIPLYING, EXPONENTIAL = 1, 2, 3
"""The types of back-off: its bound is the base, or that times the busy results in a row, or doubled by each."""


@dataclass(frozen=True, slots=True)
class PoissonSources:
    """Nodes broadcast packets with exponential gaps, the first at uniform(0, mean gap) after the node's start."""

    rate_per_s: float | Sequence[float]
    """The packets per second, for every node or for each; at 0 a node is silent."""
    payload_bytes: int


@compiled
def accept(s: State, sender: int, frame: int, now: int) -> None:
    """Takes a frame that comes down from the network layer, or refuses it."""
    node, run = s.nodes[sender], s.run[0]
    node.offered += 1
    if not _takes(s, node, s.frames[frame], now):
        release(s, frame)
        return
    s.queues[sender, (node.front + node.queued) % run.mac.buffer_size] = frame
    node.queued += 1
    s.frames[frame].holders = 1
    if node.mac == IDLE and node.queued == 1:
        node.tries = run.mac.tries
        _attempt(s, sender, now)


@compiled
def emit(s: State, node: int, now: int) -> None:
    """Has the node send the next packet of its compiled traffic, whose frame has the node's index."""
    gap = exponential(s.run[0], TRAFFIC, s.nodes[node].mean_gap)
    state.schedule(s, now + round(gap), state.REQUEST, node)
    accept(s, node, node, now)


@compiled
def arrive(s: State, sender: int, now: int) -> None:
    """The last frame of `sender` comes up to the MACs of those who received it: the ones that it is for take it.

    Of the frames that TunableMAC knows, a preamble announces a packet to whoever hears it, whomever that is for.
    """
    node, run = s.nodes[sender], s.run[0]
    frame = node.arriving
    destination, is_preamble = s.frames[frame].destination, run.first_preamble <= frame < run.own_frames
    for k in range(node.arrivals):
        arrival = s.arrivals[sender, k]
        if is_preamble:
            _hear_preamble(s, arrival.receiver, now)
        elif destination == BROADCAST or destination == arrival.receiver:  # noqa: PLR1714  # Numba wants one type in a tuple
            _deliver(s, frame, arrival)
            if s.nodes[arrival.receiver].mac == RECEIVING:  # it has waited for this packet
                _go_on(s, arrival.receiver, now)
    let_go(s, frame)


@compiled
def is_due(s: State, index: int, now: int) -> bool:
    """Whether the timer runs out with this event, and not later, nor has with an earlier one.

    If it runs out later, this is the time to put its event there.
    """
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
def _takes(s: State, node: Any, frame: Any, now: int) -> bool:
    """Whether the MAC takes the frame; otherwise its `refusal` says why, which for too long a frame it does already."""
    if now < node.start:
        frame.refusal = NO_ENERGY if node.mac == DEAD_MAC else NOT_BOOTED
    elif frame.refusal == TAKEN and node.queued == s.run[0].mac.buffer_size:
        node.mac_overflown += 1
        frame.refusal = QUEUE_FULL
    return bool(frame.refusal == TAKEN)


@compiled
def _attempt(s: State, sender: int, now: int) -> None:
    """Tries to transmit the first queued frame; by chance the try does not happen.

    An offset of 0 is drawn, too, so that what is drawn later does not depend on it.
    """
    node, mac = s.nodes[sender], s.run[0].mac
    if mac.prob_tx < 1.0 and uniform(s.run[0], BACKOFF) >= mac.prob_tx:
        node.mac = WAITING
        node.tries -= 1
        _set_timer(s, sender, float(mac.retransmission_interval), now)
    else:
        node.mac = CONTENDING
        _set_timer(s, sender, uniform(s.run[0], BACKOFF) * mac.random_tx_offset, now)


@compiled
def _sense(s: State, sender: int, now: int) -> None:
    """Senses the carrier: sends if it is clear, backs off if not, tries again soon if the radio cannot tell.

    A persistent MAC does not back off, and senses again soon instead. Where radios sleep, this one may have to wake up
    first, and sleeps again while it backs off; its reading is not valid until it has listened for 128 us.
    """
    node, run = s.nodes[sender], s.run[0]
    if run.may_sleep:
        turn_to(s, sender, LISTENING, now)
    power = measured_power(s, sender, now)
    valid = node.radio == LISTENING and not math.isnan(power)
    if valid and power < run.radio.cca_threshold_dbm:
        _find_clear(s, sender, now)
    elif not valid or run.mac.persistence > 0.0:
        _set_timer(s, sender, float(run.mac.valid_cs_delay), now)
    else:
        node.backoffs += 1
        _set_timer(s, sender, uniform(s.run[0], BACKOFF) * _backoff_bound(s, node.backoffs), now)
        if run.may_sleep:
            turn_to(s, sender, SLEEPING, now)


@compiled
def _find_clear(s: State, sender: int, now: int) -> None:
    """Sends into the clear channel; a p-persistent MAC does so with probability p only, and else senses again soon."""
    node, mac = s.nodes[sender], s.run[0].mac
    if 0.0 < mac.persistence < 1.0 and mac.persistence < uniform(s.run[0], BACKOFF):
        _set_timer(s, sender, float(mac.valid_cs_delay), now)
        return
    node.backoffs = 0
    node.preambles = s.run[0].preambles
    node.mac = DRAINING
    _drain(s, sender, now)


@compiled
def _backoff_bound(s: State, backoffs: int) -> float:
    """The longest back-off in ns, after a number of busy results in a row; the templates' type is MULTIPLYING."""
    mac = s.run[0].mac
    factor = 1.0
    if mac.backoff_type == MULTIPLYING:
        factor = float(backoffs)
    elif mac.backoff_type == EXPONENTIAL:
        factor = 2.0 ** (backoffs - 1)
    return factor * float(mac.backoff_base)


@compiled
def _drain(s: State, sender: int, now: int) -> None:
    """Passes the next preamble to the radio, or the first queued frame, or all of them one after the other.

    What comes from above meanwhile is sent along, so that the queue is looked at again each time.
    """
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
    """Passes a preamble to the radio. They are all alike, so each node has one frame for them, and no agent gets it.

    Turning the radio round may find the battery empty: then the MAC is dead, and sets no timer.
    """
    node = s.nodes[sender]
    frame = s.run[0].first_preamble + sender
    node.preambles -= 1
    buffer_frame(s, sender, frame, now)
    if node.mac != DEAD_MAC:
        _set_timer(s, sender, PREAMBLE_EARLY * s.frames[frame].airtime, now)


@compiled
def _send_next(s: State, sender: int, now: int) -> None:
    """Passes the first queued frame to the radio, and the next one shortly before that has left.

    The frame leaves the queue with its last try; copies that still wait in the radio hold it until they have left.
    """
    node = s.nodes[sender]
    frame = s.queues[sender, node.front]
    _hand_over(s, sender, frame, now)
    if node.mac == DEAD_MAC:
        return  # its last energy went when the radio turned round
    if node.tries <= 0:
        node.tries = s.run[0].mac.tries
        let_go(s, _take_first(s, sender))
    _set_timer(s, sender, EARLY * s.frames[frame].airtime, now)


@compiled
def _send_one(s: State, sender: int, now: int) -> None:
    """Passes the first queued frame to the radio, and tries the next time when that has left."""
    node, mac = s.nodes[sender], s.run[0].mac
    frame = s.queues[sender, node.front]
    _hand_over(s, sender, frame, now)
    if node.mac == DEAD_MAC:
        return
    node.mac = PAUSING
    # The MAC knows when its frame has left only by computing it: Castalia's radio does not tell it either.
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


@compiled
def _take_first(s: State, sender: int) -> int:
    """Takes the first frame off the queue; who calls it lets go of the frame."""
    node = s.nodes[sender]
    frame = s.queues[sender, node.front]
    node.front = (node.front + 1) % s.run[0].mac.buffer_size
    node.queued -= 1
    return int(frame)


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
def _rest(s: State, sender: int, now: int) -> None:
    """The MAC has nothing to send; with a duty cycle its radio goes to sleep first."""
    node = s.nodes[sender]
    node.mac = IDLE
    node.tries = 0
    node.dozing = 0
    if s.run[0].sleep_interval > 0:
        _set_timer(s, sender, 0.0, now)


@compiled
def _take_turns(s: State, index: int, now: int) -> None:
    """The idle MAC has its radio listen if it slept, and sleep if it listened."""
    node, run = s.nodes[index], s.run[0]
    node.dozing = 1 - node.dozing
    if node.dozing:
        turn_to(s, index, SLEEPING, now)
        _set_timer(s, index, float(run.sleep_interval), now)
    else:
        turn_to(s, index, LISTENING, now)
        _set_timer(s, index, float(run.mac.listen_interval), now)


@compiled
def _deliver(s: State, frame: int, arrival: Any) -> None:
    """Counts the frame, and puts it into the outbox unless it is the compiled traffic's."""
    node, run = s.nodes[arrival.receiver], s.run[0]
    node.received += 1
    node.rssi_sum += arrival.rssi
    node.lqi_sum += arrival.lqi
    if frame >= run.own_frames:
        delivery = s.deliveries[run.deliveries]
        delivery.receiver, delivery.frame = arrival.receiver, frame
        delivery.rssi, delivery.lqi = arrival.rssi, arrival.lqi
        run.deliveries += 1


@compiled
def _hear_preamble(s: State, receiver: int, now: int) -> None:
    """The MAC leaves what it is at, and waits for the packet, unless it is sending itself."""
    node = s.nodes[receiver]
    if node.mac != DRAINING and node.mac != PAUSING and node.mac != DEAD_MAC:  # noqa: PLR1714  # as in `arrive`
        node.mac = RECEIVING
        _set_timer(s, receiver, float(s.run[0].sleep_interval), now)


@compiled
def _set_timer(s: State, index: int, delay: float, now: int) -> None:
    """The MAC's timer runs out after `delay` ns of the node's clock, and at no other time.

    If its event comes later than that anyway it needs a new one; otherwise the old one finds out when it comes.
    """
    node = s.nodes[index]
    node.timer = now + round(delay * node.clock_rate)
    if node.timer < node.pending:
        _put(s, index)


@compiled
def _put(s: State, index: int) -> None:
    """Has the timer's event happen when it runs out; any other event of the timer is none from now on."""
    node = s.nodes[index]
    node.pending = node.timer
    state.schedule(s, node.timer, state.MAC_TIMER, index)


def preambles_of(scenario: Scenario) -> int:
    """How many frames are kept for preambles: one for each node if nodes sleep in turns."""
    return len(scenario.nodes) if scenario.mac.sleep_interval > 0 else 0


def preamble_airtime(scenario: Scenario) -> SimTime:
    """The time that a preamble is on the air."""
    size = scenario.mac.preamble_bytes + scenario.radio.frame_overhead_bytes
    return size * 8 * SECOND // scenario.radio.data_rate_bps


def preambles_a_packet(scenario: Scenario) -> int:
    """How many go before a packet: as many as cover the time that others sleep, or the given share of it.

    It is rounded up, so that nobody who wakes on time sleeps through them.
    """
    return math.ceil(scenario.mac.sleep_interval * scenario.mac.preamble_share / preamble_airtime(scenario))


def frames_of(scenario: Scenario, own_frames: int, frames: int) -> NDArray[Any]:
    """FRAME[frames]; of the first `own_frames` the last ones are the preambles.

    The others are the compiled traffic's, one for each node, for nobody asks what its packets say.
    """
    made = np.zeros(frames, FRAME)
    preambles = made[own_frames - preambles_of(scenario) : own_frames]
    preambles["airtime"], preambles["destination"] = preamble_airtime(scenario), BROADCAST
    preambles["sender"] = np.arange(len(preambles))
    return made


def first_naps(nodes: NDArray[Any], mac: MacSettings) -> list[tuple[int, int, int]]:
    """Sets the MACs' timers to when nodes first go to sleep, and returns the events: none without a duty cycle.

    A node listens first, from its boot on.
    """
    if mac.sleep_interval == 0:
        return []
    times = nodes["start"] + np.round(mac.listen_interval * nodes["clock_rate"]).astype(np.int64)
    nodes["timer"] = nodes["pending"] = times
    return [(time, state.MAC_TIMER, node) for node, time in enumerate(times.tolist())]
