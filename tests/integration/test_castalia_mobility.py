"""How nodes move in real Castalia, and what of it reaches the host."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from bridge.backends.castalia.installation import Program
from tests.integration.castalia_runs import CASTALIAS_TRACE, ScriptedHost, Variables, run_alone, seconds, write_run

pytestmark = pytest.mark.castalia

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

    def test_the_channel_is_told_every_update_interval_where_the_node_is(
        self, castalia: Program, tmp_path: Path
    ) -> None:
        """It is on the straight line between two moves, also after a turn between two updates."""
        trace = ["SN.node[*].MobilityManager.collectTraceInfo = true"]
        folder = write_run(tmp_path, WAYPOINT, {"updateInterval = 100": "updateInterval = 700"}, trace)
        for places, told in zip(moves_of(folder, castalia), told_of(folder), strict=True):
            times, xs, ys = np.array(places).T
            at, x, y = np.array(told).T
            assert at == pytest.approx(np.arange(0.7, TIME_LIMIT, 0.7))
            assert x == pytest.approx(np.interp(at, times, xs), abs=0.01)
            assert y == pytest.approx(np.interp(at, times, ys), abs=0.01)

    def test_it_needs_no_bridge(self, castalia: Program, tmp_path: Path) -> None:
        """Castalia's own applications can move by it."""
        own = {'ApplicationName = "BridgeApplication"': 'ApplicationName = "ThroughputTest"'}
        folder = write_run(tmp_path, WAYPOINT, own, ["SN.node[*].Application.packet_rate = 5"])
        assert "TX pkts" in run_alone(folder, castalia)


def told_of(folder: Path) -> list[list[Place]]:
    """What each node's mobility manager told the channel, as it says in Castalia's trace."""
    line = re.compile(r"^([\d.]+) +SN\.node\[(\d+)\]\.MobilityManager +moved to ([\d.e-]+):([\d.e-]+)", re.MULTILINE)
    told: dict[int, list[Place]] = defaultdict(list)
    for time, node, x, y in line.findall((folder / CASTALIAS_TRACE).read_text()):
        told[int(node)].append(Place(float(time), float(x), float(y)))
    return [told[node] for node in sorted(told)]


class TestOtherMobility:
    def test_a_static_node_has_one_move(self, castalia: Program, tmp_path: Path) -> None:
        """At 0, where it stays."""
        grid: Variables = {"nodes": 4, "side": 10, "deployment": "2x2", "time_limit": 3}
        moves = moves_of(write_run(tmp_path, grid), castalia)
        assert moves == [[(0, 0, 0)], [(0, 10, 0)], [(0, 0, 10)], [(0, 10, 10)]]

    def test_a_node_on_a_line_is_looked_up_once_a_second(self, castalia: Program, tmp_path: Path) -> None:
        """Castalia's own manager tells nobody of its turns; between them the speed comes out."""
        line: Variables = {"nodes": 3, "side": 100, "mobility": "line", "speed": 2, "time_limit": 5}
        for places in moves_of(write_run(tmp_path, line), castalia):
            assert [place.time_s for place in places] == [0, 1, 2, 3, 4, 5]
            assert distance(places[0], places[1]) == pytest.approx(2, abs=0.01)
