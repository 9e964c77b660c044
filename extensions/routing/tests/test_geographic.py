"""Geographic forwarding: planar graphs, the next hop, and positions on the air (Karp and Kung 2000)."""

from __future__ import annotations

from itertools import islice
from math import dist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roambus.extensions.routing.geocast import Geocast, Geocasted
from roambus.extensions.routing.geographic import (
    BEACON_TIMER,
    FARTHEST_M,
    Beacon,
    Edge,
    Perimeter,
    Point,
    point,
)
from roambus.extensions.routing.gpsr import Gpsr, GpsrPacket
from roambus.extensions.routing.planar import counterclockwise, crossing, planarize
from roambus.extensions.routing.tests.bench import ME, NEWS, Bench, dropped, sent
from roambus.extensions.routing.tests.walks import connected, walks
from roambus.python_protocol.events import Publish
from roambus.python_protocol.filters import Notification, NotificationId
from roambus.python_protocol.roles import BROADCAST
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


@given(neighborhoods)
def test_the_relative_neighbourhood_graph_is_in_the_gabriel_graph(near: Places) -> None:
    """And the nearest neighbour is in both."""
    few, more = planarize((0.0, 0.0), near, "rng"), planarize((0.0, 0.0), near, "gg")
    assert few.keys() <= more.keys() <= near.keys()
    nearest = min(dist((0, 0), place) for place in near.values())
    assert any(dist((0, 0), place) == nearest for place in few.values())


def test_a_witness_removes_an_edge() -> None:
    """In the circle over the edge it does so in both graphs; in the lune alone, in one."""
    assert set(planarize((0, 0), {1: (10, 0), 2: (5, 1)}, "gg")) == {2}
    assert set(planarize((0, 0), {1: (10, 0), 2: (5, 7)}, "rng")) == {2}
    assert set(planarize((0, 0), {1: (10, 0), 2: (5, 7)}, "gg")) == {1, 2}


def test_the_right_hand_rule_turns_counterclockwise_and_back_at_last() -> None:
    """From the direction of the edge that a packet came over."""
    near = {1: (10.0, 0.0), 2: (0.0, 10.0), 3: (-10.0, 0.0)}
    assert [counterclockwise((0, 0), near[name], near) for name in near] == [2, 3, 1]
    assert counterclockwise((0, 0), (10, 0), {1: (10.0, 0.0)}) == 1
    assert counterclockwise((0, 0), (10, 0), {}) is None


def test_two_lines_cross_in_a_point_or_not() -> None:
    """Parallel ones and those that end before do not."""
    assert crossing((0, 0), (10, 10), (0, 10), (10, 0)) == (5, 5)
    assert crossing((0, 0), (10, 0), (0, 1), (10, 1)) is None
    assert crossing((0, 0), (4, 4), (0, 10), (10, 0)) is None


@pytest.mark.parametrize("planarization", ["rng", "gg"])
def test_every_pair_of_a_connected_graph_is_joined_by_a_walk(planarization: str) -> None:
    """Places are real numbers, and messages round them; `benchmarks.gpsr_walks` walks over 2,000 graphs."""
    ends = [end for places in islice(connected(), 40) for end, _ in walks(places, planarization)]
    assert len(ends) > 1000
    assert {end for end in ends if isinstance(end, str)} == set()


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
    with pytest.raises(ValueError, match=r"is farther than the 21474836\.47 m that a message can carry"):
        point((0.0, FARTHEST_M + 1))


def test_a_geocast_needs_an_area() -> None:
    """Its attributes give it; inside it is flooded at once."""
    node = at(0, 0, {}, Geocast)
    assert dropped(node.handle(Publish(NEWS, ()))) == ["no area: it lacks x, y or radius"]
    inside = Notification(NotificationId(ME, 2), (("radius", 5), ("x", 3), ("y", 0)))
    ((to, packet),) = sent(node.handle(Publish(inside, ())), Geocasted)
    assert (to, packet.is_flooded, packet.radius) == (BROADCAST, True, 500)
    assert not node.hear(packet, 1)
