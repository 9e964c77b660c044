"""IEEE 802.15.4-2006: unslotted CSMA-CA (section 7.5.1.4) with acknowledged unicasts (7.5.6).

1. Before each frame the MAC waits uniform(0, 2^BE - 1) unit backoffs, and senses for 8 symbols (CCA mode 1). A busy
   result raises BE; after macMaxCSMABackoffs further ones the frame fails. A clear one is followed by the turnaround
   and the frame.
2. A unicast is repeated from 1. without an acknowledgement within macAckWaitDuration, macMaxFrameRetries times at most.
   A frame that fails returns to its agent with the reason.
3. A receiver acknowledges a turnaround after the last bit, without CCA, and passes a frame on once.
4. SIFS or LIFS follows each frame.

The turnaround is the radio's `PROCESSING_DELAY` and its change to TX, which `adapt` lengthens: the radio is deaf during
the change. After a CCA the MAC waits for that delay, so that the first bit follows by the turnaround, no sooner. An
acknowledgement names the very frame; `passed_on` filters duplicates.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from roambus.bridge.backends.radio.engine import BACKOFF, compiled, uniform
from roambus.bridge.backends.radio.mac.interface import (
    IDLE,
    deliver,
    drop_rest,
    enqueue,
    fail_message,
    is_for,
    overhear,
    set_timer,
    take_first,
)
from roambus.bridge.backends.radio.radio import PROCESSING_DELAY, buffer_frame
from roambus.bridge.backends.radio.receiver import measured_power
from roambus.bridge.backends.radio.state import (
    CHANNEL_ACCESS_FAILURE,
    DEAD_MAC,
    FRAME,
    LISTENING,
    NO_ACKNOWLEDGEMENT,
    State,
    let_go,
    record_with,
)
from roambus.bridge.scenario.definition import Scenario
from roambus.python_protocol.roles import BROADCAST
from roambus.python_protocol.simtime import SECOND, SimTime

UNIT_BACKOFF, CCA, TURNAROUND, SIFS, LIFS = 20, 8, 12, 12, 40
"""In symbols: aUnitBackoffPeriod, phyCCADuration, aTurnaroundTime, macMinSIFSPeriod, macMinLIFSPeriod."""
MAX_SIFS_FRAME_BYTES = 18
"""aMaxSIFSFrameSize: up to this length a frame is followed by the short space."""
ACKNOWLEDGEMENT_BYTES = 5
"""Frame control, sequence number and FCS."""

CONTENDING, SENDING, AWAITING, SPACING, CLEARED = 1, 2, 3, 5, 6
"""The states beside IDLE: it backs off or senses, its frame is on the air, it waits for an acknowledgement, leaves a
space, or is about to send into the clear channel. 4 is DEAD_MAC."""

COLUMNS = np.dtype(
    [
        ("backoffs", "i8"),  # NB: busy results for this try
        ("exponent", "i8"),  # BE
        ("retries", "i8"),  # of the first queued frame
        ("acknowledging", "i8"),  # the frame that the node's acknowledgement names
        ("acknowledgements", "i8"),  # sent
        ("retransmissions", "i8"),
        ("unacknowledged", "i8"),  # frames that failed after the last retry
        ("access_failures", "i8"),  # frames that found no clear channel
    ]
)
REASONS: tuple[str, ...] = ()
COUNTS: tuple[str, ...] = ("acknowledgements", "retransmissions", "unacknowledged", "access_failures")


@compiled
def accept(s: State, sender: int, frame: int, now: int) -> None:
    """Queue a frame; an idle MAC begins to contend for the channel."""
    if enqueue(s, sender, frame, now) and s.nodes[sender].mac == IDLE:
        _begin(s, sender, now)


@compiled
def receive(s: State, frame: int, arrival: Any, now: int) -> None:
    """Take an acknowledgement, or acknowledge a frame for this node and pass it on once, unless the node is down."""
    run, receiver = s.run[0], arrival.receiver
    destination = s.frames[frame].destination
    if run.first_control <= frame < run.own_frames:
        if destination == receiver:
            _take_acknowledgement(s, receiver, frame, now)
    elif s.nodes[receiver].is_down:
        return
    elif destination == BROADCAST:
        deliver(s, frame, arrival)
    elif is_for(destination, receiver):
        _acknowledge(s, receiver, frame, now)
        if s.frames[frame].passed_on == 0:
            s.frames[frame].passed_on = 1
            deliver(s, frame, arrival)
    else:
        overhear(s, frame, arrival)


@compiled
def timer_fired(s: State, index: int, now: int) -> None:
    """Continue after a back-off, a frame on the air, a missing acknowledgement, or a space."""
    mac = s.nodes[index].mac
    if mac == CONTENDING:
        _sense(s, index, now)
    elif mac == CLEARED:
        _send(s, index, now)
    elif mac == SENDING:
        _succeed(s, index, 0, now)
    elif mac == AWAITING:
        _miss(s, index, now)
    elif mac == SPACING:
        _go_on(s, index, now)


@compiled
def _begin(s: State, sender: int, now: int) -> None:
    """Begin the first try of the first queued frame."""
    s.macs[sender].retries = 0
    _contend(s, sender, now)


@compiled
def _contend(s: State, sender: int, now: int) -> None:
    """Begin a try: NB is 0, and BE is macMinBE."""
    own = s.macs[sender]
    own.backoffs = 0
    own.exponent = s.run[0].mac.min_be
    _back_off(s, sender, now)


@compiled
def _back_off(s: State, sender: int, now: int) -> None:
    """Wait a random number of unit backoffs, and the CCA."""
    mac = s.run[0].mac
    units = math.floor(uniform(s.run[0], BACKOFF) * 2.0 ** s.macs[sender].exponent)
    s.nodes[sender].mac = CONTENDING
    set_timer(s, sender, float((units * UNIT_BACKOFF + CCA) * mac.symbol), now)


@compiled
def _sense(s: State, sender: int, now: int) -> None:
    """Send into a clear channel; otherwise back off again, or fail."""
    own, run = s.macs[sender], s.run[0]
    power = measured_power(s, sender, now)  # NaN if the radio has not listened all the time, which is not below
    if s.nodes[sender].radio == LISTENING and power < run.radio.cca_threshold_dbm:
        s.nodes[sender].mac = CLEARED
        set_timer(s, sender, float(PROCESSING_DELAY), now)
        return
    own.backoffs += 1
    own.exponent = min(own.exponent + 1, run.mac.max_be)
    if own.backoffs > run.mac.max_csma_backoffs:
        own.access_failures += 1
        _fail(s, sender, CHANNEL_ACCESS_FAILURE, now)
    else:
        _back_off(s, sender, now)


@compiled
def _send(s: State, sender: int, now: int) -> None:
    """Hand the frame to the radio, and set the timer to its end, or the end of the wait for an acknowledgement."""
    node, mac = s.nodes[sender], s.run[0].mac
    frame = s.queues[sender, node.front]
    s.frames[frame].holders += 1
    # An acknowledgement that is to be sent first may have turned the radio round, or fill a buffer of 1.
    if node.radio != LISTENING or not buffer_frame(s, sender, frame, now):
        s.frames[frame].holders -= 1
        _back_off(s, sender, now)
        return
    if node.mac == DEAD_MAC:
        return  # its last energy went when the radio turned round
    leaves = float(TURNAROUND * mac.symbol - PROCESSING_DELAY + s.frames[frame].airtime)
    if s.frames[frame].destination == BROADCAST:
        node.mac = SENDING
        set_timer(s, sender, leaves, now)
    else:
        node.mac = AWAITING
        set_timer(s, sender, leaves + float(mac.ack_wait_symbols * mac.symbol), now)


@compiled
def _miss(s: State, sender: int, now: int) -> None:
    """No acknowledgement has come: send the frame again, or let it fail."""
    own = s.macs[sender]
    if own.retries < s.run[0].mac.max_frame_retries:
        own.retries += 1
        own.retransmissions += 1
        _contend(s, sender, now)
    else:
        own.unacknowledged += 1
        _fail(s, sender, NO_ACKNOWLEDGEMENT, now)


@compiled
def _succeed(s: State, sender: int, ago: int, now: int) -> None:
    """The first queued frame is done since `ago` ns; leave the space that its length asks for."""
    node, mac = s.nodes[sender], s.run[0].mac
    frame = take_first(s, sender)
    is_short = s.frames[frame].airtime <= mac.short_airtime
    let_go(s, frame)
    node.mac = SPACING
    set_timer(s, sender, float((SIFS if is_short else LIFS) * mac.symbol - ago), now)


@compiled
def _fail(s: State, sender: int, reason: int, now: int) -> None:
    """Give the first queued frame back with a reason, and go on with the next one that is of use."""
    frame = take_first(s, sender)
    s.frames[frame].refusal = reason
    fail_message(s, frame)
    let_go(s, frame)
    drop_rest(s, sender)
    _go_on(s, sender, now)


@compiled
def _go_on(s: State, sender: int, now: int) -> None:
    """Begin with the next frame, or rest."""
    s.nodes[sender].mac = IDLE
    if s.nodes[sender].queued > 0:
        _begin(s, sender, now)


@compiled
def _acknowledge(s: State, receiver: int, frame: int, now: int) -> None:
    """Hand an acknowledgement to the radio, which sends it after the rest of the turnaround."""
    acknowledgement = s.run[0].first_control + receiver
    s.macs[receiver].acknowledging = frame
    s.frames[acknowledgement].destination = s.frames[frame].sender
    if buffer_frame(s, receiver, acknowledgement, now):
        s.macs[receiver].acknowledgements += 1


@compiled
def _take_acknowledgement(s: State, receiver: int, acknowledgement: int, now: int) -> None:
    """The frame that this node waits for has been received."""
    node = s.nodes[receiver]
    if node.mac == AWAITING:
        acker = s.frames[acknowledgement].sender
        if s.macs[acker].acknowledging == s.queues[receiver, node.front]:
            _succeed(s, receiver, PROCESSING_DELAY, now)


def record(scenario: Scenario) -> np.void:
    """Return the settings, with the symbol (ns) and the airtime of the longest frame with a short space (ns)."""
    radio = scenario.radio
    short = MAX_SIFS_FRAME_BYTES + radio.frame_overhead_bytes
    return record_with(
        scenario.mac,
        symbol=radio.bits_per_symbol * SECOND // radio.data_rate_bps,
        short_airtime=short * 8 * SECOND // radio.data_rate_bps,
    )


def control_frames(scenario: Scenario) -> NDArray[Any]:
    """Return an acknowledgement for each node."""
    radio = scenario.radio
    frames = np.zeros(len(scenario.nodes), FRAME)
    frames["bytes"] = ACKNOWLEDGEMENT_BYTES + radio.frame_overhead_bytes
    frames["airtime"] = frames["bytes"] * 8 * SECOND // radio.data_rate_bps
    frames["sender"] = np.arange(len(frames))
    return frames


def adapt(scenario: Scenario) -> Scenario:
    """Return the scenario with a radio whose change to TX takes the turnaround."""
    radio = scenario.radio
    turnaround: SimTime = TURNAROUND * radio.bits_per_symbol * SECOND // radio.data_rate_bps
    return replace(scenario, radio=replace(radio, rx_to_tx=turnaround - PROCESSING_DELAY))
