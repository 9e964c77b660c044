"""The data extraction rate of a gateway whose nodes send by pure ALOHA, as Bor et al. (2016) simulate it.

Nodes lie uniformly in a disk around the gateway, which alone hears them. Each waits for an exponential time after each
of its frames. With the settings `LORASIM` the reception is that of their simulator, LoRaSim. `SWITCHES` turn one
after another to this radio's own assumption, so that each difference shows by itself.

    python -m roambus.extensions.lora.radio.extraction_rate FILE.csv
"""

from __future__ import annotations

import csv
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from roambus.bridge.backend import Transmission
from roambus.bridge.backends.radio.backend import RadioBackend
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.mac import TunableMacSettings
from roambus.bridge.scenario.nodes import NodeSettings
from roambus.bridge.scenario.propagation import LogDistance
from roambus.bridge.scenario.radio import ChannelSettings, GivenLosses, RadioSettings
from roambus.extensions.lora.radio.airtime import airtime_ns
from roambus.extensions.lora.radio.settings import LoRa
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.roles import BROADCAST
from roambus.python_protocol.simtime import SECOND, SimTime

GATEWAY = 0
PAYLOAD, MEAN_WAIT_S = 20, 1000.0
TX_DBM = 14.0
D0_M, LOSS_D0_DB, EXPONENT = 40.0, 127.41, 2.08
"""Their distance law."""
SENSITIVITY_DBM = {7: -126.5, 8: -127.25, 9: -131.25, 10: -132.75, 11: -134.5, 12: -133.25}
"""Measured by them, at 125 kHz."""
REACH_DBM = {"SF12, 4/8": -132.25, "SF12, 4/5": -132.25, "least airtime": -134.5}
"""The power at the edge of the disk."""

LORASIM = LoRa(
    bandwidth_khz=125,
    preamble=8,
    noise_figure_db=0.0,  # no frame of theirs is lost to noise
    is_imperfect=False,
    adds_up=False,
    preamble_harms=False,
    gateways=(GATEWAY,),
    demodulators=1024,
)
SIMPLE = replace(LORASIM, capture_db=300.0, needed=8)
"""Their simplified check: any overlap loses both."""
_HARMS = replace(LORASIM, preamble_harms=True)
_ADDS_UP = replace(_HARMS, adds_up=True)
_IMPERFECT = replace(_ADDS_UP, is_imperfect=True)
_EIGHT = replace(_IMPERFECT, demodulators=8)
_ONE = replace(_EIGHT, demodulators=1)
SWITCHES = {
    "any overlap loses both": SIMPLE,
    "LoRaSim, capture": LORASIM,
    "early preambles harm others": _HARMS,
    "powers add up": _ADDS_UP,
    "imperfect orthogonality": _IMPERFECT,
    "8 demodulators": _EIGHT,
    "1 demodulator": _ONE,
    "no new lock": replace(_ONE, relocks=False),
}
"""From the third on, each has the ones before it, too."""


class Case(NamedTuple):
    """A run's configuration."""

    setting: str
    """A key of REACH_DBM"""
    nodes: int
    seed: int
    law: str = "ln"
    """Of the distance: their simulator takes the natural logarithm in place of the decimal one"""
    packets: int = 20_000


class Message20(Message, tag=1, name="Data"):
    """A frame of a node."""


def powers_dbm(case: Case, random: np.random.Generator) -> NDArray[np.float64]:
    """Return dBm[node] at the gateway, of places that are uniform in the disk."""
    budget_db = TX_DBM - REACH_DBM[case.setting]
    edge_m = D0_M * math.exp((budget_db - LOSS_D0_DB) / (10 * EXPONENT))
    distance_m = edge_m * np.sqrt(random.uniform(0, 1, case.nodes))
    log = np.log if case.law == "ln" else np.log10
    found: NDArray[np.float64] = TX_DBM - LOSS_D0_DB - 10 * EXPONENT * log(distance_m / D0_M)
    return found


def factors_of(case: Case, powers: Sequence[float]) -> tuple[int, ...]:
    """Return each node's spreading factor: 12, or the first one whose sensitivity its power reaches."""
    if case.setting != "least airtime":
        return (12,) * len(powers)
    return tuple(next((f for f, least in SENSITIVITY_DBM.items() if least < power), 12) for power in powers)


def scenario_of(case: Case, law: LoRa, powers: Sequence[float], time_limit: SimTime) -> Scenario:
    """Return the gateway, which is node 0, and nodes that do not hear each other, nor sense before they send."""
    own = replace(law, factors=(12, *factors_of(case, powers)), coding_rate=8 if case.setting == "SF12, 4/8" else 5)
    count = case.nodes
    losses = GivenLosses(tuple(range(1, count + 1)), (GATEWAY,) * count, tuple(TX_DBM - power for power in powers))
    radio = RadioSettings(
        data_rate_bps=366,
        bits_per_symbol=12,
        noise_bandwidth_hz=125e3,
        noise_floor_dbm=-117.0,
        sensitivity_dbm=-137.0,
        rx_power_mw=34.0,
        tx_levels_mw=((TX_DBM, 100.0),),
        cca_threshold_dbm=300.0,
        symbols_for_rssi=1,
        max_frame_bytes=255,
        frame_overhead_bytes=0,
    )
    return Scenario(
        seed=case.seed,
        time_limit=time_limit,
        field_m=(1.0, 1.0),
        channel=ChannelSettings(signal_delivery_threshold_dbm=-200.0),
        radio=radio,
        mac=TunableMacSettings(packet_overhead_bytes=0, network_overhead_bytes=0),
        nodes=(NodeSettings(start_spread=0, clock_drift_sigma=0, tx_power_dbm=TX_DBM),) * (count + 1),
        propagation=LogDistance(pl_d0_db=300.0, sigma_db=0.0, bidirectional_sigma_db=0.0),
        losses=losses,
        reception=own,
    )


def sends(case: Case, scenario: Scenario, random: np.random.Generator, until: SimTime) -> Iterator[Transmission]:
    """Yield the frames of all nodes: each waits after each of its frames."""
    law = scenario.reception
    assert isinstance(law, LoRa)  # noqa: S101  # as made above
    for node in range(1, case.nodes + 1):
        lasting = airtime_ns(law.modem(law.factors[node]), PAYLOAD)
        at = wait_ns(random)
        while at < until:
            yield Transmission(node, at, BROADCAST, Message20(), PAYLOAD)
            at += lasting + wait_ns(random)


def wait_ns(random: np.random.Generator) -> SimTime:
    """Draw a wait."""
    return SimTime(random.exponential(MEAN_WAIT_S) * SECOND)


def extraction_rate(case: Case, law: LoRa) -> float:
    """Return the share of the frames that the gateway received."""
    random = np.random.default_rng([case.seed, case.nodes])
    powers = powers_dbm(case, random).tolist()
    until = SimTime(case.packets * MEAN_WAIT_S / case.nodes) * SECOND
    scenario = scenario_of(case, law, powers, until + 10 * SECOND)
    backend = RadioBackend(scenario)
    backend.open()
    outgoing = sorted(sends(case, scenario, random, until), key=lambda send: send.at)
    sent, received = len(outgoing), 0
    while (step := backend.advance(outgoing, None)) is not None:
        outgoing = []
        received += len(step.deliveries)
    backend.close()
    return received / sent


def closed_form(case: Case) -> float:
    """Return pure ALOHA's exp(-2 G) of one spreading factor."""
    modem = SIMPLE.modem(12)._replace(coding_rate=8 if case.setting == "SF12, 4/8" else 5)
    airtime_s = airtime_ns(modem, PAYLOAD) / SECOND
    return math.exp(-2 * case.nodes * airtime_s / (MEAN_WAIT_S + airtime_s))


def mean_and_half_width(values: Sequence[float]) -> tuple[float, float]:
    """Return the mean and half the width of its 95 % interval."""
    return float(np.mean(values)), float(stats.sem(values) * stats.t.ppf(0.975, len(values) - 1))


COLUMNS = ("setting", "switch", "law", "nodes", "seeds", "rate", "half_width", "exp(-2G)")


def rows(nodes: Sequence[int], seeds: Sequence[int], packets: int) -> Iterator[tuple[object, ...]]:
    """Yield a row of each setting, switch and number of nodes."""
    for setting in REACH_DBM:
        for name, law in SWITCHES.items():
            for distance_law in ("ln", "log10") if name == "LoRaSim, capture" else ("ln",):
                for count in nodes:
                    cases = [Case(setting, count, seed, distance_law, packets) for seed in seeds]
                    mean, half = mean_and_half_width([extraction_rate(case, law) for case in cases])
                    form = f"{closed_form(cases[0]):.4f}" if law is SIMPLE and "SF12" in setting else ""
                    yield setting, name, distance_law, count, len(seeds), f"{mean:.4f}", f"{half:.4f}", form


def main() -> None:
    """Write the table."""
    with Path(sys.argv[1]).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for row in rows((100, 200, 400, 800, 1600), range(10), 20_000):
            writer.writerow(row)
            file.flush()


if __name__ == "__main__":
    main()
