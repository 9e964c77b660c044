"""Listen before talk: a random number of slots, channel activity detection (CAD), and a frame into a clear channel.

1. A frame waits for a random number of slots. The window is a power of two, which grows with the channel's utilisation.
2. Then the radio looks for a signal of its own spreading factor. It finds one down to the demodulation floor, which is
   below the noise. The signal must last for the whole detection, which may fall into any part of its frame.
3. If there is one, the frame waits anew, or fails after so many `tries`. Else the radio turns round, and sends.

A slot is the time in which a node finds out that another one has begun. So nodes collide that draw the same slot, or do
not hear each other. Utilisation is a node's own measurement, in six periods of ten seconds: frames it sent or received.

Sources: Meshtastic, "Mesh Broadcast Algorithm", layer 1; Semtech AN1200.48 for the CAD.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from roambus.bridge.backends.radio.engine import BACKOFF, compiled, uniform
from roambus.bridge.backends.radio.mac.interface import set_timer
from roambus.bridge.backends.radio.state import CHANNEL_ACCESS_FAILURE, LISTENING, State
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.macs import PROTOCOL
from roambus.bridge.scenario.models import RADIOS
from roambus.bridge.system.errors import UserError
from roambus.extensions.lora.mac import limits
from roambus.extensions.lora.mac.sending import (
    HELD,
    ON_AIR,
    may_begin,
    pass_on,
    refuse,
    send_first,
    take_begun,
    takes_up,
)
from roambus.extensions.lora.radio.reception import FACTOR, FIRST, FLOOR_DB, symbol
from roambus.extensions.lora.radio.settings import LoRa
from roambus.python_protocol.simtime import MILLISECOND, SECOND

WAITING, DETECTING = 3, 5
"""States beside IDLE, ON_AIR and HELD: it waits for its slot, or looks for signals. 4 is DEAD_MAC."""

PERIODS, PERIOD = 6, 10 * SECOND
"""Utilisation is measured over a minute, in pieces."""

COLUMNS = np.dtype([
    *limits.COLUMNS,
    ("used", "i8", (PERIODS,)),  # ns of frames sent and received in the last periods
    ("period", "i8"),  # the number of the present one
    ("detections", "i8"),
    ("busy", "i8"),  # those that found a signal
    ("tried", "i8"),  # busy ones of the first queued frame
    ("access_failures", "i8"),  # frames that found the channel busy too often
])  # fmt: skip
COUNTS = (*limits.COUNTS, "detections", "busy", "access_failures")
REASONS, record = limits.REASONS, limits.record


@compiled
def accept(s: State, sender: int, frame: int, now: int) -> None:
    """Queue a frame; an idle MAC begins to contend for the channel."""
    if takes_up(s, sender, frame, now):
        _begin(s, sender, now)


@compiled
def receive(s: State, frame: int, arrival: Any, now: int) -> None:
    """Count the frame's airtime, whomever it is for, and pass it on."""
    _use(s, arrival.receiver, s.frames[frame].airtime, now)
    pass_on(s, frame, arrival)


@compiled
def timer_fired(s: State, index: int, now: int) -> None:
    """Continue after the slots, after a detection, or when the radio or the limits allow the next frame."""
    mac = s.nodes[index].mac
    if mac == WAITING:
        s.nodes[index].mac = DETECTING
        set_timer(s, index, s.run[0].mac.cad_symbols * symbol(s, index), now)
    elif mac == DETECTING:
        _finish_detection(s, index, now)
    elif mac in (ON_AIR, HELD):
        _use(s, index, take_begun(s, index), now)
        _begin(s, index, now)


@compiled
def _begin(s: State, sender: int, now: int) -> None:
    """Begin with the first frame, wait for the radio or the limits, or rest."""
    if may_begin(s, sender, now):
        s.macs[sender].tried = 0
        _wait(s, sender, s.run[0].mac.first_wait, now)


@compiled
def _wait(s: State, sender: int, is_random: int, now: int) -> None:
    """Wait for a random number of slots of the window, or for none."""
    slots = int(uniform(s.run[0], BACKOFF) * 2.0 ** _window(s, sender, now)) if is_random else 0
    s.nodes[sender].mac = WAITING
    set_timer(s, sender, float(slots * _slot(s, sender)), now)


@compiled
def _finish_detection(s: State, sender: int, now: int) -> None:
    """Send into a clear channel; otherwise wait anew."""
    node, own = s.nodes[sender], s.macs[sender]
    own.detections += 1
    if node.radio != LISTENING or _hears(s, sender, now):
        own.busy += 1
        own.tried += 1
        _try_again(s, sender, now)
    else:
        send_first(s, sender, now)


@compiled
def _try_again(s: State, sender: int, now: int) -> None:
    """Wait anew for the first queued frame, or give it back after too many tries, and go on with the next one."""
    own, tries = s.macs[sender], s.run[0].mac.tries
    if tries == 0 or own.tried < tries:
        _wait(s, sender, 1, now)
        return
    own.access_failures += 1
    refuse(s, sender, CHANNEL_ACCESS_FAILURE)
    _begin(s, sender, now)


@compiled
def _hears(s: State, index: int, now: int) -> bool:
    """Whether a signal of the node's own spreading factor has been there for the whole detection."""
    node, run = s.nodes[index], s.run[0]
    factor = node.kind & FACTOR
    weakest = run.radio.noise_floor_dbm + FLOOR_DB[factor - FIRST]
    latest = now - run.mac.cad_symbols * symbol(s, index)
    found = False
    for k in range(node.heard):
        signal = s.signals[index, k]
        if signal.sender >= 0 and signal.power >= weakest:
            other = s.nodes[signal.sender]
            found = found or (other.kind & FACTOR == factor and other.began <= latest)
    return found


@compiled
def _window(s: State, index: int, now: int) -> int:
    """Return the window's exponent: from the least for a quiet channel to the greatest for one always in use."""
    mac = s.run[0].mac
    share = min(_used(s, index, now) / (PERIODS * PERIOD), 1.0)
    return int(mac.cw_min + share * (mac.cw_max - mac.cw_min))


@compiled
def _used(s: State, index: int, now: int) -> int:
    """Return the ns of frames sent and received in the last minute."""
    own, period = s.macs[index], now // PERIOD
    for late in range(min(period - own.period, PERIODS)):
        own.used[(period - late) % PERIODS] = 0
    own.period = period
    total = 0
    for k in range(PERIODS):
        total += own.used[k]
    return int(total)


@compiled
def _use(s: State, index: int, airtime: int, now: int) -> None:
    """Add a frame to the present period."""
    _used(s, index, now)
    own = s.macs[index]
    own.used[own.period % PERIODS] += airtime


@compiled
def _slot(s: State, index: int) -> int:
    """Return ns of a slot, in whole milliseconds, as the firmware counts them."""
    mac = s.run[0].mac
    exact = mac.cad_symbols * symbol(s, index) + mac.slot_rest
    return int(exact // MILLISECOND * MILLISECOND)


def adapt(scenario: Scenario) -> Scenario:
    """Return the scenario as it is; raise UserError without LoRa, or for a power above the region's limit."""
    if not isinstance(scenario.reception, LoRa):
        raise UserError(f'{PROTOCOL.name}: LoRaCad detects the signals of LoRa alone: set {RADIOS.key.name} = "LoRa"')
    return limits.adapt(scenario)
