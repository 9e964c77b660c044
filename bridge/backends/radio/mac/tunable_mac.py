"""Castalia's TunableMAC: CSMA without acknowledgements, as in docs/reference/radio.md, "The MAC".

1. An idle MAC that gets a frame senses, backs off while the channel is busy, and then drains its queue, each frame as
   often as it has tries. With probability 1 - `probTx` a try does not happen. A frame without tries left is dropped
   silently.
2. The next frame goes to the radio shortly before the last one has left, so that the radio stays in TX.
3. With a duty cycle an idle MAC listens and sleeps in turns, and preambles precede each packet.

Two losses are kept as in Castalia: a node sleeps after one packet, and may drop a frame from above while it waits for
one. The order of draws is part of the meaning of a seed.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from roambus.bridge.backends.radio import state
from roambus.bridge.backends.radio.engine import BACKOFF, compiled, uniform
from roambus.bridge.backends.radio.mac.interface import (
    IDLE,
    deliver,
    enqueue,
    is_for,
    overhear,
    set_timer,
    take_first,
)
from roambus.bridge.backends.radio.radio import buffer_frame, turn_to
from roambus.bridge.backends.radio.receiver import measured_power
from roambus.bridge.backends.radio.state import (
    BUFFER_FULL,
    DEAD_MAC,
    FRAME,
    LISTENING,
    SLEEPING,
    State,
    let_go,
    record_with,
)
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.mac import TunableMacSettings
from roambus.python_protocol.roles import BROADCAST
from roambus.python_protocol.simtime import SECOND, SimTime

EARLY, PREAMBLE_EARLY = 0.95, 0.98
"""The next frame goes to the radio after this share of the air time of the last one."""

CONTENDING, DRAINING, WAITING, RECEIVING, PAUSING = 1, 2, 3, 5, 6
"""The states beside IDLE: senses or backs off, sends all it has, waits to try again, waits for an announced packet,
waits for its own frame to leave. 4 is DEAD_MAC."""

COLUMNS = np.dtype(
    [
        ("tries", "i8"),  # left of the first queued frame
        ("backoffs", "i8"),  # busy results in a row
        ("dozing", "i8"),  # whether the idle MAC has its radio asleep
        ("preambles", "i8"),  # left before the next packet
    ]
)
COUNTS: tuple[str, ...] = ()
REASONS: tuple[str, ...] = ()

CONSTANT, MULTIPLYING, EXPONENTIAL = 1, 2, 3
"""The bound of a back-off: the base, that times the busy results in a row, or doubled by each."""


@compiled
def accept(s: State, sender: int, frame: int, now: int) -> None:
    """Queue a frame; an idle MAC begins to contend for the channel."""
    node = s.nodes[sender]
    if enqueue(s, sender, frame, now) and node.mac == IDLE and node.queued == 1:
        s.macs[sender].tries = s.run[0].mac.tries
        _attempt(s, sender, now)


@compiled
def receive(s: State, frame: int, arrival: Any, now: int) -> None:
    """Pass a frame on if it is for this node; a preamble makes any node wait for the packet."""
    run, receiver = s.run[0], arrival.receiver
    if run.first_control <= frame < run.own_frames:
        _hear_preamble(s, receiver, now)
    elif is_for(s.frames[frame].destination, receiver):
        deliver(s, frame, arrival)
        if s.nodes[receiver].mac == RECEIVING:  # it has waited for this packet
            _go_on(s, receiver, now)
    else:
        overhear(s, frame, arrival)


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
def _attempt(s: State, sender: int, now: int) -> None:
    """Try to transmit the first queued frame; by chance the try does not happen. An offset of 0 is drawn, too."""
    node, own, mac = s.nodes[sender], s.macs[sender], s.run[0].mac
    if mac.prob_tx < 1.0 and uniform(s.run[0], BACKOFF) >= mac.prob_tx:
        node.mac = WAITING
        own.tries -= 1
        set_timer(s, sender, float(mac.retransmission_interval), now)
    else:
        node.mac = CONTENDING
        set_timer(s, sender, uniform(s.run[0], BACKOFF) * mac.random_tx_offset, now)


@compiled
def _sense(s: State, sender: int, now: int) -> None:
    """Send if the channel is clear, back off if not, sense again soon if the reading is not valid yet."""
    node, own, run = s.nodes[sender], s.macs[sender], s.run[0]
    if run.mac.may_sleep:
        turn_to(s, sender, LISTENING, now)
    power = measured_power(s, sender, now)
    valid = node.radio == LISTENING and not math.isnan(power)
    if valid and power < run.radio.cca_threshold_dbm:
        _find_clear(s, sender, now)
    elif not valid or run.mac.persistence > 0.0:
        set_timer(s, sender, float(run.mac.valid_cs_delay), now)
    else:
        own.backoffs += 1
        set_timer(s, sender, uniform(s.run[0], BACKOFF) * _backoff_bound(s, own.backoffs), now)
        if run.mac.may_sleep:
            turn_to(s, sender, SLEEPING, now)


@compiled
def _find_clear(s: State, sender: int, now: int) -> None:
    """Send into the clear channel; a p-persistent MAC does so with probability p, or senses again soon."""
    node, own, mac = s.nodes[sender], s.macs[sender], s.run[0].mac
    if 0.0 < mac.persistence < 1.0 and mac.persistence < uniform(s.run[0], BACKOFF):
        set_timer(s, sender, float(mac.valid_cs_delay), now)
        return
    own.backoffs = 0
    own.preambles = s.run[0].mac.preambles
    node.mac = DRAINING
    _drain(s, sender, now)


@compiled
def _backoff_bound(s: State, backoffs: int) -> float:
    """Return the longest back-off in ns after a number of busy results in a row."""
    mac = s.run[0].mac
    factor = 1.0
    if mac.backoff_type == MULTIPLYING:
        factor = float(backoffs)
    elif mac.backoff_type == EXPONENTIAL:
        factor = 2.0 ** (backoffs - 1)
    return factor * float(mac.backoff_base)


@compiled
def _drain(s: State, sender: int, now: int) -> None:
    """Pass to the radio the next preamble, the first queued frame, or all of them one after the other."""
    node, own, run = s.nodes[sender], s.macs[sender], s.run[0]
    if own.preambles > 0:
        _send_preamble(s, sender, now)
    elif node.queued == 0:
        _rest(s, sender, now)
    elif run.mac.sends_all:
        _send_next(s, sender, now)
    else:
        _send_one(s, sender, now)


@compiled
def _send_preamble(s: State, sender: int, now: int) -> None:
    """Pass a preamble to the radio; an empty battery kills the MAC, which then sets no timer."""
    node, own = s.nodes[sender], s.macs[sender]
    frame = s.run[0].first_control + sender
    own.preambles -= 1
    buffer_frame(s, sender, frame, now)
    if node.mac != DEAD_MAC:
        set_timer(s, sender, PREAMBLE_EARLY * s.frames[frame].airtime, now)


@compiled
def _send_next(s: State, sender: int, now: int) -> None:
    """Pass the first queued frame to the radio, and the next one shortly before that has left."""
    node, own = s.nodes[sender], s.macs[sender]
    frame = s.queues[sender, node.front]
    _hand_over(s, sender, frame, now)
    if node.mac == DEAD_MAC:
        return  # its last energy went when the radio turned round
    if own.tries <= 0:
        own.tries = s.run[0].mac.tries
        let_go(s, take_first(s, sender))
    set_timer(s, sender, EARLY * s.frames[frame].airtime, now)


@compiled
def _send_one(s: State, sender: int, now: int) -> None:
    """Pass the first queued frame to the radio, and try the next one when it has left."""
    node, own, mac = s.nodes[sender], s.macs[sender], s.run[0].mac
    frame = s.queues[sender, node.front]
    _hand_over(s, sender, frame, now)
    if node.mac == DEAD_MAC:
        return
    node.mac = PAUSING
    # The MAC knows when its frame has left only by computing it: Castalia's radio does not tell it either.
    wait = float(s.frames[frame].airtime)
    if own.tries > 0:
        wait += float(mac.retransmission_interval)
    set_timer(s, sender, wait, now)


@compiled
def _hand_over(s: State, sender: int, frame: int, now: int) -> None:
    """Use up a try of the frame: a copy of it goes to the radio, if that has room."""
    s.macs[sender].tries -= 1
    s.frames[frame].holders += 1
    if not buffer_frame(s, sender, frame, now):
        s.frames[frame].holders -= 1
        if s.run[0].mac.tries == 1:  # of several copies some may have left: then nobody is told
            s.frames[frame].refusal = BUFFER_FULL


@compiled
def _go_on(s: State, sender: int, now: int) -> None:
    """Try again, or drop the first queued frame if it has no tries left, silently, as TunableMAC does."""
    node, own = s.nodes[sender], s.macs[sender]
    if own.tries <= 0:
        if node.queued > 0:
            let_go(s, take_first(s, sender))
        own.tries = s.run[0].mac.tries
    if node.queued > 0:
        _attempt(s, sender, now)
    else:
        _rest(s, sender, now)


@compiled
def _rest(s: State, sender: int, now: int) -> None:
    """Become idle; with a duty cycle the radio goes to sleep first."""
    node, own = s.nodes[sender], s.macs[sender]
    node.mac = IDLE
    own.tries = 0
    own.dozing = 0
    if s.run[0].mac.sleep_interval > 0:
        set_timer(s, sender, 0.0, now)


@compiled
def _take_turns(s: State, index: int, now: int) -> None:
    """Have the radio of an idle MAC listen if it slept, and sleep if it listened."""
    own, run = s.macs[index], s.run[0]
    own.dozing = 1 - own.dozing
    if own.dozing:
        turn_to(s, index, SLEEPING, now)
        set_timer(s, index, float(run.mac.sleep_interval), now)
    else:
        turn_to(s, index, LISTENING, now)
        set_timer(s, index, float(run.mac.listen_interval), now)


@compiled
def _hear_preamble(s: State, receiver: int, now: int) -> None:
    """Wait for the packet, unless the MAC is sending itself."""
    node = s.nodes[receiver]
    if node.mac != DRAINING and node.mac != PAUSING and node.mac != DEAD_MAC:  # noqa: PLR1714  # as in `arrive`
        node.mac = RECEIVING
        set_timer(s, receiver, float(s.run[0].mac.sleep_interval), now)


def record(scenario: Scenario) -> np.void:
    """Return the settings, with the sleep interval (ns) and the preambles before each packet."""
    settings = _settings(scenario)
    preambles = math.ceil(settings.sleep_interval * settings.preamble_share / _preamble_airtime(scenario))
    return record_with(
        settings, sleep_interval=settings.sleep_interval, preambles=preambles, may_sleep=settings.may_sleep
    )


def control_frames(scenario: Scenario) -> NDArray[Any]:
    """Return a preamble for each node if nodes sleep in turns."""
    frames = np.zeros(len(scenario.nodes) if _settings(scenario).sleep_interval > 0 else 0, FRAME)
    frames["bytes"], frames["airtime"] = _preamble_size(scenario), _preamble_airtime(scenario)
    frames["destination"] = BROADCAST
    frames["sender"] = np.arange(len(frames))
    return frames


def first_events(nodes: NDArray[Any], scenario: Scenario) -> list[tuple[int, int, int]]:
    """Have each node go to sleep after it has listened once; nothing without a duty cycle."""
    settings = _settings(scenario)
    if settings.sleep_interval == 0:
        return []
    times = nodes["start"] + np.round(settings.listen_interval * nodes["clock_rate"]).astype(np.int64)
    nodes["timer"] = nodes["pending"] = times
    return [(time, state.MAC_TIMER, node) for node, time in enumerate(times.tolist())]


def _preamble_airtime(scenario: Scenario) -> SimTime:
    return _preamble_size(scenario) * 8 * SECOND // scenario.radio.data_rate_bps


def _preamble_size(scenario: Scenario) -> int:
    return _settings(scenario).preamble_bytes + scenario.radio.frame_overhead_bytes


def _settings(scenario: Scenario) -> TunableMacSettings:
    assert isinstance(scenario.mac, TunableMacSettings), "`registry` chooses the MAC by the type of its settings"  # noqa: S101
    return scenario.mac
