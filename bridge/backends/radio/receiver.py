"""The receiver: signals that begin and end at a radio, and the power that it measures.

Model: docs/reference/radio.md, "Reception", "Interference" and "RSSI and LQI", as in Castalia's Radio. Powers are in
dBm. A frame is received if the radio stays in RX throughout, and its signal is RECEIVABLE at the end. `reception` has
the reasons why it becomes CORRUPTED, or is LOST from the start, which is only interference.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from roambus.bridge.backends.radio.energy import spend
from roambus.bridge.backends.radio.engine import OUTSIDE, compiled, exponential, normal
from roambus.bridge.backends.radio.medium import is_lost
from roambus.bridge.backends.radio.powers import add_dbm
from roambus.bridge.backends.radio.reception import bit_errors as reception  # stands for the one in its place
from roambus.bridge.backends.radio.state import CORRUPTED, LEVELS, LISTENING, LOST, OTHERS, RECEIVABLE, State, schedule
from roambus.python_protocol.simtime import SECOND

NOT_HEARD = -1
NO_NODE = -1
"""The sender of a burst of others' traffic."""

NOTHING_DBM = -200.0
"""Less than any power it is added to."""

SHARES = 16
SHARE_DB: NDArray[np.float64] = np.array([-100.0] + [10 * math.log10(k / SHARES) for k in range(1, SHARES + 1)])
"""`SHARE_DB[k]`: dB taken off for k sixteenths of the averaging time; less is nothing."""


@compiled
def signal_starts(s: State, receiver: int, sender: int, power: float, now: int) -> None:
    """Start a signal from `sender` at `receiver` with `power`, unless unbooted or dead."""
    node = s.nodes[receiver]
    if now < node.start:
        return
    signal = s.signals[receiver, node.heard]
    signal.sender = sender
    signal.power = power
    if node.radio == LISTENING:
        reception.disturb(s, receiver, now)
        signal.interference = signal.worst = node.total
        signal.fate = RECEIVABLE
        reception.begin(s, receiver, now)
        if s.run[0].is_measured and is_lost(s, sender, receiver):
            signal.fate = CORRUPTED
        _record_power(s, receiver, add_dbm(node.total, power), now)
        node.changed = now
    else:
        signal.fate = LOST
        node.fail_nonrx += 1
    node.heard += 1
    s.run[0].most_heard = max(s.run[0].most_heard, node.heard)


@compiled
def signal_ends(s: State, receiver: int, sender: int, now: int) -> None:
    """End the signal from `sender`; note a received frame in `arrivals`."""
    node = s.nodes[receiver]
    place = _find(s, receiver, sender)
    if place == NOT_HEARD:
        return
    if node.radio == LISTENING:
        reception.settle(s, receiver, now)
    signal = s.signals[receiver, place]
    fate, power, worst = signal.fate, signal.power, signal.worst
    _remove(s, receiver, place)
    if node.radio == LISTENING:
        _record_power(s, receiver, _sum_afresh(s, receiver), now)
        node.changed = now
        if _judge(s, node, fate, worst):
            _note_arrival(s, receiver, sender, power - worst, now)
    elif fate != LOST:
        node.fail_nonrx += 1


@compiled
def others_begin_or_end(s: State, now: int) -> None:
    """Begin or end a burst of others' traffic, with each node's own power."""
    run = s.run[0]
    run.is_disturbed = 1 - run.is_disturbed
    if run.is_disturbed:
        for receiver in range(len(s.nodes)):
            power = run.outside.power_dbm + run.outside.spread_db * normal(run, OUTSIDE)
            if power >= run.channel.signal_delivery_threshold_dbm:
                _others_begin(s, receiver, power, now)
        mean = float(run.outside.length)
    else:
        for receiver in range(len(s.nodes)):
            _others_end(s, receiver, now)
        mean = SECOND / run.outside.rate_per_s
    schedule(s, now + max(1, int(exponential(run, OUTSIDE, mean))), OTHERS, 0)


@compiled
def _others_begin(s: State, receiver: int, power: float, now: int) -> None:
    """Start an unreceivable signal, as `signal_starts` does."""
    node = s.nodes[receiver]
    if now < node.start:
        return
    signal = s.signals[receiver, node.heard]
    signal.sender, signal.power, signal.fate = NO_NODE, power, LOST
    if node.radio == LISTENING:
        reception.disturb(s, receiver, now)
        _record_power(s, receiver, add_dbm(node.total, power), now)
        node.changed = now
    node.heard += 1
    s.run[0].most_heard = max(s.run[0].most_heard, node.heard)


@compiled
def _others_end(s: State, receiver: int, now: int) -> None:
    node = s.nodes[receiver]
    place = _find(s, receiver, NO_NODE)
    if place == NOT_HEARD:
        return
    if node.radio == LISTENING:
        reception.settle(s, receiver, now)
    _remove(s, receiver, place)
    if node.radio == LISTENING:
        _record_power(s, receiver, _sum_afresh(s, receiver), now)
        node.changed = now


@compiled
def start_listening(s: State, receiver: int, now: int) -> None:
    """Enter RX: signals already on the air are interference only."""
    node = s.nodes[receiver]
    spend(s, receiver, now)
    node.radio = LISTENING
    for k in range(node.heard):
        signal = s.signals[receiver, k]
        if signal.fate != LOST:
            signal.fate = LOST
            node.fail_nonrx += 1
    _record_power(s, receiver, _sum_powers(s, receiver, node.heard), now)


@compiled
def measured_power(s: State, receiver: int, now: int) -> float:
    """Return the power averaged over the last symbols, or NaN after too short listening.

    Goes back to the beginning of the averaging time or of a full ring.
    """
    node = s.nodes[receiver]
    window = s.run[0].averaging_time
    power, until = NOTHING_DBM, now
    for age in range(node.remembered):
        level = s.levels[receiver, (node.newest - age) & (LEVELS - 1)]
        since = max(level.since, now - window)
        power = add_dbm(level.total + SHARE_DB[int((until - since) * SHARES / window)], power)
        until = since
        if since == now - window:
            return power
    return power if node.remembered == LEVELS else math.nan


@compiled
def _judge(s: State, node: Any, fate: int, worst: float) -> bool:
    """Return whether the frame is received; count it like Castalia by interference."""
    alone = worst == s.run[0].radio.noise_floor_dbm
    if fate == RECEIVABLE:
        if alone:
            node.rx_no_interf += 1
        else:
            node.rx_despite += 1
    elif fate == CORRUPTED:
        if alone:
            node.fail_no_interf += 1
        else:
            node.fail_interf += 1
    return fate == RECEIVABLE


@compiled
def _note_arrival(s: State, receiver: int, sender: int, lqi: float, now: int) -> None:
    """Note a received frame with the RSSI just after its last bit."""
    arrival = s.arrivals[sender, s.nodes[sender].arrivals]
    arrival.receiver, arrival.rssi, arrival.lqi = receiver, measured_power(s, receiver, now), lqi
    s.nodes[sender].arrivals += 1


@compiled
def _find(s: State, receiver: int, sender: int) -> int:
    """Find a signal, absent if the node died or booted since its beginning."""
    for k in range(s.nodes[receiver].heard):
        if s.signals[receiver, k].sender == sender:
            return k
    return NOT_HEARD


@compiled
def _remove(s: State, receiver: int, place: int) -> None:
    """Remove a signal; the others keep their order, which decides their sum."""
    node = s.nodes[receiver]
    node.heard -= 1
    for k in range(place, node.heard):
        into, source = s.signals[receiver, k], s.signals[receiver, k + 1]
        into.sender, into.fate = source.sender, source.fate
        into.power, into.interference, into.worst = source.power, source.interference, source.worst


@compiled
def _sum_afresh(s: State, receiver: int) -> float:
    """Sum each signal's interference; return the total power."""
    heard = s.nodes[receiver].heard
    for k in range(heard):
        signal = s.signals[receiver, k]
        if signal.fate == RECEIVABLE:
            signal.interference = _sum_powers(s, receiver, k)
    return _sum_powers(s, receiver, heard)


@compiled
def _sum_powers(s: State, receiver: int, excepted: int) -> float:
    """Sum the noise floor and all signals but `excepted`, if any, newest first."""
    total: float = s.run[0].radio.noise_floor_dbm
    for k in range(s.nodes[receiver].heard - 1, -1, -1):
        if k != excepted:
            total = add_dbm(total, s.signals[receiver, k].power)
    return total


@compiled
def _record_power(s: State, receiver: int, total: float, now: int) -> None:
    """Record the power from now on; the last change at an instant counts."""
    node = s.nodes[receiver]
    node.total = total
    if node.remembered == 0 or s.levels[receiver, node.newest].since != now:
        node.newest = (node.newest + 1) & (LEVELS - 1)
        node.remembered = min(node.remembered + 1, LEVELS)
    level = s.levels[receiver, node.newest]
    level.since, level.total = now, total


OF_RECEPTION = (signal_starts, signal_ends, _others_begin, _others_end, others_begin_or_end)
"""The functions that lead to `reception`, callees first."""
