"""Castalia's reception: bits are wrong by the ratio of a signal to noise and interference, whose powers add up.

Model: docs/reference/radio.md, "Reception" and "Interference". A frame is received if its power reaches the
sensitivity, and no bit is wrong (no coding). Powers are in dBm, ratios in dB.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfc

from roambus.bridge.backends.radio.engine import BIT_ERRORS, compiled, uniform
from roambus.bridge.backends.radio.powers import add_dbm
from roambus.bridge.backends.radio.state import CORRUPTED, LOST, RECEIVABLE, State
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.radio import MODULATIONS
from roambus.python_protocol.simtime import SECOND, SimTime

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


def adapt(scenario: Scenario) -> Scenario:
    """Return the scenario as it is: its radio parameters file says all."""
    return scenario


def kinds(scenario: Scenario) -> Sequence[int]:
    """Return 0 for each node: all send alike."""
    return (0,) * len(scenario.nodes)


def airtime(scenario: Scenario, kind: int, size: int) -> SimTime:
    """Return how long a frame of `size` bytes is on the air at the radio's data rate."""
    del kind
    return size * 8 * SECOND // scenario.radio.data_rate_bps


@compiled
def disturb(s: State, receiver: int, now: int) -> None:
    """Add the new signal to the others' interference; the worst decides LQI."""
    node = s.nodes[receiver]
    power = s.signals[receiver, node.heard].power
    for k in range(node.heard):
        other = s.signals[receiver, k]
        if other.fate == RECEIVABLE:
            _draw_bit_errors(s, node, other, now)
            other.interference = add_dbm(other.interference, power)
            other.worst = max(other.worst, other.interference)


@compiled
def begin(s: State, receiver: int, _: int) -> None:
    """Lose a signal below the sensitivity, or one that O-QPSK is not synchronised with."""
    node, radio = s.nodes[receiver], s.run[0].radio
    signal = s.signals[receiver, node.heard]
    weak = int(signal.power < radio.sensitivity_dbm)
    signal.fate = LOST * weak  # RECEIVABLE is 0; a branch would be mispredicted for every other signal
    node.fail_sens += weak
    if radio.modulation != PSK and signal.fate == RECEIVABLE and _is_synchronised(s, receiver):
        signal.fate = LOST
        node.fail_interf += 1


@compiled
def _is_synchronised(s: State, receiver: int) -> bool:
    """Whether the receiver is at a frame already: what PSK leaves to bit errors, O-QPSK would survive."""
    is_busy = False
    for k in range(s.nodes[receiver].heard):
        is_busy = is_busy or s.signals[receiver, k].fate != LOST
    return is_busy


@compiled
def settle(s: State, receiver: int, now: int) -> None:
    """Draw the bit errors of all signals up to now."""
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
def loss_per_bit(snr_db: float, modulation: int) -> float:
    """Return interpolated -ln(1 - BER), survival exact to 1e-4; `snr_db` as in bit_error_rate."""
    place = (max(snr_db, LOWEST_DB) - LOWEST_DB) * STEPS_PER_DB
    index = int(place)
    part = place - index
    index += modulation * OF_ONE  # a row of a table with two axes would be copied at each look
    return float(LOSS[index] + part * (LOSS[index + 1] - LOSS[index]))
