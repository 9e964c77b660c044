"""Geocast: the area of a notification, the way to it, and the flood inside."""

from __future__ import annotations

import pytest

from roambus.extensions.routing.geocast import Geocast, Geocasted
from roambus.extensions.routing.geographic import Point
from roambus.extensions.routing.tests.bench import ME, NEWS, Bench, delivered, dropped, sent
from roambus.extensions.routing.tests.test_geographic import at
from roambus.python_protocol.actions import Note
from roambus.python_protocol.events import Publish, Subscribe
from roambus.python_protocol.filters import Filter, Notification, NotificationId, Value
from roambus.python_protocol.roles import BROADCAST


def test_a_geocast_needs_an_area() -> None:
    """Its attributes give it; inside it is flooded at once."""
    node = at(0, 0, {}, Geocast)
    assert dropped(node.handle(Publish(NEWS, ()))) == ["no area: it lacks x, y or radius"]
    inside = Notification(NotificationId(ME, 2), (("radius", 5), ("x", 3), ("y", 0)))
    ((to, packet),) = sent(node.handle(Publish(inside, ())), Geocasted)
    assert (to, packet.is_flooded, packet.radius) == (BROADCAST, True, 500)
    assert not node.hear(packet, 1)


def area(x: Value, y: Value, radius: Value) -> Notification:
    """A notification for an area."""
    return Notification(NotificationId(5, 7), (("radius", radius), ("x", x), ("y", y)))


def cast(x: float, y: float, radius: float, *, ttl: int = 9, flooded: bool = False) -> Geocasted:
    """The same on its way, from a neighbour at (10, 0)."""
    d = Point(round(100 * x), round(100 * y))
    return Geocasted(2, ttl, 5, BROADCAST, area(x, y, radius), Point(1000, 0), d, None, flooded, round(100 * radius))


def listener(**parameters: object) -> Bench:
    """A subscriber at (0, 0), with neighbours at (10, 0) and (-10, 0)."""
    node = at(0, 0, {1: (10, 0), 2: (-10, 0)}, Geocast, **parameters)
    node.handle(Subscribe(Filter()))
    return node


@pytest.mark.parametrize(("radius", "inside"), [(4.99, False), (5, True)])
def test_the_border_of_an_area_belongs_to_it(radius: float, inside: bool) -> None:
    """To a centimetre, as the message says it."""
    assert bool(delivered(listener().hear(cast(3, 4, radius), 1))) is inside


def test_a_packet_goes_towards_its_area_and_floods_it_from_the_first_node_inside() -> None:
    """There every node repeats the first copy once, with its own position."""
    ((to, packet),) = sent(listener().hear(cast(-50, 0, 5), 1), Geocasted)
    assert (to, packet.hop_count, packet.ttl, packet.is_flooded, packet.position) == (2, 3, 8, False, Point(0, 0))
    node = listener()
    ((to, packet),) = sent(node.hear(cast(3, 0, 5), 1), Geocasted)
    assert (to, packet.hop_count, packet.ttl, packet.is_flooded, packet.position) == (
        BROADCAST,
        3,
        8,
        True,
        Point(0, 0),
    )
    assert not node.hear(cast(3, 0, 5), 2)
    assert not listener().hear(cast(-50, 0, 5, flooded=True), 1)


def test_the_ttl_ends_a_packet_outside_and_a_flood_inside() -> None:
    """The last node inside still delivers."""
    assert dropped(listener().hear(cast(-50, 0, 5, ttl=1), 1)) == ["TTL exceeded"]
    assert not dropped(listener().hear(cast(-50, 0, 5, ttl=2), 1))
    actions = listener().hear(cast(3, 0, 5, ttl=1), 1)
    assert delivered(actions)
    assert not sent(actions, Geocasted)
    assert sent(listener().hear(cast(3, 0, 5, ttl=2), 1), Geocasted)


def test_a_node_without_a_position_is_in_no_area() -> None:
    """It cannot forward either."""
    node = listener()
    node.agent.position = None
    assert dropped(node.hear(cast(0, 0, 5), 1)) == ["no position"]


def test_an_area_is_three_numbers_with_a_radius_that_a_message_carries() -> None:
    """Other areas are rows in the trace; the publication names the nodes that want it."""
    for wrong in (area("0", 0, 5), Notification(NotificationId(5, 7), (("radius", 5), ("x", 0)))):
        assert dropped(listener().handle(Publish(wrong, ()))) == ["no area: it lacks x, y or radius"]
    for radius in (-1.0, 21474837.0):
        assert dropped(listener().handle(Publish(area(0, 0, radius), ()))) == [
            "no area: a radius is from 0 to 21474836.47 m"
        ]
    for radius in (0.0, 21474836.47):
        actions = listener().handle(Publish(area(0, 0, radius), (3, 4)))
        assert [(note.name, note.detail) for note in actions if isinstance(note, Note)] == [("route", "3 4")]
        ((_, packet),) = sent(actions, Geocasted)
        assert (packet.hop_count, packet.ttl, packet.originator, packet.radius) == (0, 35, ME, round(100 * radius))


def test_a_packet_of_ones_own_starts_towards_its_area() -> None:
    """In greedy mode, from no other node."""
    actions = listener(net_diameter=7).handle(Publish(area(-50, 0.25, 5), ()))
    ((to, packet),) = sent(actions, Geocasted)
    assert (to, packet.ttl, packet.d, packet.perimeter, packet.is_flooded) == (2, 7, Point(-5000, 25), None, False)
    assert not Geocast.oracle_subscribers
