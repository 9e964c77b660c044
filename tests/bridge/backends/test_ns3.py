"""The back-end ns3: what the adapter is told, what is refused, and runs of real ns-3."""

from __future__ import annotations

from dataclasses import replace
from math import dist, log10
from pathlib import Path
from typing import Any

import pytest

from roambus.bridge.backend import Failure, Transmission
from roambus.bridge.backends.ns3 import NS3_ROOT, check, find_ns3, settings_text, ways_of
from roambus.bridge.backends.radio.backend import RadioBackend
from roambus.bridge.backends.registry import backend_names, make_factory
from roambus.bridge.errors import BackendError, UserError
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.nodes import RandomWaypoint
from roambus.python_protocol.vocabulary import BROADCAST, SECOND
from roambus.testing.backend_case import MARKERS, Conforming, Marker, send, write_case
from roambus.testing.backend_promises import drain
from tests.bridge.backends.conformance import make_ns3


@pytest.fixture
def scenario(tmp_path: Path) -> Scenario:
    return write_case(tmp_path, MARKERS).scenario


def test_a_seed_is_the_same_network_as_on_the_embedded_radio(scenario: Scenario) -> None:
    """Boot times, clocks and places: so what differs between the two is the radio."""
    lines = [line.removeprefix("node=").split() for line in settings_text(scenario).splitlines() if "node=" in line]
    hello = RadioBackend(scenario).open()
    assert [(int(boot), float(rate)) for boot, rate, _ in lines] == [(one.start, one.clock_rate) for one in hello.nodes]
    assert [ways_of(scenario)[node][0][1:] for node in range(4)] == [one.position for one in scenario.nodes]


def test_way_points_of_one_time_are_one(scenario: Scenario) -> None:
    """ns-3 wants times that grow; a node without a pause turns at once."""
    moving = replace(scenario.nodes[0], mobility=RandomWaypoint(speed_mps=50.0, pause=SECOND))
    way = ways_of(replace(scenario, nodes=(moving, *scenario.nodes[1:]), time_limit=60 * SECOND))[0]
    times = [point.time_s for point in way]
    assert len(times) > 10
    assert times == sorted(set(times))


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"duty_cycle": 0.1}, r"MAC\.dutyCycle: ns-3's MACs have nothing like it: leave it at 1"),
        ({"tries": 2}, r"MAC\.numTx"),
        ({"prob_tx": 0.5}, r"MAC\.probTx"),
    ],
)
def test_what_ns3_has_not_is_refused_by_its_key(scenario: Scenario, change: dict[str, Any], key: str) -> None:
    """A run that passed it over would show another network than the ini says."""
    with pytest.raises(UserError, match=key):
        check(replace(scenario, mac=replace(scenario.mac, **change)))


def test_batteries_and_other_rates_are_refused(scenario: Scenario) -> None:
    """802.15.4 has one rate at 2.4 GHz."""
    small = replace(scenario.nodes[1], initial_energy_j=1.0)
    with pytest.raises(UserError, match="initialEnergy: nodes have no batteries on ns-3"):
        check(replace(scenario, nodes=(scenario.nodes[0], small)))
    with pytest.raises(UserError, match="250 kbit/s"):
        check(replace(scenario, radio=replace(scenario.radio, data_rate_bps=1_000_000)))


def test_without_ns3_the_way_to_it_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the environment, or as a package."""
    monkeypatch.setenv(NS3_ROOT, str(tmp_path))
    with pytest.raises(UserError, match=f"NS3_ROOT={tmp_path} holds no ns-3: pip install --no-deps ns3"):
        find_ns3()
    assert "ns3" in backend_names()
    with pytest.raises(UserError, match="there is no back-end ns4: there are radio, castalia, ideal, ns3"):
        make_factory("ns4")


@pytest.mark.ns3
def test_a_frame_that_is_too_long_is_refused_with_the_limit(tmp_path: Path) -> None:
    """802.15.4 has frames of 127 bytes; the agent is told as of a full queue."""
    case = write_case(tmp_path, MARKERS)
    backend = make_ns3(case)
    backend.open()
    backend.advance([], SECOND)
    long = Marker(1, bytes(150))
    transmissions = [Transmission(0, SECOND, BROADCAST, long, len(long.encode()))]
    failures: list[Failure] = []
    while (step := backend.advance(transmissions, None)) is not None:
        transmissions = []
        failures += step.failures
    backend.close()
    assert [one.reason for one in failures] == ["too long for a frame of 802.15.4: a message has at most 116 bytes"]


@pytest.mark.ns3
@pytest.mark.parametrize("stack", ["lr-wpan", "wifi"])
def test_the_levels_are_the_signal_and_its_distance_from_the_noise_floor(stack: str, tmp_path: Path) -> None:
    """By the law of path loss, over the places of sender and receiver; ns-3's own share of 255 says neither."""
    case = write_case(tmp_path, MARKERS)
    backend, channel = Conforming(make_ns3(case, stack=stack)), case.scenario.channel
    backend.open()
    heard = drain(backend, [send(sender, sender, (sender + 1) * SECOND // 2) for sender in range(1, 4)])
    backend.close()
    places = [node.position for node in case.scenario.nodes if node.position is not None]
    assert len(heard) == 9
    for _, one in heard:
        metres = dist(places[one.sender], places[one.receiver])
        loss_db = channel.pl_d0_db + 10 * channel.path_loss_exponent * log10(metres / channel.d0_m)
        level_dbm = case.scenario.nodes[one.sender].tx_power_dbm - loss_db
        assert one.rssi_dbm == pytest.approx(level_dbm)
        assert one.lqi_db == pytest.approx(level_dbm - case.scenario.radio.noise_floor_dbm)


@pytest.mark.ns3
def test_what_ns3_itself_finds_wrong_is_the_simulators_failure(tmp_path: Path) -> None:
    """Its program aborts; the error has its text."""
    case = write_case(tmp_path, MARKERS)
    broken = replace(case.scenario, channel=replace(case.scenario.channel, d0_m=float("nan")))
    backend = make_ns3(replace(case, scenario=broken))
    with pytest.raises(BackendError, match="roambus-ns3"):
        backend.open()
    backend.close()
