"""Reception: keeps the signals at a radio with their interference, draws bit errors, and measures the power.

docs/radio.md has the model: "Reception", "Interference", "RSSI and LQI". Rows of `signals` are kept oldest first and
summed newest first.

Measured links in the compiled loop: they change when the recording says so, and lose what they lost then.

docs/radio.md, "Measured links", has the model. Interference and carrier sense are computed from the recorded signal
strengths, as they are from modelled ones; what is lost without interference is drawn from the recorded delivery.
"""

from __future__ import annotations

import math
from typing import Any

from roambus.bridge.backends.radio.channel import NOTHING_DBM, SHARE_DB, SHARES, add_dbm, loss_per_bit
from roambus.bridge.backends.radio.energy import spend
from roambus.bridge.backends.radio.heap import BIT_ERRORS, MEASURED_LOSS, compiled, uniform
from roambus.bridge.backends.radio.state import CORRUPTED, LEVELS, LISTENING, LOST, RECEIVABLE, State
from roambus.python_protocol.simtime import SECOND


@compiled
def apply_changes(s: State, now: int) -> None:
    """Makes the links what they are at `now`; whoever sends on a changed one has to look anew who hears it."""
    run, changes = s.run[0], s.measured.changes
    while run.changes < len(changes) and changes[run.changes].time <= now:
        change = changes[run.changes]
        s.loss_db[change.way] = change.loss_db
        s.measured.delivery[change.way] = change.delivery
        s.nodes[change.way // len(s.nodes)].moves_seen = -1
        run.changes += 1


@compiled
def is_lost(s: State, sender: int, receiver: int) -> bool:
    """Whether this frame is one of those that the link loses without any interference."""
    delivery: float = s.measured.delivery[sender * len(s.nodes) + receiver]
    return delivery < 1.0 and uniform(s.run[0], MEASURED_LOSS) >= delivery


NOT_HEARD = -1


@compiled
def signal_starts(s: State, receiver: int, sender: int, power: float, now: int) -> None:
    """A signal from `sender` arrives at `receiver` with `power`."""
    node = s.nodes[receiver]
    if now < node.start:
        return
    signal = s.signals[receiver, node.heard]
    signal.sender = sender
    signal.power = power
    if node.radio == LISTENING:
        _disturb_others(s, receiver, power, now)
        _begin_reception(s, node, signal)
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
def _disturb_others(s: State, receiver: int, power: float, now: int) -> None:
    node = s.nodes[receiver]
    for k in range(node.heard):
        other = s.signals[receiver, k]
        if other.fate == RECEIVABLE:
            _draw_bit_errors(s, node, other, now)
            other.interference = add_dbm(other.interference, power)
            other.worst = max(other.worst, other.interference)


@compiled
def _begin_reception(s: State, node: Any, signal: Any) -> None:
    signal.interference = node.total
    signal.worst = node.total
    weak = int(signal.power < s.run[0].radio.sensitivity_dbm)
    signal.fate = LOST * weak  # RECEIVABLE is 0; a branch would be mispredicted for every other signal
    node.fail_sens += weak


@compiled
def signal_ends(s: State, receiver: int, sender: int, now: int) -> None:
    """The signal from `sender` ends; if its frame was received, that is noted in `arrivals`."""
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
def _note_arrival(s: State, receiver: int, sender: int, lqi: float, now: int) -> None:
    arrival = s.arrivals[sender, s.nodes[sender].arrivals]
    arrival.receiver = receiver
    arrival.rssi = measured_power(s, receiver, now)
    arrival.lqi = lqi
    s.nodes[sender].arrivals += 1


@compiled
def _find(s: State, receiver: int, sender: int) -> int:
    for k in range(s.nodes[receiver].heard):
        if s.signals[receiver, k].sender == sender:
            return k
    return NOT_HEARD


@compiled
def _remove(s: State, receiver: int, place: int) -> None:
    node = s.nodes[receiver]
    node.heard -= 1
    for k in range(place, node.heard):
        into, source = s.signals[receiver, k], s.signals[receiver, k + 1]
        into.sender, into.fate = source.sender, source.fate
        into.power, into.interference, into.worst = source.power, source.interference, source.worst


@compiled
def _judge(s: State, node: Any, fate: int, worst: float) -> bool:
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
def _draw_all_bit_errors(s: State, receiver: int, now: int) -> None:
    node = s.nodes[receiver]
    for k in range(node.heard):
        signal = s.signals[receiver, k]
        if signal.fate == RECEIVABLE:
            _draw_bit_errors(s, node, signal, now)


@compiled
def _draw_bit_errors(s: State, node: Any, signal: Any, now: int) -> None:
    """Draws whether a bit is wrong in the stretch of constant conditions that ends now."""
    run = s.run[0]
    if run.is_measured and signal.interference == run.radio.noise_floor_dbm:
        return  # what is lost without interference has been measured
    snr = signal.power - signal.interference
    if snr < run.negligible_snr:
        bits = ((now - node.changed) * run.radio.data_rate_bps + SECOND - 1) // SECOND
        loss = bits * loss_per_bit(snr + run.bandwidth_db)
        chance = uniform(s.run[0], BIT_ERRORS)
        if chance > 1.0 - loss and chance > math.exp(-loss):  # exp(-loss) >= 1 - loss, and costs more
            signal.fate = CORRUPTED


@compiled
def _sum_afresh(s: State, receiver: int) -> float:
    """Sums the interference of each signal, and returns the sum of all power present."""
    heard = s.nodes[receiver].heard
    for k in range(heard):
        signal = s.signals[receiver, k]
        if signal.fate == RECEIVABLE:
            signal.interference = _sum_powers(s, receiver, k)
    return _sum_powers(s, receiver, heard)


@compiled
def _sum_powers(s: State, receiver: int, excepted: int) -> float:
    total: float = s.run[0].radio.noise_floor_dbm
    for k in range(s.nodes[receiver].heard - 1, -1, -1):
        if k != excepted:
            total = add_dbm(total, s.signals[receiver, k].power)
    return total


@compiled
def start_listening(s: State, receiver: int, now: int) -> None:
    """The radio is in RX: what is already on the air is interference only."""
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
def _record_power(s: State, receiver: int, total: float, now: int) -> None:
    node = s.nodes[receiver]
    node.total = total
    if node.remembered == 0 or s.levels[receiver, node.newest].since != now:
        node.newest = (node.newest + 1) & (LEVELS - 1)
        node.remembered = min(node.remembered + 1, LEVELS)
    level = s.levels[receiver, node.newest]
    level.since = now
    level.total = total


@compiled
def measured_power(s: State, receiver: int, now: int) -> float:
    """The power averaged over the last symbols, or NaN if the radio has not listened for so long."""
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
