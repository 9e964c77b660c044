"""The routing table (RFC 3561, sections 2, 6.1, 6.2, 6.7 and 6.11)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roambus.python_protocol.aodv.routing_table import Route, RouteState, RoutingTable
from roambus.python_protocol.simtime import SECOND

DELETE_PERIOD, ACTIVE_ROUTE_TIMEOUT = 15 * SECOND, 3 * SECOND


def table(*routes: Route) -> RoutingTable:
    made = RoutingTable(DELETE_PERIOD, ACTIVE_ROUTE_TIMEOUT)
    for route in routes:
        assert made.update(route, 0)
    return made


def offer(sequence: int, hop_count: int, *, next_hop: int = 2, lifetime: int = 3 * SECOND) -> Route:
    return Route(9, next_hop, hop_count, sequence, True, lifetime)


def test_a_route_is_active_until_its_lifetime_ends() -> None:
    """Section 6.11: an expired route is invalid, and its sequence number one newer (6.1)."""
    routes = table(offer(5, 3))
    assert routes.active(9, 3 * SECOND - 1) is not None
    assert routes.active(9, 3 * SECOND) is None
    expired = routes.get(9)
    assert expired is not None
    assert (expired.state, expired.sequence) == (RouteState.INVALID, 6)


def test_ways_are_the_next_hops_of_active_routes() -> None:
    """Neither an expired route nor one whose link broke is a way; asking changes no route."""
    routes = table(offer(5, 3), Route(8, 4, 1, 5, True, 5 * SECOND))
    assert routes.ways(0) == {9: (2,), 8: (4,)}
    assert routes.ways(3 * SECOND) == {8: (4,)}
    routes.break_link(4, 0)
    assert routes.ways(0) == {9: (2,)}


@pytest.mark.parametrize(
    ("sequence", "hop_count", "taken"),
    [(6, 9, True), (4, 1, False), (5, 2, True), (5, 3, False), (5, 4, False)],
)
def test_newer_or_equally_new_and_shorter_routes_replace_an_active_one(
    sequence: int, hop_count: int, taken: bool
) -> None:
    """Sections 6.2 and 6.7: the sequence number decides, then the number of hops."""
    routes = table(offer(5, 3))
    assert routes.update(offer(sequence, hop_count, next_hop=4), 0) == taken
    route = routes.get(9)
    assert route is not None
    assert route.next_hop == (4 if taken else 2)


def test_sequence_numbers_roll_over() -> None:
    """Section 6.1: 0 comes after the largest number."""
    routes = table(offer(2**32 - 1, 3))
    assert routes.update(offer(0, 9, next_hop=4), 0)
    assert not routes.update(offer(2**32 - 1, 1, next_hop=5), 0)


def test_an_unknown_sequence_number_gives_way_to_any_known_one() -> None:
    """Section 6.7, case i: what was only heard knows no number."""
    routes = RoutingTable(DELETE_PERIOD, ACTIVE_ROUTE_TIMEOUT)
    routes.hear(9, 0, 3 * SECOND)
    assert routes.update(offer(1, 5), 0)


def test_an_equally_new_route_revives_an_invalid_one() -> None:
    """Section 6.7, case iii: the number of a lost route is already the next one."""
    routes = table(offer(5, 3))
    routes.break_link(2, SECOND)
    assert not routes.update(offer(5, 1, next_hop=4), SECOND)
    assert routes.update(offer(6, 7, next_hop=4), SECOND)
    assert routes.active(9, SECOND) is not None


def test_the_same_route_again_renews_its_lifetime_only() -> None:
    """An offer equal to the route in use counts as taken, and never shortens its life."""
    routes = table(offer(5, 3))
    assert routes.update(offer(5, 3, lifetime=8 * SECOND), 0)
    assert routes.update(offer(5, 3, lifetime=4 * SECOND), 0)
    route = routes.get(9)
    assert route is not None
    assert route.lifetime == 8 * SECOND


def test_a_frame_heard_makes_a_route_of_one_hop() -> None:
    """Section 6.2: without a valid sequence number, and new only the first time."""
    routes = RoutingTable(DELETE_PERIOD, ACTIVE_ROUTE_TIMEOUT)
    assert routes.hear(4, 0, 3 * SECOND)
    assert not routes.hear(4, SECOND, 4 * SECOND)
    route = routes.get(4)
    assert route is not None
    assert (route.next_hop, route.hop_count, route.sequence_valid, route.lifetime) == (4, 1, False, 4 * SECOND)


def test_a_neighbour_heard_replaces_a_longer_route_but_keeps_its_number() -> None:
    """Section 6.2: one hop to the destination itself cannot be part of a loop."""
    routes = table(offer(5, 3))
    assert routes.hear(9, 0, 2 * SECOND)
    route = routes.get(9)
    assert route is not None
    assert (route.next_hop, route.hop_count, route.sequence, route.sequence_valid) == (9, 1, 5, True)


def test_hearing_a_neighbour_never_shortens_the_life_of_its_route() -> None:
    """Section 6.9: the lifetime is increased if necessary."""
    routes = RoutingTable(DELETE_PERIOD, ACTIVE_ROUTE_TIMEOUT)
    routes.hear(4, 0, 5 * SECOND)
    routes.hear(4, SECOND, 3 * SECOND)
    assert routes.active(4, 4 * SECOND) is not None


def test_the_newest_number_that_a_neighbour_announced_is_kept() -> None:
    """Section 6.9: an older one does not replace it."""
    routes = RoutingTable(DELETE_PERIOD, ACTIVE_ROUTE_TIMEOUT)
    routes.hear(4, 0, SECOND)
    for announced, kept in ((7, 7), (6, 7), (8, 8)):
        routes.learn_sequence(4, announced)
        route = routes.get(4)
        assert route is not None
        assert (route.sequence, route.sequence_valid) == (kept, True)


def test_use_prolongs_an_active_route_and_never_revives_another() -> None:
    """Section 6.2: "no less than" the time given; an expired route stays so."""
    routes = table(offer(5, 3))
    routes.extend(9, 5 * SECOND, SECOND)
    routes.extend(9, 4 * SECOND, SECOND)
    assert routes.active(9, 5 * SECOND - 1) is not None
    routes.extend(9, 9 * SECOND, 5 * SECOND)
    assert routes.active(9, 6 * SECOND) is None


def test_a_broken_link_invalidates_exactly_the_routes_over_it() -> None:
    """Section 6.11, case i: their numbers count up, others stay."""
    routes = table(offer(5, 3), Route(8, 2, 2, 70, True, 3 * SECOND), Route(7, 4, 2, 30, True, 3 * SECOND))
    broken = routes.break_link(2, SECOND)
    assert [(route.destination, route.sequence) for route in broken] == [(8, 71), (9, 6)]
    assert routes.active(7, SECOND) is not None
    assert routes.break_link(2, SECOND) == []


@pytest.mark.parametrize(("reported", "expected"), [(8, 8), (5, 6), (3, 6)])
def test_an_error_sets_the_reported_number_if_it_is_newer(reported: int, expected: int) -> None:
    """Section 6.11, case iii; a number that is not newer must not make the lost route credible again."""
    routes = table(offer(5, 3))
    route = routes.get(9)
    assert route is not None
    routes.invalidate(route, SECOND, reported)
    assert (route.sequence, route.lifetime) == (expected, SECOND + DELETE_PERIOD)


def test_an_invalid_route_is_deleted_after_delete_period_and_not_before() -> None:
    """Section 6.11: until then its sequence number protects against loops."""
    routes = table(offer(5, 3))
    assert [route.destination for route in routes.sweep(3 * SECOND)] == [9]
    assert routes.sweep(3 * SECOND + DELETE_PERIOD - 1) == []
    assert routes.get(9) is not None
    routes.sweep(3 * SECOND + DELETE_PERIOD)
    assert routes.get(9) is None


def test_a_sweep_reports_what_a_look_up_found_expired() -> None:
    """A route that expired in a look-up is reported by the next sweep, unless it is valid again."""
    routes = table(offer(5, 3))
    assert routes.active(9, 4 * SECOND) is None
    assert [route.destination for route in routes.sweep(4 * SECOND)] == [9]
    routes.update(offer(7, 1, lifetime=6 * SECOND), 4 * SECOND)
    assert routes.active(9, 6 * SECOND) is None
    routes.update(offer(9, 1, lifetime=9 * SECOND), 6 * SECOND)
    assert routes.sweep(6 * SECOND) == []


def test_a_route_being_repaired_is_not_deleted() -> None:
    """Section 6.4: an entry that waits for a reply stays."""
    routes = table(offer(5, 3))
    route = routes.get(9)
    assert route is not None
    routes.invalidate(route, 0)
    route.state = RouteState.BEING_REPAIRED
    routes.sweep(100 * SECOND)
    assert routes.get(9) is route


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(1, 6), st.integers(2, 4), st.booleans())))
def test_a_destinations_number_and_distance_only_ever_get_better(
    steps: list[tuple[int, int, int, bool]],
) -> None:
    """Whatever is offered or lost, (number, -hops) of the active routes never decreases: the ground of loop freedom."""
    routes = RoutingTable(DELETE_PERIOD, ACTIVE_ROUTE_TIMEOUT)
    best = (-1, 0)
    for sequence, hop_count, next_hop, breaks in steps:
        routes.update(offer(sequence, hop_count, next_hop=next_hop, lifetime=SECOND), 0)
        if route := routes.active(9, 0):
            assert (route.sequence, -route.hop_count) >= best
            best = (route.sequence, -route.hop_count)
        if breaks:
            routes.break_link(next_hop, 0)


def test_a_neighbour_heard_when_its_route_expires_is_new_again() -> None:
    """Section 6.2: the route has ended at that instant."""
    routes = RoutingTable(DELETE_PERIOD, ACTIVE_ROUTE_TIMEOUT)
    routes.hear(4, 0, 3 * SECOND)
    assert routes.hear(4, 3 * SECOND, 5 * SECOND)
    assert routes.active(4, 4 * SECOND) is not None


def test_an_entry_that_waits_for_a_reply_is_never_kept_for_less_than_before() -> None:
    """Section 6.4 sets the least time, and DELETE_PERIOD may be longer."""
    routes = table(offer(5, 3))
    lost = routes.get(9)
    assert lost is not None
    routes.invalidate(lost, SECOND)
    for until, kept in ((2 * SECOND, SECOND + DELETE_PERIOD), (40 * SECOND, 40 * SECOND)):
        routes.keep(9, until)
        assert lost.lifetime == kept


def test_a_precursor_is_one_of_the_route_to_the_next_hop_too() -> None:
    """Section 6.7: it sends over that one as well."""
    routes = table(offer(5, 3))
    routes.hear(2, 0, 3 * SECOND)
    routes.add_precursor(9, 4)
    assert [route.precursors for route in routes] == [{4}, {4}]


def test_a_lost_route_is_remembered_for_delete_period_after_its_last_data() -> None:
    """The destination's data may prolong a way back over this node."""
    routes = table(offer(5, 3))
    routes.break_link(2, 0)
    routes.extend(9, 20 * SECOND, 10 * SECOND)
    route = routes.get(9)
    assert route is not None
    assert route.lifetime == 10 * SECOND + DELETE_PERIOD


def test_a_reported_number_of_a_route_without_one_is_known() -> None:
    """Section 6.11: the number of the RERR is the destination's."""
    routes = table()
    routes.hear(9, 0, 3 * SECOND)
    route = routes.get(9)
    assert route is not None
    routes.invalidate(route, 0, reported=7)
    assert (route.sequence, route.sequence_valid) == (7, True)
