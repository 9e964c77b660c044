"""How nodes move in real Castalia, and what of it reaches the host."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow.parquet as pq
import pytest

from roambus.bridge.backend import BackendFactory
from roambus.bridge.backends.castalia import backend
from roambus.bridge.backends.castalia.backend import CastaliaBackend, CastaliaFactory
from roambus.bridge.backends.castalia.installation import Program
from roambus.bridge.backends.castalia.simulators import ways_of
from roambus.bridge.backends.radio.backend import RadioFactory
from roambus.bridge.formats.ini import read_scenario
from roambus.bridge.mobility.model import WayPoint
from roambus.bridge.mobility.paths import motion
from roambus.bridge.runs.layout import INI_FILE, TRACE_FILE
from roambus.bridge.runs.run import execute
from roambus.experiments.sweeps.runner import plan_runs
from roambus.experiments.sweeps.sweep import AgentChoice, Sweep
from roambus.experiments.templates.template import Template, find_template
from tests.integration.castalia_runs import CASTALIAS_TRACE, ScriptedHost, Variables, run_alone, seconds, write_run

pytestmark = pytest.mark.castalia

LOCATED = "tests.bridge.host.test_positions:Located"
SIDE, SPEED, PAUSE, TIME_LIMIT = 40.0, 8.0, 1.5, 60.0
WAYPOINT: Variables = {"nodes": 5, "side": SIDE, "mobility": "waypoint", "speed": SPEED, "time_limit": TIME_LIMIT}


class Place(NamedTuple):
    """Where a node is."""

    time_s: float
    x: float
    y: float


def moves_of(folder: Path, castalia: Program) -> list[list[Place]]:
    """Each node's moves in a run in which nothing is sent."""
    with ScriptedHost(folder, castalia) as host:
        host.send_at([])
    moves = host.finished.moves
    assert [move.time for move in moves] == sorted(move.time for move in moves)
    places: dict[int, list[Place]] = defaultdict(list)
    for move in moves:
        places[move.node].append(Place(seconds(move.time), move.x, move.y))
    return [places[node] for node in range(len(host.hello.nodes))]


def distance(a: Place, b: Place) -> float:
    """Metres."""
    return math.hypot(b.x - a.x, b.y - a.y)


@pytest.fixture(scope="module")
def moves(castalia: Program, tmp_path_factory: pytest.TempPathFactory) -> list[list[Place]]:
    """The moves of nodes that never pause."""
    return moves_of(write_run(tmp_path_factory.mktemp("waypoint"), WAYPOINT), castalia)


class TestRandomWaypoint:
    def test_nodes_go_at_the_given_speed_all_the_time(self, moves: list[list[Place]]) -> None:
        """From each move to the next, the distance is the speed times the time."""
        for places in moves:
            assert all(distance(a, b) == pytest.approx(SPEED * (b.time_s - a.time_s)) for a, b in pairwise(places))

    def test_moves_span_the_run(self, moves: list[list[Place]]) -> None:
        """The first is at 0, the last at the time limit, some are between."""
        for places in moves:
            assert (places[0].time_s, places[-1].time_s) == (0, TIME_LIMIT)
            assert len(places) > TIME_LIMIT * SPEED / (SIDE * math.sqrt(2))

    def test_destinations_fill_the_field_and_stay_in_it(self, moves: list[list[Place]]) -> None:
        """Their mean is near the centre, their spread that of a uniform distribution."""
        turns = np.array([place[1:] for places in moves for place in places[1:-1]])
        assert turns.min() >= 0
        assert turns.max() <= SIDE
        error = SIDE / math.sqrt(12 * len(turns))
        assert turns.mean(axis=0) == pytest.approx([SIDE / 2, SIDE / 2], abs=4 * error)
        assert turns.std(axis=0) == pytest.approx([SIDE / math.sqrt(12)] * 2, abs=4 * error)

    def test_a_pause_is_kept_at_every_destination(self, castalia: Program, tmp_path: Path) -> None:
        """Each node goes, rests for the pause, goes again."""
        folder = write_run(tmp_path, WAYPOINT, {"pause = 0s": f"pause = {PAUSE}s"})
        for places in moves_of(folder, castalia):
            for number, (a, b) in enumerate(pairwise(places[:-1])):
                gone = SPEED * (b.time_s - a.time_s)
                assert distance(a, b) == pytest.approx(gone if number % 2 == 0 else 0)
                assert number % 2 == 0 or b.time_s - a.time_s == pytest.approx(PAUSE)

    @pytest.mark.usefixtures("castalia")
    @pytest.mark.parametrize("pause", [0.0, 4.0])
    def test_a_start_in_the_steady_state_is_the_same_as_on_the_embedded_radio(
        self, tmp_path: Path, pause: float
    ) -> None:
        """Every node starts at the same place, and goes to the same first destination or rests for as long."""
        variables: Variables = {**WAYPOINT, "nodes": 20, "start": "steady", "pause": pause, "time_limit": 15.0}
        ways = [
            first_ways(variables, backend, tmp_path / name)
            for name, backend in (("castalia", CastaliaFactory()), ("radio", RadioFactory()))
        ]
        assert ways[0] == ways[1]
        resting = [way for way in ways[0].values() if way[0][1] == way[1][1]]
        assert bool(resting) == bool(pause)

    def test_the_channel_is_told_every_update_interval_where_the_node_is(
        self, castalia: Program, tmp_path: Path
    ) -> None:
        """It is on the straight line between two moves, also after a turn between two updates."""
        trace = ["SN.node[*].MobilityManager.collectTraceInfo = true"]
        folder = write_run(tmp_path, WAYPOINT, {"updateInterval = 100": "updateInterval = 700"}, trace)
        for places, announced in zip(moves_of(folder, castalia), announced_places(folder), strict=True):
            times, xs, ys = np.array(places).T
            at, x, y = np.array(announced).T
            assert at == pytest.approx(np.arange(0.7, TIME_LIMIT, 0.7))
            assert x == pytest.approx(np.interp(at, times, xs), abs=0.01)
            assert y == pytest.approx(np.interp(at, times, ys), abs=0.01)

    def test_it_needs_no_bridge(self, castalia: Program, tmp_path: Path) -> None:
        """Castalia's own applications can move by it."""
        own = {'ApplicationName = "BridgeApplication"': 'ApplicationName = "ThroughputTest"'}
        folder = write_run(tmp_path, WAYPOINT, own, ["SN.node[*].Application.packet_rate = 5"])
        assert "TX pkts" in run_alone(folder, castalia)


def announced_places(folder: Path) -> list[list[Place]]:
    """What each node's mobility manager told the channel, as it says in Castalia's trace."""
    line = re.compile(r"^([\d.]+) +SN\.node\[(\d+)\]\.MobilityManager +moved to ([\d.e-]+):([\d.e-]+)", re.MULTILINE)
    announced: dict[int, list[Place]] = defaultdict(list)
    for time, node, x, y in line.findall((folder / CASTALIAS_TRACE).read_text()):
        announced[int(node)].append(Place(float(time), float(x), float(y)))
    return [announced[node] for node in sorted(announced)]


BONNMOTION = "0 10 20 2.5 10 20 5 10 30 20 40 30\n0 1.1 1 20.05 30.1 7\n0 5 5\n"
SETDEST = """\
$node_(0) set X_ 10
$node_(0) set Y_ 20
$node_(1) set X_ 5
$node_(1) set Y_ 5
$node_(2) set X_ 0.3
$node_(2) set Y_ 0.7
$ns_ at 1.5 "$node_(0) setdest 30.0 20.0 5"
$ns_ at 3.5 "$node_(0) setdest 20.0 40.0 5"
"""
WALK: Variables = {"nodes": 3, "side": 50, "mobility": "file", "movements": "walk", "time_limit": 12}


Row = tuple[float, int, str]
"""A move in a trace: time, node, place."""


def walk_template(folder: Path, movements: str) -> str:
    """A template whose nodes move by a file beside it; its path."""
    (folder / "walk").write_text(movements)
    (folder / "walk.ini.j2").write_text('{% include "field.ini.j2" %}')
    return str(folder / "walk.ini.j2")


def first_ways(variables: Variables, backend: BackendFactory, results: Path) -> dict[int, list[tuple[float, str]]]:
    """Time and place of each node's start, and of its next move: the end of its rest, or its first destination.

    Where it goes after a rest is drawn by the back-end, each by its own generator.
    """
    sweep = Sweep("test", find_template("field"), (AgentChoice("beacon", "beacon"),), fixed=variables)
    (plan,) = plan_runs(sweep, results)
    execute(plan, backend)
    found: dict[int, list[tuple[float, str]]] = defaultdict(list)
    for row in pq.read_table(plan.folder / TRACE_FILE).to_pylist():
        if row["event"] == "move" and len(found[row["node"]]) < 2:
            found[row["node"]].append((row["time_s"], row["detail"]))
    return found


def walked(template: str, backend: BackendFactory, results: Path) -> list[Row]:
    """The moves of a whole run, by its trace."""
    (plan,) = plan_runs(
        Sweep("test", Template(Path(template)), (AgentChoice("beacon", "beacon"),), fixed=WALK), results
    )
    execute(plan, backend)
    rows = pq.read_table(plan.folder / TRACE_FILE).to_pylist()
    assert sum(row["event"] == "send" for row in rows) > 20
    return [(row["time_s"], row["node"], row["detail"]) for row in rows if row["event"] == "move"]


class TestMovementFile:
    @pytest.mark.usefixtures("castalia")
    @pytest.mark.parametrize("movements", [BONNMOTION, SETDEST], ids=["BonnMotion", "setdest"])
    def test_nodes_go_as_on_the_embedded_radio(self, tmp_path: Path, movements: str) -> None:
        """All moves in the traces of whole runs are the same, turns and rests among them."""
        template = walk_template(tmp_path, movements)
        moves = walked(template, CastaliaFactory(), tmp_path / "castalia")
        assert moves == walked(template, RadioFactory(), tmp_path / "radio")
        assert len(moves) > 5

    def test_the_channel_is_told_every_update_interval_where_the_node_is(
        self, castalia: Program, tmp_path: Path
    ) -> None:
        """A node that has come to rest for good need not be told of again."""
        trace = ["SN.node[*].MobilityManager.collectTraceInfo = true"]
        folder = write_run(tmp_path / "run", WALK, more=trace, template=walk_template(tmp_path, BONNMOTION))
        ways = ways_of(read_scenario(folder / INI_FILE))
        with ScriptedHost(folder, castalia, ways) as host:
            host.send_at([])
        announced = announced_places(folder)
        assert [len(places) for places in announced] == [120, 120, 1]
        for way, places in zip(ways.values(), announced, strict=True):
            (times, xs, ys), (at, x, y) = np.array(way).T, np.array(places).T
            assert at == pytest.approx(np.arange(1, len(places) + 1) / 10)
            assert x == pytest.approx(np.interp(at, times, xs), abs=0.001)
            assert y == pytest.approx(np.interp(at, times, ys), abs=0.001)

    def test_without_a_host_it_says_what_to_do(self, castalia: Program, tmp_path: Path) -> None:
        """It is the host that reads movement files."""
        folder = write_run(tmp_path / "run", WALK, template=walk_template(tmp_path, SETDEST))
        assert "/.roambus/ways/0, a node's way; start `roambus run --endpoint local` first" in run_alone(
            folder, castalia, status=1
        )


class TestOtherMobility:
    def test_a_static_node_has_one_move(self, castalia: Program, tmp_path: Path) -> None:
        """At 0, where it stays."""
        grid: Variables = {"nodes": 4, "side": 10, "deployment": "2x2", "time_limit": 3}
        moves = moves_of(write_run(tmp_path, grid), castalia)
        assert moves == [[(0, 0, 0)], [(0, 10, 0)], [(0, 0, 10)], [(0, 10, 10)]]

    def test_a_node_on_a_line_goes_to_and_fro(self, castalia: Program, tmp_path: Path) -> None:
        """It has a move at each turn, and one at the end."""
        line: Variables = {"nodes": 3, "side": 10, "mobility": "line", "speed": 2, "time_limit": 30}
        for places in moves_of(write_run(tmp_path, line), castalia):
            assert (places[0].time_s, places[-1].time_s, places[2][1:]) == (0, 30, places[0][1:])
            assert all(distance(a, b) == pytest.approx(2 * (b.time_s - a.time_s)) for a, b in pairwise(places))


@pytest.mark.usefixtures("castalia")
@pytest.mark.parametrize("mobility", ["waypoint", "line", "static"])
def test_agents_believe_to_be_where_castalia_moves_them(
    tmp_path: Path, mobility: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At every event, with lookahead and without."""
    variables: Variables = {**WAYPOINT, "mobility": mobility, "time_limit": 20.0}
    looked: list[list[tuple[float, int, str]]] = []
    for lookahead in (True, False):
        sweep = Sweep("test", find_template("field"), (AgentChoice("located", LOCATED),), fixed=variables)
        (plan,) = plan_runs(sweep, tmp_path / str(lookahead))
        monkeypatch.setattr(backend, "CastaliaBackend", partial(CastaliaBackend, lookahead=lookahead))
        execute(plan, CastaliaFactory())
        rows = pq.read_table(plan.folder / TRACE_FILE).to_pylist()
        ways: dict[int, list[WayPoint]] = defaultdict(list)
        for row in rows:
            if row["event"] == "move":
                ways[row["node"]].append(WayPoint(row["time_s"], *map(float, row["detail"].split())))
        seen = [(row["time_s"], row["node"], row["detail"]) for row in rows if row["event"] == "look"]
        for time, node, detail in seen:
            believed = tuple(map(float, re.findall(r"-?[\d.e-]+", detail)[:2]))
            assert believed == pytest.approx(motion(ways[node], time)[0], abs=0.01)
        assert len(seen) == 20 * len(ways)
        looked.append(seen)
    assert looked[0] == looked[1]
