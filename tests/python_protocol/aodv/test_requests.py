"""Route requests that arrive (RFC 3561, sections 6.5 and 6.6)."""

from dataclasses import replace

import pytest

from roambus.python_protocol.actions import Send
from roambus.python_protocol.aodv.messages import RouteReply, RouteRequest
from roambus.python_protocol.roles import BROADCAST
from roambus.python_protocol.simtime import MILLISECOND, SECOND
from tests.python_protocol.aodv.bench import ME, Bench, hello, rrep, rreq, sent


def knowing(sequence: int = 90, **parameters: object) -> Bench:
    """A node with a route to 9 over neighbour 7, two hops long."""
    bench = Bench(**parameters)
    bench.receive(7, rrep(9, sequence, hop_count=1))
    return bench


def test_a_request_makes_a_route_to_the_neighbour_it_came_from() -> None:
    """Section 6.5: one hop, without a valid sequence number."""
    bench = Bench()
    bench.receive(3, rreq())
    route = bench.route(3)
    assert (route.next_hop, route.hop_count, route.sequence_valid) == (3, 1, False)


def test_a_request_makes_the_way_back_to_its_originator() -> None:
    """Section 6.5: over the neighbour, with its sequence number and one hop more."""
    bench = Bench()
    bench.receive(3, rreq(originator=5, originator_sequence=50, hop_count=2))
    route = bench.route(5)
    assert (route.next_hop, route.hop_count, route.sequence, route.sequence_valid) == (3, 3, 50, True)


def test_the_way_back_lives_as_long_as_an_answer_can_take() -> None:
    """Section 6.5: now + 2 NET_TRAVERSAL_TIME - 2 hops * NODE_TRAVERSAL_TIME."""
    bench = Bench()
    bench.receive(3, rreq(hop_count=2), SECOND)
    assert bench.route(5).lifetime == SECOND + (2 * 2800 - 2 * 3 * 40) * MILLISECOND


def test_a_request_does_not_shorten_the_life_of_the_way_back() -> None:
    """Section 6.5: the maximum of the existing lifetime and the minimal one."""
    bench = Bench()
    bench.receive(3, rrep(5, 49, hop_count=2, lifetime_ms=20_000))
    bench.receive(3, rreq(originator=5, originator_sequence=50))
    assert bench.route(5).lifetime == 20 * SECOND


def test_an_older_request_does_not_replace_the_way_back() -> None:
    """Section 6.2: its originator's sequence number is compared with the table's."""
    bench = Bench()
    bench.receive(3, rreq(originator_sequence=50, rreq_id=2))
    bench.receive(4, rreq(originator_sequence=49, rreq_id=1, hop_count=0))
    assert bench.route(5).next_hop == 3


def test_further_copies_are_dropped_for_path_discovery_time() -> None:
    """Section 6.5: the same originator and RREQ ID, until the buffer forgets them."""
    bench = Bench()
    assert len(bench.receive(3, rreq())) == 1
    assert bench.receive(4, rreq(hop_count=0)) == []
    assert bench.receive(3, rreq(), 5600 * MILLISECOND - 1) == []
    assert len(bench.receive(3, rreq(), 5600 * MILLISECOND)) == 1


def test_a_dropped_copy_still_shows_the_neighbour() -> None:
    """Section 6.5: the route to the previous hop comes before the check for copies."""
    bench = Bench()
    bench.receive(3, rreq())
    bench.receive(4, rreq())
    assert bench.is_active(4)


def test_a_request_for_another_node_is_passed_on_with_one_hop_more() -> None:
    """Section 6.5: TTL down, hop count up, everything else as it came."""
    request = rreq(9, 90, hop_count=2, ttl=10)
    (send,) = Bench().receive(3, request)
    assert send == Send(BROADCAST, replace(request, hop_count=3, ttl=9))


def test_a_request_is_passed_on_after_a_jitter() -> None:
    """RFC 5148: all receivers of a broadcast hear it at the same instant."""
    bench = Bench(broadcast_jitter=10 * MILLISECOND)
    (send,) = bench.receive(3, rreq())
    assert 0 < send.after <= 10 * MILLISECOND


def test_a_request_at_the_end_of_its_ttl_is_not_passed_on() -> None:
    """Section 6.5: only if the incoming TTL is larger than 1."""
    assert Bench().receive(3, rreq(ttl=1)) == []


def test_a_request_passed_on_carries_the_newest_number_that_either_knows() -> None:
    """Section 6.5: the maximum of the request's and the table's, which itself stays."""
    bench = knowing(90)
    (request,) = sent(bench.receive(3, rreq(9, 95)), RouteRequest)
    assert request.destination_sequence == 95
    assert bench.route(9).sequence == 90
    (request,) = sent(bench.receive(3, rreq(9, 80, rreq_id=2, destination_only=True)), RouteRequest)
    assert request.destination_sequence == 90


def test_a_number_known_on_the_way_makes_the_request_known() -> None:
    """Section 6.5: an unknown number is older than any known one."""
    (request,) = sent(knowing(90).receive(3, rreq(9, 0, unknown_sequence=True, destination_only=True)), RouteRequest)
    assert (request.destination_sequence, request.unknown_sequence) == (90, False)


def test_ones_own_request_coming_back_is_ignored() -> None:
    """Section 6.3: its RREQ ID is buffered; after a reboot the originator still tells."""
    bench = Bench()
    assert bench.receive(3, rreq(originator=ME)) == []
    assert bench.agent.table.get(ME) is None


def test_the_destination_answers_with_its_own_number_and_zero_hops() -> None:
    """Section 6.6.1: lifetime MY_ROUTE_TIMEOUT, to the next hop towards the originator; the request ends here."""
    (send,) = Bench().receive(3, rreq(ME, 0, unknown_sequence=True))
    assert send == Send(3, RouteReply(0, 35, ME, 0, 5, 6000))


def test_the_destination_takes_a_newer_number_from_the_request() -> None:
    """Section 6.1: the maximum of its own and the request's, just before it replies."""
    bench = Bench()
    (reply,) = sent(bench.receive(3, rreq(ME, 12)), RouteReply)
    assert reply.destination_sequence == 12
    (reply,) = sent(bench.receive(3, rreq(ME, 7, rreq_id=2)), RouteReply)
    assert reply.destination_sequence == 12


def test_a_node_with_a_new_enough_route_answers_for_the_destination() -> None:
    """Section 6.6.2: with its own number, hops and remaining lifetime; the request ends here."""
    bench = knowing(90)
    (send,) = bench.receive(3, rreq(9, 90), SECOND)
    assert send == Send(3, RouteReply(2, 35, 9, 90, 5, 5000))


def test_an_answer_for_the_destination_makes_precursors_on_both_ways() -> None:
    """Section 6.6.2: the neighbour asking on the route forward, the next hop on the way back."""
    bench = knowing(90)
    bench.receive(3, rreq(9, 90))
    assert bench.route(9).precursors == {3}
    assert bench.route(5).precursors == {7}


@pytest.mark.parametrize(
    "request_message",
    [rreq(9, 91), rreq(9, 90, destination_only=True)],
    ids=["route too old", "destination only"],
)
def test_a_route_that_is_too_old_or_not_asked_for_does_not_answer(request_message: RouteRequest) -> None:
    """Section 6.6, case ii: at least the number asked for, and no D flag."""
    sends = knowing(90).receive(3, request_message)
    assert sent(sends, RouteReply) == []
    assert len(sent(sends, RouteRequest)) == 1


def test_any_known_number_answers_a_request_that_knows_none() -> None:
    """Section 6.6: with the U flag there is nothing to compare."""
    assert len(sent(knowing(2**31 + 5).receive(3, rreq(9, 0, unknown_sequence=True)), RouteReply)) == 1


def test_a_route_without_a_valid_number_does_not_answer() -> None:
    """Section 6.6: a neighbour only heard is no answer."""
    bench = Bench()
    bench.receive(9, rrep(8, 80))
    assert sent(bench.receive(3, rreq(9, 0, unknown_sequence=True)), RouteReply) == []


def test_an_expired_route_does_not_answer() -> None:
    """Section 6.6: the route must be active."""
    bench = knowing(90)
    assert sent(bench.receive(3, rreq(9, 90), 6 * SECOND), RouteReply) == []


def test_a_neighbour_known_by_its_hello_is_answered_for() -> None:
    """Section 6.9: a hello is a RREP, its number counts."""
    bench = Bench()
    bench.receive(9, hello(9, 10))
    (reply,) = sent(bench.receive(3, rreq(9, 10)), RouteReply)
    assert (reply.hop_count, reply.destination_sequence) == (1, 10)


def test_a_gratuitous_reply_tells_the_destination_the_way_to_the_originator() -> None:
    """Section 6.6.3: as if the destination had asked for it."""
    bench = knowing(90)
    sends = bench.receive(3, rreq(9, 90, gratuitous=True, hop_count=2, originator_sequence=50))
    lifetime_ms = 2 * 2800 - 2 * 3 * 40
    assert Send(7, RouteReply(3, 35, 5, 50, 9, lifetime_ms)) in sends
    assert len(sent(sends, RouteReply)) == 2


def test_requests_of_a_blacklisted_neighbour_are_ignored() -> None:
    """Section 6.8: but another neighbour's copy of the same request is not."""
    bench = Bench(rrep_ack=True)
    bench.receive(3, rreq(ME, 0))
    (timer,) = bench.timers
    bench.fire(timer)
    assert bench.receive(3, rreq(rreq_id=2)) == []
    assert len(bench.receive(4, rreq(rreq_id=2))) == 1


def test_a_request_that_tells_nothing_new_still_prolongs_the_way_back() -> None:
    """Section 6.5: "whenever a RREQ message is received", at least until an answer can have come."""
    bench = Bench()
    bench.receive(4, rrep(5, 60, hop_count=0, lifetime_ms=2000))
    bench.receive(3, rreq(originator=5, originator_sequence=50, hop_count=2))
    assert bench.route(5).next_hop == 4
    assert bench.route(5).lifetime == (2 * 2800 - 2 * 3 * 40) * MILLISECOND


def test_who_asked_and_who_gets_the_answer_both_become_precursors() -> None:
    """Sections 6.6.2 and 6.7: the neighbour that sent the request, and the next hop towards the originator."""
    bench = knowing(90)
    bench.receive(4, rrep(5, 60, hop_count=0))
    (send,) = bench.receive(3, rreq(9, 90, originator=5, originator_sequence=50))
    assert send.destination == 4
    assert bench.route(9).precursors == {3, 4}


def test_a_hop_count_stops_at_the_largest_that_fits() -> None:
    """Section 5.1: it has eight bits."""
    (request,) = sent(Bench().receive(3, rreq(hop_count=255)), RouteRequest)
    assert request.hop_count == 255
