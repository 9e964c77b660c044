"""Geographic forwarding: planar graphs, the next hop, and positions on the air (Karp and Kung 2000)."""

from __future__ import annotations

from math import dist

import pytest
from hypothesis import strategies as st

from roambus.extensions.routing.geocast import Geocast
from roambus.extensions.routing.geographic import (
    BEACON_TIMER,
    FARTHEST_M,
    UNKNOWN,
    Beacon,
    Edge,
    Perimeter,
    Point,
    point,
)
from roambus.extensions.routing.gpsr import Gpsr, GpsrPacket
from roambus.extensions.routing.tests.bench import ME, NEWS, Bench, dropped, sent
from roambus.python_protocol.events import Started
from roambus.python_protocol.messages.fields import Names
from roambus.python_protocol.simtime import SECOND

FAR = 9
Places = dict[int, tuple[float, float]]
coordinates = st.integers(-50, 50).map(float)
neighborhoods = st.dictionaries(st.integers(1, 12), st.tuples(coordinates, coordinates), min_size=1)


def at(x: float, y: float, near: Places, agent: type[Gpsr | Geocast] = Gpsr, **parameters: object) -> Bench:
    """A node at a place that has heard its neighbours' beacons."""
    node = Bench(agent, **parameters)
    node.agent.position = (x, y)
    for name, (px, py) in near.items():
        node.hear(Beacon(Point(round(100 * px), round(100 * py))), name)
    return node


def routed(d: tuple[float, float], perimeter: Perimeter | None = None, age: int = 0) -> GpsrPacket:
    """A packet for FAR at a place."""
    return GpsrPacket(0, 35, 5, FAR, NEWS, Point(0, 0), point(d), perimeter, age)


def test_the_nearest_neighbour_to_the_destination_is_next() -> None:
    """If it is nearer than the node itself; the destination is, whatever its position."""
    node = at(0, 0, {1: (10, 0), 2: (20, 5), 3: (-9, 0)})
    ((to, packet),) = sent(node.hear(routed((50, 0)), 3), GpsrPacket)
    assert (to, packet.position, packet.perimeter) == (2, Point(0, 0), None)
    node.hear(Beacon(Point(-500, 0)), FAR)
    assert sent(node.hear(routed((50, 0)), 3), GpsrPacket)[0][0] == FAR


def test_a_void_is_entered_to_the_right_and_left_where_it_is_nearer() -> None:
    """Table 1: the header says where perimeter mode began, and the first edge of the face."""
    near = {1: (-10.0, 10.0), 2: (-10.0, -10.0)}
    node = at(0, 0, near)
    ((to, packet),) = sent(node.hear(routed((50, 0)), 2), GpsrPacket)
    assert to == 1
    assert packet.perimeter == Perimeter(Point(0, 0), Point(0, 0), Edge(ME, 1))
    beyond = at(20, 0, {1: (10, 0), 2: (30, 0)})
    ((to, packet),) = sent(beyond.hear(packet, 1), GpsrPacket)
    assert (to, packet.perimeter) == (2, None)


def test_a_packet_that_returns_to_the_first_edge_is_unreachable() -> None:
    """Section 2.3."""
    node = at(0, 0, {1: (-10, 10), 2: (-10, -10)})
    mode = Perimeter(Point(0, 0), Point(0, 0), Edge(ME, 1))
    assert dropped(node.hear(routed((50, 0), mode), 2)) == ["unreachable"]


def test_beacons_come_irregularly_and_silence_loses_a_neighbour() -> None:
    """Section 2.4: half to one and a half intervals, and 4.5 of them."""
    node = at(1, 2, {1: (10, 0)}, beacon_interval=SECOND)
    node.fire(BEACON_TIMER)
    pauses = []
    for _ in range(40):
        since = node.now
        ((_, beacon),) = sent(node.fire(BEACON_TIMER), Beacon)
        assert beacon.position == Point(100, 200)
        pauses.append(node.now - since)
    assert SECOND // 2 <= min(pauses) < SECOND < max(pauses) <= 3 * SECOND // 2
    assert node.agent.near(0) == {}


def test_a_node_without_a_position_says_nothing_of_it() -> None:
    """It neither beacons nor forwards, but it delivers to a neighbour."""
    node = at(0, 0, {1: (10, 0), FAR: (20, 0)})
    node.agent.position = None
    assert not sent(node.fire(BEACON_TIMER), Beacon)
    assert sent(node.hear(routed((50, 0)), 1), GpsrPacket)[0][0] == FAR
    del node.agent.neighbors[FAR]
    assert dropped(node.hear(routed((50, 0)), 1)) == ["no position"]


@pytest.mark.parametrize("place", [(448251.6, 5411932.5), (-3400.0, 3400.0), (FARTHEST_M, -FARTHEST_M)])
def test_a_message_carries_every_place_to_a_centimetre(place: tuple[float, float]) -> None:
    """Those of maps, such as UTM's, lie far from (0, 0); what lies farther is refused and not moved."""
    heard = Gpsr.messages.decode(Beacon(point(place)).encode())
    assert isinstance(heard, Beacon)
    assert dist(heard.position.place, place) <= 0.01
    with pytest.raises(
        ValueError, match=r"^\(0\.0, 21474837\.47\) is farther than the 21474836\.47 m that a message can carry"
    ):
        point((0.0, FARTHEST_M + 1))


FACE = {1: (10.0, -12.0), 3: (-20.0, 5.0)}
"""From (-5, 10) the edge to node 1 crosses the line from (0, 0) to (100, 0) at 1.818 m, that to node 3 does not."""


@pytest.mark.parametrize(("lf_m", "to"), [(0.0, 3), (1.79, 3), (1.80, 1), (50.0, 1)])
def test_a_face_changes_where_the_way_crosses_the_line_nearer_to_the_destination(lf_m: float, to: int) -> None:
    """By more than 2 cm; then the next edge is the first of the new face (section 2.3)."""
    node = at(-5, 10, FACE)
    lp, lf, e0 = Point(0, 0), point((lf_m, 0.0)), Edge(7, 8)
    message = routed((100, 0), Perimeter(lp, lf, e0)).replaced(position=point(FACE[3]))
    ((next_hop, packet),) = sent(node.hear(message, 3), GpsrPacket)
    changed = Perimeter(lp, Point(182, 0), Edge(ME, 3))
    assert (next_hop, packet.perimeter) == (to, changed if to == 3 else Perimeter(lp, lf, e0))


def test_a_packet_from_nowhere_goes_round_from_the_line_to_its_destination() -> None:
    """As at a local maximum: its sender is no neighbour any more."""
    node = at(-5, 10, FACE)
    mode = Perimeter(Point(0, 0), Point(5000, 0), Edge(7, 8))
    node.agent.route(routed((100, 0), mode), None, 0)
    assert sent(node.agent.take(), GpsrPacket)[0][0] == 3
    node.agent.route(routed((100, 0), mode), 7, 0)
    assert sent(node.agent.take(), GpsrPacket)[0][0] == 3


def test_greedy_mode_needs_a_place_that_is_nearer() -> None:
    """Neither a neighbour as far as the node itself is next, nor does a packet as far as Lp leave perimeter mode."""
    node = at(0, 0, {1: (0, 10), 2: (20, 20)})
    node.agent.route(routed((5, 5)), None, 0)
    ((_, packet),) = sent(node.agent.take(), GpsrPacket)
    assert packet.perimeter is not None
    back, lf, e0 = at(0, 0, {1: (20, 10), 2: (-10, 0)}), Point(5000, 5000), Edge(7, 8)
    for lp, to in ((Point(5000, 5000), 2), (Point(5001, 5000), 1)):
        back.agent.route(routed((25, 25), Perimeter(lp, lf, e0)), 1, 0)
        ((next_hop, packet),) = sent(back.agent.take(), GpsrPacket)
        assert (next_hop, packet.perimeter is None) == (to, to == 1)


def test_of_two_neighbours_as_near_the_first_name_is_next() -> None:
    """So that every run goes the same way."""
    node = at(0, 0, {2: (10, 5), 1: (10, -5)})
    node.agent.route(routed((50, 0)), None, 0)
    assert sent(node.agent.take(), GpsrPacket)[0][0] == 1


def test_a_local_maximum_ends_a_packet_without_perimeter_mode_or_neighbours() -> None:
    """With the reason."""
    assert dropped(at(0, 0, {1: (-10, 0)}, perimeter=False).hear(routed((50, 0)), 1)) == ["local maximum"]
    alone = at(0, 0, {})
    alone.agent.route(routed((50, 0)), None, 0)
    assert dropped(alone.agent.take()) == ["no neighbour"]
    alone.agent.route(routed((50, 0), Perimeter(Point(0, 0), Point(0, 0), Edge(7, 8))), None, 0)
    assert dropped(alone.agent.take()) == ["no neighbour"]


def test_a_neighbours_position_lasts_for_the_time_out() -> None:
    """4.5 intervals, to the nanosecond; a beacon begins it anew."""
    node = at(0, 0, {1: (10, 0)}, beacon_interval=SECOND)
    last = 4 * SECOND + SECOND // 2
    assert set(node.agent.near(last - 1)) == {1}
    assert node.agent.near(last) == {}
    node.hear(Beacon(Point(1200, 0)), 1, 2 * SECOND)
    assert node.agent.near(last + SECOND) == {1: (12.0, 0.0)}
    node.timers[BEACON_TIMER] = last + 2 * SECOND
    node.fire(BEACON_TIMER)
    assert node.agent.neighbors == {}


def test_beacons_begin_at_random_and_come_half_to_one_and_a_half_intervals_apart() -> None:
    """Also after a freeze."""
    firsts, pauses = set(), []
    for _ in range(40):
        node = at(0, 0, {}, beacon_interval=2)
        for _ in range(9):
            node.handle(Started(), 0)
            firsts.add(node.timers[BEACON_TIMER])
    assert firsts == {0, 1, 2}
    node = at(0, 0, {}, beacon_interval=2)
    assert {node.fire(BEACON_TIMER) and node.timers[BEACON_TIMER] - node.now for _ in range(60)} == {1, 2, 3}
    node = at(0, 0, {}, beacon_interval=2 * SECOND)
    for _ in range(200):
        node.fire(BEACON_TIMER)
        pauses.append(node.timers[BEACON_TIMER] - node.now)
    assert SECOND <= min(pauses) < 1.1 * SECOND
    assert 2.9 * SECOND < max(pauses) <= 3 * SECOND


def test_a_lost_link_sends_its_packets_another_way_in_greedy_mode() -> None:
    """The neighbour is none any more; messages without a place end."""
    node = at(0, 0, {1: (10, 0), 2: (9, 0)})
    mode = Perimeter(Point(0, 0), Point(0, 0), Edge(ME, 1))
    node.agent.lose_link(1, (routed((50, 0), mode), Beacon(Point(0, 0))), 0)
    ((to, packet),) = sent(node.agent.take(), GpsrPacket)
    assert (to, packet.perimeter) == (2, None)
    assert set(node.agent.neighbors) == {2}


def test_the_agents_ask_for_positions() -> None:
    """And say how far their messages reach."""
    for agent in (Gpsr, Geocast):
        assert (agent.needs_position, agent.farthest_m) == (True, FARTHEST_M)


def test_a_crossing_as_near_as_two_centimetres_changes_the_face() -> None:
    """The way crosses the line at 1 m; 1.01 m and 0.99 m are no other points, 0.98 m is."""
    for lf_cm, to in ((99, 1), (98, 3)):
        node = at(-4, 10, {1: (6.0, -10.0), 3: (-20.0, 5.0)})
        node.agent.route(routed((100, 0), Perimeter(Point(0, 0), Point(lf_cm, 0), Edge(7, 8))), 3, 0)
        assert sent(node.agent.take(), GpsrPacket)[0][0] == to


def test_no_place_has_the_position_that_stands_for_none() -> None:
    """It fits a message all the same."""
    assert Point(-2147483648, -2147483648) == UNKNOWN
    assert Gpsr.messages.decode(Beacon(UNKNOWN).encode()) == Beacon(UNKNOWN)
    assert min(point((-FARTHEST_M, -FARTHEST_M))) > min(UNKNOWN)


def test_the_neighbours_are_shown_with_all_digits() -> None:
    """In metres."""
    node = at(0, 0, {1: (448251.25, 10.0)})
    assert list(node.agent._rows(Names())) == [("n1", "448251.25", "10")]
