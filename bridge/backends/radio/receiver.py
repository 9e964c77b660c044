"""Reception: interference, bit errors and measured power decide which signals a radio receives.

Model: docs/reference/radio.md, "Reception", "Interference" and "RSSI and LQI", as in Castalia's Radio. Powers are in
dBm, ratios in dB. A frame is received if the radio stays in RX throughout, its power reaches the sensitivity, and no
bit is wrong (no coding). A signal is RECEIVABLE until CORRUPTED by a bit error; one LOST from the start, as too weak or
with the radio elsewhere, is only interference.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfc

from roambus.bridge.backends.radio.energy import spend
from roambus.bridge.backends.radio.engine import BIT_ERRORS, OUTSIDE, compiled, exponential, normal, uniform
from roambus.bridge.backends.radio.medium import is_lost
from roambus.bridge.backends.radio.state import CORRUPTED, LEVELS, LISTENING, LOST, OTHERS, RECEIVABLE, State, schedule
from roambus.bridge.scenario.radio import MODULATIONS
from roambus.python_protocol.simtime import SECOND

NOT_HEARD = -1
NO_NODE = -1
"""The sender of a burst of others' traffic."""

NOTHING_DBM = -200.0
"""Less than any power it is added to."""

SHARES = 16
SHARE_DB: NDArray[np.float64] = np.array([-100.0] + [10 * math.log10(k / SHARES) for k in range(1, SHARES + 1)])
"""`SHARE_DB[k]`: dB taken off for k sixteenths of the averaging time; less is nothing."""

STEP_DB: NDArray[np.float64] = np.array([3.0, 3.0, 2.5, 2.0, 1.5, 1.5, 1.0, 1.0, 0.0])
"""`STEP_DB[k]`: dB that a signal k dB (rounded up) weaker adds to the stronger."""
MOST_STEPS = len(STEP_DB) - 1

PSK = MODULATIONS.index("PSK")
LOWEST_DB, HIGHEST_DB, STEPS_PER_DB = -40.0, 15.5, 64


def bit_error_rate(snr_db: NDArray[np.float64], modulation: int = PSK) -> NDArray[np.float64]:
    """Return the BER of PSK at an SNR corrected by noise bandwidth / data rate, or of 802.15.4 (its annex E.4.1.8)."""
    snr = 10 ** (snr_db / 10)
    if modulation == PSK:
        rate: NDArray[np.float64] = 0.5 * erfc(np.sqrt(snr))
    else:
        terms = [(-1) ** k * math.comb(16, k) * np.exp(20 * snr * (1 / k - 1)) for k in range(2, 17)]
        rate = np.sum(terms, axis=0) / 30
    return rate


OF_ONE = round((HIGHEST_DB - LOWEST_DB) * STEPS_PER_DB) + 2
_STEPS = np.arange(OF_ONE)
LOSS: NDArray[np.float64] = np.concatenate(
    [-np.log1p(-bit_error_rate(LOWEST_DB + _STEPS / STEPS_PER_DB, index)) for index in range(len(MODULATIONS))]
)
"""-ln(1 - BER) of each modulation from LOWEST_DB in steps of 1 / STEPS_PER_DB; above HIGHEST_DB, 1 - BER is 1."""


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
        _disturb_others(s, receiver, power, now)
        _begin_reception(s, node, signal)
        if s.run[0].radio.modulation != PSK and signal.fate == RECEIVABLE and _is_synchronised(s, receiver):
            signal.fate = LOST
            node.fail_interf += 1
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
        _draw_all_bit_errors(s, receiver, now)
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
        _disturb_others(s, receiver, power, now)
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
        _draw_all_bit_errors(s, receiver, now)
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
def _disturb_others(s: State, receiver: int, power: float, now: int) -> None:
    """Add the new signal to the others' interference; the worst decides LQI."""
    node = s.nodes[receiver]
    for k in range(node.heard):
        other = s.signals[receiver, k]
        if other.fate == RECEIVABLE:
            _draw_bit_errors(s, node, other, now)
            other.interference = add_dbm(other.interference, power)
            other.worst = max(other.worst, other.interference)


@compiled
def _begin_reception(s: State, node: Any, signal: Any) -> None:
    """Begin with the present interference; below the sensitivity, only interfere."""
    signal.interference = node.total
    signal.worst = node.total
    weak = int(signal.power < s.run[0].radio.sensitivity_dbm)
    signal.fate = LOST * weak  # RECEIVABLE is 0; a branch would be mispredicted for every other signal
    node.fail_sens += weak


@compiled
def _is_synchronised(s: State, receiver: int) -> bool:
    """Whether the receiver is at a frame already: what PSK leaves to bit errors, O-QPSK would survive."""
    is_busy = False
    for k in range(s.nodes[receiver].heard):
        is_busy = is_busy or s.signals[receiver, k].fate != LOST
    return is_busy


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
def _draw_all_bit_errors(s: State, receiver: int, now: int) -> None:
    node = s.nodes[receiver]
    for k in range(node.heard):
        signal = s.signals[receiver, k]
        if signal.fate == RECEIVABLE:
            _draw_bit_errors(s, node, signal, now)


@compiled
def _draw_bit_errors(s: State, node: Any, signal: Any, now: int) -> None:
    """Draw whether the constant stretch that ends now has a bit error; bits round up.

    Nothing is drawn if errors are impossible: above the table's highest ratio, or without interference on measured
    links.
    """
    run = s.run[0]
    if run.is_measured and signal.interference == run.radio.noise_floor_dbm:
        return  # what is lost without interference has been measured
    snr = signal.power - signal.interference
    if snr < run.negligible_snr:
        bits = ((now - node.changed) * run.radio.data_rate_bps + SECOND - 1) // SECOND
        loss = bits * loss_per_bit(snr + run.bandwidth_db, run.radio.modulation)
        chance = uniform(s.run[0], BIT_ERRORS)
        if chance > 1.0 - loss and chance > math.exp(-loss):  # exp(-loss) >= 1 - loss, and costs more
            signal.fate = CORRUPTED


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


@compiled
def add_dbm(a: float, b: float) -> float:
    """Return two signals' total power, by steps on their difference."""
    # A power in mW would need an exponential and a logarithm for each sum; Castalia saves them, too, by these steps.
    steps = min(math.ceil(abs(a - b)), MOST_STEPS)
    return float(max(a, b) + STEP_DB[steps])


@compiled
def loss_per_bit(snr_db: float, modulation: int) -> float:
    """Return interpolated -ln(1 - BER), survival exact to 1e-4; `snr_db` as in bit_error_rate."""
    place = (max(snr_db, LOWEST_DB) - LOWEST_DB) * STEPS_PER_DB
    index = int(place)
    part = place - index
    index += modulation * OF_ONE  # a row of a table with two axes would be copied at each look
    return float(LOSS[index] + part * (LOSS[index + 1] - LOSS[index]))
