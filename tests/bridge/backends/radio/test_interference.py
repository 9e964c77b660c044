"""Others, who are no nodes, send in the same place: bursts disturb what is on the air, and nothing else changes."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from benchmarks.reference_scenarios import CC2420, FLAT, MAC
from roambus.bridge.backends.castalia.backend import check_radio_alone
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.nodes import NodeSettings
from roambus.bridge.scenario.radio import InterferenceSettings
from roambus.bridge.system.errors import UserError
from roambus.python_protocol.simtime import MILLISECOND, SECOND
from tests.support.beacons import totals_of_beacons

PAYLOAD, BYTES = 60, 60 + 25
FRAME_S = BYTES * 8 / 250_000
LOUD = InterferenceSettings(rate_per_s=50, length=2 * MILLISECOND, power_dbm=0, spread_db=0)


def two_nodes(interference: InterferenceSettings, seed: int = 1, *, senses: bool = False) -> Scenario:
    """Two nodes near each other, on a channel without shadowing."""
    nodes = tuple(NodeSettings(position=(x, 0.0), start_spread=0) for x in (0.0, 5.0))
    radio = replace(CC2420, cca_threshold_dbm=-95.0 if senses else 200.0)
    scenario = Scenario(seed, 60 * SECOND, (5, 5), FLAT.channel, radio, MAC, nodes, interference=interference)
    return replace(scenario, propagation=FLAT.propagation)


def counts(scenario: Scenario) -> dict[str, list[int]]:
    """What both count when the first one sends."""
    return {name: list(values) for name, values in totals_of_beacons(scenario, 50, PAYLOAD, silent=1).counts.items()}


def test_a_loud_burst_takes_each_frame_that_it_meets() -> None:
    """The share that is hit is that of a renewal process: a frame begins in a burst, or one begins during it."""
    found = counts(two_nodes(LOUD))
    pause, length = 1 / LOUD.rate_per_s, LOUD.length / SECOND
    spared = pause / (pause + length) * math.exp(-FRAME_S / pause)
    sent = found["transmitted"][0]
    assert abs(found["received"][1] / sent - spared) < 4 * math.sqrt(spared * (1 - spared) / sent)
    assert sent - found["received"][1] - found["fail_interf"][1] in (0, 1)  # the last may be on the air at the end


def test_a_sender_senses_the_bursts() -> None:
    """It waits for their ends, so that fewer frames are hit."""
    assert counts(two_nodes(LOUD, senses=True))["received"][1] > 1.03 * counts(two_nodes(LOUD))["received"][1]


def test_bursts_that_nobody_hears_change_nothing() -> None:
    """What is drawn for them comes from a stream of its own."""
    assert counts(two_nodes(replace(LOUD, power_dbm=-200))) == counts(two_nodes(InterferenceSettings()))


def test_the_seed_tells_the_bursts() -> None:
    """Equal seeds give equal counts; another seed has other bursts."""
    assert counts(two_nodes(LOUD)) == counts(two_nodes(LOUD))
    assert counts(two_nodes(LOUD)) != counts(two_nodes(LOUD, seed=2))


def test_a_simulator_without_them_refuses_them() -> None:
    """Nothing is passed over."""
    with pytest.raises(UserError, match=r"SN\.interference\.rate: Castalia does not simulate interference"):
        check_radio_alone(two_nodes(LOUD), "Castalia")
