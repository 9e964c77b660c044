"""Way-points and the cells that nodes are seen in."""

import math
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from roambus.bridge.backend import Move
from roambus.bridge.backends.radio.channel import Cells, cell_changes
from roambus.bridge.mobility.line import Line
from roambus.bridge.mobility.model import Mobility, WayPoint
from roambus.bridge.mobility.paths import Path, moves_until, path, positions
from roambus.bridge.mobility.random_waypoint import RandomWaypoint
from roambus.bridge.mobility.static import Static
from roambus.bridge.scenario.radio import ChannelSettings
from roambus.python_protocol.simtime import SECOND

FIELD = (45.0, 30.0)


def waypoints(mobility: Mobility, seed: int = 1, seconds: int = 100) -> Path:
    """The path from (1, 2)."""
    return path(mobility, (1.0, 2.0), FIELD, seconds * SECOND, np.random.SeedSequence(seed))


@given(st.integers(min_value=0, max_value=2**32), st.floats(min_value=0.1, max_value=20))
def test_random_waypoints_stay_in_the_field_at_their_speed(seed: int, speed: float) -> None:
    """Every way-point is in the field; every leg takes its length over the speed."""
    points = waypoints(RandomWaypoint(speed), seed)
    for before, after in pairwise(points):
        assert 0 <= after.x <= FIELD[0]
        assert 0 <= after.y <= FIELD[1]
        length = math.hypot(after.x - before.x, after.y - before.y)
        assert math.isclose(length, speed * (after.time_s - before.time_s), abs_tol=1e-9)
    assert points[-1].time_s >= 100


def test_a_pause_is_spent_at_the_waypoint() -> None:
    """Two rows with one place, the pause apart."""
    points = waypoints(RandomWaypoint(5, pause=3 * SECOND))
    assert points[1][1:] == points[2][1:]
    assert math.isclose(points[2].time_s - points[1].time_s, 3)


def test_a_line_is_gone_to_and_fro() -> None:
    """From (1, 2) to (9, 8), 10 m at 4 m/s: 2.5 s a leg; at 3 s it is 2 m back from the end."""
    points = waypoints(Line(9, 8, 4), seconds=10)
    assert [(point.time_s, point.x, point.y) for point in points] == [
        (0, 1, 2),
        (2.5, 9, 8),
        (5, 1, 2),
        (7.5, 9, 8),
        (10, 1, 2),
    ]
    assert positions(points, np.array([3.0])).round(9).tolist() == [[7.4, 6.8]]


def test_what_has_no_speed_stays() -> None:
    """Static nodes, and moving ones at speed 0."""
    for mobility in (Static(), RandomWaypoint(0), Line(9, 8, 0), Line(1, 2, 3)):
        assert len(waypoints(mobility)) == 1


def test_cells_change_at_updates_only() -> None:
    """At 4 m/s along x a node crosses x = 5 m at 1 s, and is seen in the next cell at the first update from then on."""
    mobility = Line(41, 2, 4, update_interval=300_000_000)
    cells = Cells(FIELD, ChannelSettings())
    changes = cell_changes([mobility], [waypoints(mobility, seconds=3)], cells, 3 * SECOND)
    assert changes.tolist() == [(1_200_000_000, 0, 1), (2_400_000_000, 0, 2)]


def test_moves_end_where_the_node_is_at_the_end() -> None:
    """Way-points before the end, then the place at the end; a static node has its place alone."""
    line = waypoints(Line(9, 8, 4), seconds=10)
    assert moves_until({0: line, 1: waypoints(Static())}, 3 * SECOND) == [
        Move(0, 0, 1, 2),
        Move(0, 1, 1, 2),
        Move(2_500_000_000, 0, 9, 8),
        Move(3 * SECOND, 0, 7.4, 6.8),
    ]


def test_both_places_of_a_jump_are_told_in_their_order() -> None:
    """The last one is where the node is from then on."""
    points: Path = [WayPoint(0, 9, 9), WayPoint(1, 9, 9), WayPoint(1, 2, 2), WayPoint(2, 2, 2), WayPoint(2, 7, 1)]
    moves = [Move(0, 0, 9, 9), Move(SECOND, 0, 9, 9), Move(SECOND, 0, 2, 2)]
    assert moves_until({0: points}, 5 * SECOND) == [*moves, Move(2 * SECOND, 0, 2, 2), Move(2 * SECOND, 0, 7, 1)]


def test_a_node_wanders_within_its_area() -> None:
    """Each of its destinations lies there."""
    points = waypoints(RandomWaypoint(5, area_x=30, area_y=10, area_width=5, area_height=20), seconds=300)
    assert len(points) > 20
    assert all(30 <= point.x <= 35 and 10 <= point.y <= 30 for point in points[1:])
