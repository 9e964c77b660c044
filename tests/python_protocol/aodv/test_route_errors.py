"""Route errors (RFC 3561, section 6.11)."""

import pytest

from roambus.python_protocol.actions import Send
from roambus.python_protocol.aodv.messages import MAX_UNREACHABLE, RouteError, Unreachable
from roambus.python_protocol.aodv.routing_table import RouteState
from roambus.python_protocol.events import Received
from roambus.python_protocol.roles import BROADCAST
from roambus.python_protocol.simtime import SECOND
from tests.python_protocol.aodv.bench import Bench, drops, hello, packet, rrep, rreq, sends, sent


def between(*askers: int, destinations: tuple[int, ...] = (9,)) -> Bench:
    """A node with routes over neighbour 7, for which these neighbours have asked."""
    bench = Bench()
    bench.receive(7, hello(7, 70))
    for destination in destinations:
        for asker in askers:
            bench.receive(asker, rreq(destination, 0, originator=asker, hop_count=0, rreq_id=destination))
        for asker in askers:
            bench.receive(7, rrep(destination, 90, originator=asker))
    return bench


def lose_neighbour(bench: Bench) -> list[Send]:
    """Neighbour 7 falls silent."""
    return sends(bench.sweep(2 * SECOND))


def test_a_lost_link_is_reported_to_the_only_precursor_by_unicast() -> None:
    """Case i: with the next sequence number of what was lost, the neighbour itself included."""
    bench = between(3)
    error = RouteError((Unreachable(7, 71), Unreachable(9, 91)))
    assert lose_neighbour(bench) == [Send(3, error)]
    assert (bench.route(9).state, bench.route(9).lifetime) == (RouteState.INVALID, 2 * SECOND + 15 * SECOND)


def test_a_lost_link_is_broadcast_to_several_precursors() -> None:
    """Case i: one broadcast instead of many unicasts."""
    (send,) = lose_neighbour(between(3, 4))
    assert send.destination == BROADCAST


def test_a_lost_link_that_nobody_used_is_not_reported() -> None:
    """Only destinations with precursors are in a RERR."""
    bench = Bench()
    bench.receive(7, hello(7))
    bench.receive(7, rrep(9, 90))
    assert lose_neighbour(bench) == []
    assert not bench.is_active(9)


def test_many_lost_destinations_take_several_errors() -> None:
    """No RERR is longer than a real radio's frame."""
    destinations = tuple(range(20, 20 + MAX_UNREACHABLE))
    errors = sent(lose_neighbour(between(3, destinations=destinations)), RouteError)
    assert [len(error.unreachable) for error in errors] == [MAX_UNREACHABLE, 1]


def test_data_without_a_route_is_refused_to_who_sent_it() -> None:
    """Case ii: one destination, reported back; the packet is dropped."""
    bench = Bench()
    assert bench.receive(3, packet(destination=9)) == [Send(3, RouteError((Unreachable(9, 0),)))]


def test_data_over_a_lost_route_is_refused_with_the_next_number() -> None:
    """Case ii: the number that is known counts up again."""
    bench = between(3)
    lose_neighbour(bench)
    (error,) = sent(bench.receive(3, packet(destination=9)), RouteError)
    assert error.unreachable == (Unreachable(9, 92),)


def test_an_error_from_the_next_hop_is_passed_to_the_precursors() -> None:
    """Case iii: with the number that it reported."""
    bench = between(3)
    passed = bench.receive(7, RouteError((Unreachable(9, 95), Unreachable(33, 1))))
    assert passed == [Send(3, RouteError((Unreachable(9, 95),)))]
    assert not bench.is_active(9)
    assert bench.route(9).sequence == 95


def test_an_error_from_another_neighbour_concerns_nobody() -> None:
    """Case iii: only routes whose next hop sent it."""
    bench = between(3)
    assert bench.receive(4, RouteError((Unreachable(9, 95),))) == []
    assert bench.is_active(9)


def test_an_error_is_passed_on_once() -> None:
    """Who was told is no precursor any more."""
    bench = between(3)
    error = RouteError((Unreachable(9, 95),))
    bench.receive(7, error)
    bench.receive(8, rrep(9, 96))
    assert bench.receive(8, RouteError((Unreachable(9, 97),))) == []


@pytest.mark.parametrize("reported", [90, 3])
def test_an_error_with_an_old_number_still_makes_the_lost_route_older(reported: int) -> None:
    """Else a node that still believes in the lost route could offer it back, and close a loop."""
    bench = between(3)
    bench.receive(7, RouteError((Unreachable(9, reported),)))
    assert bench.route(9).sequence == 91
    bench.receive(3, rrep(9, 90, hop_count=0))
    assert not bench.is_active(9)


def test_an_error_with_the_n_flag_leaves_the_route_and_is_passed_on() -> None:
    """Section 6.12: the link was repaired, the precursors may look for a better way."""
    bench, error = between(3), RouteError((Unreachable(9, 95),), no_delete=True)
    (passed,) = sent(bench.receive(7, error), RouteError)
    assert passed.no_delete
    assert bench.is_active(9)


def test_errors_are_limited_to_a_number_a_second() -> None:
    """RERR_RATELIMIT: further ones in that second are not sent, and the next second has room again."""
    bench = Bench(rerr_ratelimit=3)
    errors = [len(bench.receive(3, packet(number=number))) for number in range(5)]
    assert errors == [1, 1, 1, 0, 0]
    assert len(bench.receive(3, packet(number=9), SECOND)) == 1


def test_a_packet_refused_is_noted_as_dropped() -> None:
    """The trace names notification, destination and reason."""
    bench = Bench()
    actions = bench.handle(Received(3, packet(destination=9), -70.0, 20.0))
    assert drops(actions) == ["no route"]


def test_data_over_an_expired_route_is_refused_to_all_who_may_send_it_once() -> None:
    """Case ii: the precursors hear of it with the sender; then only who sends again."""
    bench = between(3, 4)
    found = [bench.receive(3, packet(destination=9, number=number), 7 * SECOND) for number in (1, 2)]
    assert [send.destination for sends in found for send in sends] == [BROADCAST, 3]


def test_data_is_refused_though_this_node_searches_the_destination_for_itself() -> None:
    """Case ii: only what is being repaired waits."""
    bench = Bench()
    bench.publish(9)
    assert len(sent(bench.receive(3, packet(destination=9)), RouteError)) == 1
