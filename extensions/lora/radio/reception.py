"""The reception of LoRa: a floor of the SNR, capture within a spreading factor, and leaks between them.

A frame is judged by stretches of time in which the same signals are on the air, as each of them ends. It needs the last
symbols of its preamble and all that follows. In these it must keep a distance (dB) from the power of each spreading
factor that interferes, and stay above the floor with the bursts of others, which are noise to it. A radio
receives one frame at a time, a gateway several: a demodulator is taken when a frame begins. LQI is power less
noise and interference, exactly added.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from roambus.bridge.backends.radio.engine import compiled
from roambus.bridge.backends.radio.state import CORRUPTED, LOST, RECEIVABLE, State
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.reception import PREFIX
from roambus.bridge.system.errors import UserError
from roambus.extensions.lora.radio.airtime import FACTORS, airtime_ns
from roambus.extensions.lora.radio.settings import LoRa
from roambus.python_protocol.simtime import SECOND, SimTime

THERMAL_DBM = -174.0
"""Noise of one Hz at room temperature."""
FACTOR, GATEWAY = 15, 16
"""A node's kind is its spreading factor, plus GATEWAY if it is one."""
FIRST, COUNT = FACTORS[0], len(FACTORS)

FLOOR_DB: NDArray[np.float64] = np.array([-7.5, -10.0, -12.5, -15.0, -17.5, -20.0])
"""The least SNR by spreading factor, from 7 on (SX1276, table 13)."""

SIR_DB: NDArray[np.float64] = np.array(
    [
        *(1.0, -8.0, -9.0, -9.0, -9.0, -9.0),
        *(-11.0, 1.0, -11.0, -12.0, -13.0, -13.0),
        *(-15.0, -13.0, 1.0, -13.0, -14.0, -15.0),
        *(-19.0, -18.0, -17.0, 1.0, -17.0, -18.0),
        *(-22.0, -22.0, -21.0, -20.0, 1.0, -20.0),
        *(-25.0, -25.0, -25.0, -24.0, -23.0, 1.0),
    ]
)
"""The least SIR: rows by the frame's spreading factor, columns by the interferer's (Croce et al., 2018, table I).

Of the diagonal `capture_db` has the place."""


def noise_floor_dbm(bandwidth_khz: int, noise_figure_db: float) -> float:
    """Return the noise in a bandwidth, with that of the receiver."""
    return THERMAL_DBM + 10 * math.log10(bandwidth_khz * 1000) + noise_figure_db


def factor_of(kind: int) -> int:
    """Return the spreading factor of a node's kind."""
    return kind & FACTOR


def kinds(scenario: Scenario) -> Sequence[int]:
    """Return each node's spreading factor, and whether it is a gateway."""
    law = settings_of(scenario)
    own = np.resize(law.resolved().factors, len(scenario.nodes))
    own[list(law.gateways)] += GATEWAY
    return [int(kind) for kind in own]


def airtime(scenario: Scenario, kind: int, size: int) -> SimTime:
    """Return ns of a frame of `size` bytes."""
    return airtime_ns(settings_of(scenario).modem(factor_of(kind)), size)


def settings_of(scenario: Scenario) -> LoRa:
    """Return the scenario's settings of LoRa."""
    law = scenario.reception
    assert isinstance(law, LoRa)  # noqa: S101  # only LoRa's settings name this module
    return law


def adapt(scenario: Scenario) -> Scenario:
    """Return the scenario with noise floor, sensitivity and rate of its modem; raise UserError for another's radio.

    Of several spreading factors the largest counts, whose symbols last longest.
    """
    law = settings_of(scenario).resolved()
    _check_nodes(law, len(scenario.nodes))
    file_khz = scenario.radio.noise_bandwidth_hz / 1000
    if file_khz != law.bandwidth_khz:
        raise UserError(
            f"{PREFIX}bandwidth: {law.bandwidth_khz} kHz is not the noise bandwidth of the radio's mode, "
            f"{file_khz:g} kHz: set Radio.mode to one with {law.bandwidth_khz} kHz"
        )
    factor, floor_dbm = max(law.factors), scenario.radio.noise_floor_dbm
    if law.noise_figure_db is not None:
        floor_dbm = noise_floor_dbm(law.bandwidth_khz, law.noise_figure_db)
    radio = replace(
        scenario.radio,
        noise_floor_dbm=floor_dbm,
        sensitivity_dbm=floor_dbm + float(FLOOR_DB[factor - FIRST]),
        bits_per_symbol=factor,
        data_rate_bps=round(factor * law.bandwidth_khz * 1000 / 2**factor),
    )
    return replace(scenario, radio=radio, reception=law)


def _check_nodes(law: LoRa, count: int) -> None:
    if len(law.factors) > count:
        raise UserError(f"{PREFIX}spreadingFactor: there are {len(law.factors)} factors for {count} nodes")
    if max(law.gateways, default=0) >= count:
        raise UserError(f"{PREFIX}gateways: there is no node {max(law.gateways)}: the last one is {count - 1}")


@compiled
def disturb(s: State, receiver: int, now: int) -> None:
    """Judge the frames by the stretch that a new signal ends."""
    settle(s, receiver, now)


@compiled
def settle(s: State, receiver: int, now: int) -> None:
    """Corrupt the frames that others drowned since a signal last began or ended."""
    node = s.nodes[receiver]
    if node.heard < 2 or now == node.changed:
        return
    for k in range(node.heard):
        signal = s.signals[receiver, k]
        if signal.fate == RECEIVABLE and now > _needed_from(s, signal.sender):
            _judge(s, receiver, k, now)


@compiled
def begin(s: State, receiver: int, now: int) -> None:
    """Lose a frame of another spreading factor, one below the floor, or one without a demodulator."""
    node, radio = s.nodes[receiver], s.run[0].radio
    new = s.signals[receiver, node.heard]
    new.interference = new.worst = radio.noise_floor_dbm
    factor = s.nodes[new.sender].kind & FACTOR
    is_other = node.kind & GATEWAY == 0 and node.kind & FACTOR != factor
    if is_other or new.power - radio.noise_floor_dbm < FLOOR_DB[factor - FIRST]:
        new.fate = LOST
        node.fail_sens += 1
    elif not _has_demodulator(s, receiver, now):
        new.fate = LOST
        node.fail_interf += 1


@compiled
def _has_demodulator(s: State, receiver: int, now: int) -> bool:
    """Return whether one is free before the new frame needs it, or taken from a frame that it drowns.

    The frame that loses its demodulator is counted as failed by interference.
    """
    node, law = s.nodes[receiver], s.run[0].reception
    new = s.signals[receiver, node.heard]
    since = _needed_from(s, new.sender)
    busy, drowned = 0, -1
    for k in range(node.heard):
        other = s.signals[receiver, k]
        if other.fate != LOST and _end(s, other.sender) > since:
            busy += 1
            if drowned < 0 and _takes_over(s, new, other, now):
                drowned = k
    room = law.demodulators if node.kind & GATEWAY else 1
    if busy >= room and drowned >= 0:
        s.signals[receiver, drowned].fate = LOST
        node.fail_interf += 1
        busy -= 1
    return bool(busy < room)


@compiled
def _takes_over(s: State, new: Any, other: Any, now: int) -> bool:
    """Return whether a new frame gets the demodulator of another one of its spreading factor."""
    law, sender = s.run[0].reception, s.nodes[other.sender]
    is_alike = sender.kind & FACTOR == s.nodes[new.sender].kind & FACTOR
    in_time = law.relocks or now < sender.began + (4 * law.preamble + 17) * symbol(s, other.sender) // 4
    return bool(is_alike and in_time and new.power - other.power >= law.capture_db)


@compiled
def symbol(s: State, sender: int) -> int:
    """Return ns of a symbol of a sender."""
    return int((SECOND << (s.nodes[sender].kind & FACTOR)) // (1000 * s.run[0].reception.bandwidth_khz))


@compiled
def _needed_from(s: State, sender: int) -> int:
    """Return when the part of a sender's frame begins that its receivers need."""
    law = s.run[0].reception
    return int(s.nodes[sender].began + (law.preamble - law.needed) * symbol(s, sender))


@compiled
def _end(s: State, sender: int) -> int:
    """Return when a sender's frame ends."""
    node = s.nodes[sender]
    return int(node.began + s.frames[node.on_air].airtime)


@compiled
def _judge(s: State, receiver: int, place: int, now: int) -> None:
    """Corrupt a frame that the others drown now, and note their power with the noise."""
    signal = s.signals[receiver, place]
    own = (s.nodes[signal.sender].kind & FACTOR) - FIRST
    noise = _with_bursts(s, receiver)
    if signal.power - noise < FLOOR_DB[own]:
        signal.fate = CORRUPTED
    for other in range(COUNT):
        power = _power_of(s, receiver, place, other + FIRST, now)
        if power > -math.inf:
            noise = _sum(noise, power)
            if signal.power - power < _threshold_db(s, own, other):
                signal.fate = CORRUPTED
    signal.interference = noise
    signal.worst = max(signal.worst, noise)


@compiled
def _with_bursts(s: State, receiver: int) -> float:
    """Return the noise with the bursts of others."""
    noise = float(s.run[0].radio.noise_floor_dbm)
    for k in range(s.nodes[receiver].heard):
        if s.signals[receiver, k].sender < 0:
            noise = _sum(noise, s.signals[receiver, k].power)
    return noise


@compiled
def _threshold_db(s: State, own: int, other: int) -> float:
    """Return the distance that a frame keeps from a spreading factor's power."""
    law = s.run[0].reception
    if own == other:
        return float(law.capture_db)
    return float(SIR_DB[own * COUNT + other]) if law.is_imperfect else -math.inf


@compiled
def _power_of(s: State, receiver: int, place: int, factor: int, now: int) -> float:
    """Return the power of a spreading factor beside the signal at a place: of the strongest, or the sum of all."""
    strongest = -math.inf
    for k in range(s.nodes[receiver].heard):
        if k != place and _interferes(s, receiver, k, factor, now):
            strongest = max(strongest, s.signals[receiver, k].power)
    if strongest == -math.inf or not s.run[0].reception.adds_up:
        return strongest
    share = 0.0
    for k in range(s.nodes[receiver].heard):
        if k != place and _interferes(s, receiver, k, factor, now):
            share += 10.0 ** ((s.signals[receiver, k].power - strongest) / 10.0)
    return strongest + 10.0 * math.log10(share)  # of a single one exactly its power


@compiled
def _interferes(s: State, receiver: int, k: int, factor: int, now: int) -> bool:
    """Return whether a signal is a frame of this spreading factor, and by now harms others."""
    sender = s.signals[receiver, k].sender
    if sender < 0 or s.nodes[sender].kind & FACTOR != factor:
        return False
    return bool(s.run[0].reception.preamble_harms or now > _needed_from(s, sender))


@compiled
def _sum(a: float, b: float) -> float:
    """Return the exact sum of two powers in dBm."""
    return float(max(a, b) + 10.0 * math.log10(1.0 + 10.0 ** (-abs(a - b) / 10.0)))
