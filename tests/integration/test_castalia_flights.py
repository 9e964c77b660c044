"""Nodes that their agents move in real Castalia."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import pytest

from roambus.bridge.backends.castalia.backend import CastaliaBackend
from roambus.bridge.backends.castalia.installation import Program
from roambus.bridge.backends.castalia.simulators import StartedSimulator, ways_of
from roambus.bridge.backends.radio.backend import RadioBackend
from roambus.bridge.formats.ini import read_scenario
from roambus.bridge.mobility.model import WayPoint
from roambus.bridge.mobility.paths import motion
from roambus.bridge.runs.layout import INI_FILE, SIMULATOR_LOG
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.wire.wire_pb2 import Course
from roambus.python_protocol.agent import on
from roambus.python_protocol.events import Arrived, Started
from roambus.python_protocol.simtime import MILLISECOND, SECOND, SimTime
from tests.integration.castalia_runs import ScriptedHost, run_alone, write_run
from tests.integration.test_castalia_mobility import WAYPOINT, announced_places
from tests.support.flights import Speaker, rows_of
from tests.support.steering import DEADLINE_S, EXACT, LIMIT, SCRIPT, flown, node_moves, rounded, write_flight

pytestmark = pytest.mark.castalia


def over_castalia(folder: Path, castalia: Program, scenario: Scenario, **options: bool) -> CastaliaBackend:
    """Castalia in the folder with the scenario's ini."""
    simulator = StartedSimulator(folder, castalia, DEADLINE_S, ways_of(scenario))
    return CastaliaBackend(scenario, Speaker.messages, simulator, **options)


@pytest.mark.parametrize("delay", [0, MILLISECOND])
def test_a_flight_by_commands_is_that_by_a_file(castalia: Program, tmp_path: Path, delay: SimTime) -> None:
    """The traces are equal, levels, positions and the radio's counts among them, however Steps travel."""
    commanded = write_flight(tmp_path / "commanded", delay)
    rows, ways = flown(commanded, over_castalia(tmp_path / "commanded", castalia, commanded))
    for options in ({"batching": False}, {"lookahead": False}, {"moves": True}):
        again = over_castalia(tmp_path / "commanded", castalia, commanded, **options)
        assert flown(commanded, again)[0] == rows
    filed = write_flight(tmp_path / "filed", delay, ways)
    by_file = rows_of(filed, Speaker, over_castalia(tmp_path / "filed", castalia, filed, moves=True))
    assert rounded(rows) == rounded(by_file)


def test_nodes_go_as_on_the_embedded_radio(castalia: Program, tmp_path: Path) -> None:
    """Starts, turns and rests in the traces are the same: the host draws where the nodes start."""
    commanded = write_flight(tmp_path / "run", changes=EXACT)
    rows, _ = flown(commanded, over_castalia(tmp_path / "run", castalia, commanded))
    by_radio, _ = flown(commanded, RadioBackend(commanded))
    for node in range(5):
        assert node_moves(rows, node) == node_moves(by_radio, node)
    assert len(node_moves(rows, 0)) > len(SCRIPT)


def test_the_channel_is_told_every_update_interval_where_the_node_is(castalia: Program, tmp_path: Path) -> None:
    """At rest as well: it sees a node that sets out again at the same instants as one that a file moves."""
    trace = {"updateInterval = 100": "updateInterval = 250\nSN.node[*].MobilityManager.collectTraceInfo = true"}
    scenario = write_flight(tmp_path / "run", changes=trace)
    course = Course(time=SECOND + 7, node=1, x=10, y=20, until=3 * SECOND + 7, to_x=30, to_y=10)
    stop = Course(time=2 * SECOND, node=1, x=20, y=15, until=2 * SECOND, to_x=20, to_y=15)
    with ScriptedHost(tmp_path / "run", castalia, ways_of(scenario)) as host:
        host.welcome(5)
        host.reply(wake_up=SECOND, courses=[course])
        host.reply(courses=[stop])
    places = {place.time_s: (place.x, place.y) for place in announced_places(tmp_path / "run")[1]}
    assert sorted(places) == pytest.approx([tick / 4 for tick in range(1, 4 * LIMIT // SECOND + 1)])
    assert places[1.25] == pytest.approx((12.5, 18.75), abs=0.001)
    assert places[1.75] == pytest.approx((17.5, 16.25), abs=0.001)
    assert {place for time, place in places.items() if time >= 2} == {(20, 15)}


def test_a_node_that_its_agent_does_not_move_takes_no_course(castalia: Program, tmp_path: Path) -> None:
    """Castalia names the node and the key."""
    folder = write_run(tmp_path, WAYPOINT)
    with ScriptedHost(folder, castalia) as host:
        host.welcome(5)
        assert host.reply(courses=[Course(time=6, node=2, until=6)]).HasField("failed")
        host.process.wait(DEADLINE_S)
        log = (folder / SIMULATOR_LOG).read_text()
    assert "the host moves node 2, whose MobilityManagerName is not AgentMobilityManager" in log


def test_without_a_host_it_says_what_to_do(castalia: Program, tmp_path: Path) -> None:
    """It is the host that knows where the node is."""
    write_flight(tmp_path / "run")
    told = run_alone(tmp_path / "run", castalia, status=1)
    assert "/.roambus/ways/0, a node's way; start `roambus run --endpoint local` first" in told


@pytest.mark.parametrize("lookahead", [True, False])
def test_among_nodes_that_castalia_moves(castalia: Program, tmp_path: Path, lookahead: bool) -> None:
    """Node 2 alone goes by its agent: at each event every agent believes to be where the trace has its node."""
    own = 'SN.node[2].MobilityManagerName = "AgentMobilityManager"\n'
    managers = 'SN.node[*].MobilityManagerName = "RandomWaypointMobilityManager"'
    folder = write_run(tmp_path, {**WAYPOINT, "time_limit": 9.0}, {managers: own + managers})
    scenario = read_scenario(folder / INI_FILE)
    rows = rows_of(scenario, Third, over_castalia(folder, castalia, scenario, moves=True, lookahead=lookahead))
    ways: dict[int, list[WayPoint]] = defaultdict(list)
    for row in rows:
        if row["event"] == "move":
            ways[row["node"]].append(WayPoint(row["time_s"], *map(float, row["detail"].split())))
    assert [point[1:] for point in ways[2][2:]] == [(10, 10), (30, 20)]
    heard = [row for row in rows if row["event"] == "hear"]
    assert {row["node"] for row in heard} == {0, 1, 2, 3, 4}
    for row in heard:
        believed = [float(number) for number in re.findall(r"-?\d+\.\d+(?:e-?\d+)?", row["detail"])[1:3]]
        assert believed == pytest.approx(motion(ways[row["node"]], row["time_s"])[0], abs=0.01)


class Third(Speaker):
    """Node 2 goes to one place, and then to another."""

    @on(Started)
    def start(self, event: Started, now: SimTime) -> None:
        super().start(event, now)
        if self.node == 2:
            self.go_to(10.0, 10.0, speed=15)

    @on(Arrived)
    def arrive(self, event: Arrived, now: SimTime) -> None:
        if event.x == 10:
            self.go_to(30.0, 20.0, speed=8)
