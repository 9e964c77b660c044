"""The back-end ns3: what the adapter is told, what is refused, and runs of real ns-3."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from math import dist, log10
from pathlib import Path
from typing import Any

import pytest

from roambus.bridge.backend import Delivery, Failure, Transmission
from roambus.bridge.backends.radio.backend import RadioBackend
from roambus.bridge.backends.registry import backend_names, make_factory
from roambus.bridge.host.event_loop import Host
from roambus.bridge.mobility.model import WayPoint
from roambus.bridge.mobility.paths import motion
from roambus.bridge.mobility.random_waypoint import RandomWaypoint
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.mac import Ieee802154Settings, TunableMacSettings
from roambus.bridge.scenario.propagation import LogDistance
from roambus.bridge.system.errors import BackendError, UserError
from roambus.bridge.trace.parquet import TraceWriter
from roambus.extensions.ns3.backend import NS3_ROOT, check, find_ns3, settings_text, ways_of
from roambus.extensions.ns3.tests.adapter import make_ns3
from roambus.python_protocol.roles import BROADCAST
from roambus.python_protocol.simtime import SECOND, SimTime
from roambus.testing.backend_case import MARKERS, Case, Conforming, Marker, send, write_case
from roambus.testing.backend_promises import drain
from tests.bridge.host.test_positions import Located


@pytest.fixture
def scenario(tmp_path: Path) -> Scenario:
    return write_case(tmp_path, MARKERS).scenario


def test_a_seed_is_the_same_network_as_on_the_embedded_radio(scenario: Scenario) -> None:
    """Boot times, clocks and places: so what differs between the two is the radio."""
    lines = [line.removeprefix("node=").split() for line in settings_text(scenario).splitlines() if "node=" in line]
    hello = RadioBackend(scenario).open()
    assert [(int(boot), float(rate)) for boot, rate, *_ in lines] == [
        (node.start, node.clock_rate) for node in hello.nodes
    ]
    assert [ways_of(scenario)[node][0][1:] for node in range(4)] == [node.position for node in scenario.nodes]


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


def test_what_aborts_ns3_is_refused(scenario: Scenario) -> None:
    """A channel that is busy from above -75 dBm only."""
    scenario = replace(scenario, mac=Ieee802154Settings())
    check(replace(scenario, radio=replace(scenario.radio, cca_threshold_dbm=-75.0)))
    with pytest.raises(UserError, match=r"CCAthreshold: ns-3 takes -75 dBm at most"):
        check(replace(scenario, radio=replace(scenario.radio, cca_threshold_dbm=-74.0)))


def test_without_ns3_the_way_to_it_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
    assert [failure.reason for failure in failures] == [
        "too long for a frame of 802.15.4: a message has at most 116 bytes"
    ]


@pytest.mark.ns3
@pytest.mark.parametrize("stack", ["lr-wpan", "wifi"])
def test_the_levels_are_the_signal_and_its_distance_from_the_noise_floor(stack: str, tmp_path: Path) -> None:
    """By the law of path loss, over the places of sender and receiver; ns-3's own share of 255 says neither."""
    case = write_case(tmp_path, MARKERS)
    backend, law = Conforming(make_ns3(case, stack=stack)), LogDistance()
    backend.open()
    heard = drain(backend, [send(sender, sender, (sender + 1) * SECOND // 2) for sender in range(1, 4)])
    backend.close()
    places = [node.position for node in case.scenario.nodes if node.position is not None]
    assert len(heard) == 9
    for _, delivery in heard:
        metres = dist(places[delivery.sender], places[delivery.receiver])
        loss_db = law.pl_d0_db + 10 * law.path_loss_exponent * log10(metres / law.d0_m)
        level_dbm = case.scenario.nodes[delivery.sender].tx_power_dbm - loss_db
        assert delivery.rssi_dbm == pytest.approx(level_dbm)
        assert delivery.lqi_db == pytest.approx(level_dbm - case.scenario.radio.noise_floor_dbm)


def changed(scenario: Scenario, part: str, change: dict[str, Any]) -> Scenario:
    """The scenario with other values of its channel, radio, MAC or nodes."""
    if part == "nodes":
        return replace(scenario, nodes=tuple(replace(node, **change) for node in scenario.nodes))
    return replace(scenario, **{part: replace(getattr(scenario, part), **change)})


def levels(case: Case, scenario: Scenario, stack: str) -> dict[tuple[int, int], float]:
    """The signal of each frame by sender and receiver, of three nodes that send one each."""
    backend = make_ns3(replace(case, scenario=scenario), stack=stack)
    backend.open()
    transmissions = [send(sender, sender, (sender + 2) * SECOND // 2) for sender in range(3)]
    heard: list[Delivery] = []
    backend.advance([], SECOND)
    while (step := backend.advance(transmissions, None)) is not None:
        transmissions = []
        heard += step.deliveries
    backend.close()
    return {(delivery.sender, delivery.receiver): delivery.rssi_dbm for delivery in heard}


@pytest.mark.ns3
@pytest.mark.parametrize("stack", ["lr-wpan", "wifi"])
@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("nodes", {"tx_power_dbm": -30.0}),
        ("radio", {"noise_floor_dbm": -60.0}),
        ("propagation", {"path_loss_exponent": 6.0}),
        ("propagation", {"pl_d0_db": 90.0}),
        ("propagation", {"d0_m": 0.1}),
        ("nodes", {"start_offset": 3 * SECOND}),
        ("nodes", {"mobility": RandomWaypoint(speed_mps=1000.0, pause=0)}),
    ],
)
def test_power_noise_and_path_loss_decide_who_hears(
    part: str, change: dict[str, Any], stack: str, tmp_path: Path
) -> None:
    """And boots and places: nothing arrives with these values, and all with the ini's."""
    case = write_case(tmp_path, MARKERS)
    assert len(levels(case, case.scenario, stack)) == 9
    other = changed(replace(case.scenario, field_m=(10_000.0, 10_000.0)), part, change)
    assert levels(case, other, stack) == {}


@pytest.mark.ns3
@pytest.mark.parametrize("mac", [TunableMacSettings(), Ieee802154Settings()])
@pytest.mark.parametrize(("sensitivity_dbm", "count"), [(-95.0, 9), (-90.0, 0)])
def test_a_frame_below_the_sensitivity_is_not_heard(
    mac: TunableMacSettings | Ieee802154Settings, sensitivity_dbm: float, count: int, tmp_path: Path
) -> None:
    """Of ns-3's 802.15.4, too, which hears what its noise allows, and whatever the transmit power is."""
    case = write_case(tmp_path, MARKERS)
    weak = changed(replace(case.scenario, mac=mac), "nodes", {"tx_power_dbm": -19.0})
    other = changed(weak, "radio", {"sensitivity_dbm": sensitivity_dbm})
    assert len(levels(case, other, "lr-wpan")) == count


def queued(case: Case, scenario: Scenario, stack: str, destination: int) -> tuple[Counter[str], SimTime]:
    """The counts and failures of two nodes that send ten frames each at once, and when the last frame was over."""
    backend = make_ns3(replace(case, scenario=scenario), stack=stack)
    backend.open()
    transmissions = [send(node, number, SECOND, destination) for node in (0, 2) for number in range(10)]
    counts: Counter[str] = Counter()
    backend.advance([], SECOND)
    last = SECOND
    while (step := backend.advance(transmissions, None)) is not None:
        transmissions, last = [], step.now
        counts.update(failure.reason for failure in step.failures)
    for name, by_node in backend.close().counts.items():
        counts[name] += sum(by_node)
    return counts, last


@pytest.mark.ns3
@pytest.mark.parametrize(
    ("stack", "mac"),
    [("lr-wpan", TunableMacSettings()), ("lr-wpan", Ieee802154Settings()), ("wifi", TunableMacSettings())],
)
def test_a_queue_holds_as_many_frames_as_the_ini_says(
    stack: str, mac: TunableMacSettings | Ieee802154Settings, tmp_path: Path
) -> None:
    """Of ten frames at once."""
    case = write_case(tmp_path, MARKERS)
    scenario = replace(case.scenario, mac=replace(mac, buffer_size=4))
    assert queued(case, scenario, stack, BROADCAST)[0]["MAC queue full"] == 12


@pytest.mark.ns3
def test_the_mac_of_802_15_4_is_that_of_the_ini(tmp_path: Path) -> None:
    """Retries, back-offs and their number."""
    case, mac = write_case(tmp_path, MARKERS), Ieee802154Settings()
    away = replace(case.scenario.nodes[1], position=(9000.0, 0.0))
    nodes = (case.scenario.nodes[0], away, *case.scenario.nodes[2:])
    lost = replace(case.scenario, nodes=nodes, field_m=(10_000.0, 10.0))
    for retries in (0, 2):
        sent = queued(case, replace(lost, mac=replace(mac, max_frame_retries=retries)), "lr-wpan", 1)[0]
        assert sent["transmitted"] == (1 + retries) * sent["no acknowledgement"] > 0
    ends = [
        queued(case, replace(case.scenario, mac=replace(mac, min_be=be, max_be=8)), "lr-wpan", BROADCAST)[1]
        for be in (0, 8)
    ]
    assert ends[0] < SECOND + SECOND // 10 < ends[1]
    failures = [
        queued(case, replace(case.scenario, mac=replace(mac, max_csma_backoffs=most)), "lr-wpan", BROADCAST)[0]
        for most in (0, 5)
    ]
    assert failures[0]["channel access failure"] > failures[1]["channel access failure"]


@pytest.mark.ns3
@pytest.mark.parametrize("stack", ["lr-wpan", "wifi"])
def test_shadowing_differs_by_pair_direction_and_cell(stack: str, tmp_path: Path) -> None:
    """Without cells it is a pair's; nodes of one cell have the same."""
    case = write_case(tmp_path, MARKERS)
    shadowed = changed(case.scenario, "propagation", {"sigma_db": 3.0})
    by_pair = levels(case, shadowed, stack)
    assert by_pair[0, 1] == by_pair[1, 0] != by_pair[0, 2]
    turned = levels(case, changed(shadowed, "propagation", {"bidirectional_sigma_db": 3.0}), stack)
    assert turned[0, 1] != turned[1, 0]
    cells = {"only_static_nodes": False, "x_cell_m": 4.0, "y_cell_m": 100.0}
    by_cell = levels(case, changed(shadowed, "channel", cells), stack)
    assert by_cell[0, 1] - by_cell[0, 3] == pytest.approx(24 * log10(2**0.5))
    assert by_cell[0, 2] == 0.0


@pytest.mark.ns3
def test_what_ns3_itself_finds_wrong_is_the_simulators_failure(tmp_path: Path) -> None:
    """Its program aborts; the error has its text."""
    case = write_case(tmp_path, MARKERS)
    broken = replace(case.scenario, propagation=LogDistance(d0_m=float("nan")))
    backend = make_ns3(replace(case, scenario=broken))
    with pytest.raises(BackendError, match="roambus-ns3"):
        backend.open()
    backend.close()


@pytest.mark.ns3
def test_agents_believe_to_be_where_ns3_moves_them(tmp_path: Path) -> None:
    """The way-points that ns-3 reports at the end go through all believed places."""
    case = write_case(tmp_path, MARKERS)
    moving = tuple(replace(node, mobility=RandomWaypoint(8.0)) for node in case.scenario.nodes)
    scenario = replace(case.scenario, nodes=moving, field_m=(40.0, 40.0), time_limit=8 * SECOND, agent="located")
    trace = TraceWriter()
    Host(scenario, Located, make_ns3(replace(case, scenario=scenario)), trace).run()
    rows = trace.table().to_pylist()
    ways: dict[int, list[WayPoint]] = {node: [] for node in range(len(moving))}
    for row in rows:
        if row["event"] == "move":
            ways[row["node"]].append(WayPoint(row["time_s"], *map(float, row["detail"].split())))
    looks = [row for row in rows if row["event"] == "look"]
    assert len(looks) == 8 * len(moving)
    for row in looks:
        believed = tuple(map(float, re.findall(r"-?[\d.e-]+", row["detail"])[:2]))
        assert believed == pytest.approx(motion(ways[row["node"]], row["time_s"])[0], abs=0.02)
