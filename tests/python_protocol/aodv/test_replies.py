"""Route replies that arrive (RFC 3561, sections 6.7 and 6.8)."""

from dataclasses import replace

import pytest

from roambus.python_protocol.actions import Send
from roambus.python_protocol.aodv.maintenance import AckTimer
from roambus.python_protocol.aodv.messages import RouteReply, RouteReplyAck
from roambus.python_protocol.simtime import MILLISECOND, SECOND
from tests.python_protocol.aodv.bench import ME, Bench, rrep, rreq, sent


def on_the_way(**parameters: object) -> Bench:
    """A node that has passed on a request of 5, which came from neighbour 3, for 9."""
    bench = Bench(**parameters)
    bench.receive(3, rreq(9, 0, originator=5, unknown_sequence=True))
    return bench


def test_a_reply_makes_the_route_to_the_destination() -> None:
    """Section 6.7: over the neighbour, one hop more, with the reply's number and lifetime."""
    bench = Bench()
    bench.receive(7, rrep(9, 90, hop_count=1, lifetime_ms=6000), SECOND)
    route = bench.route(9)
    assert (route.next_hop, route.hop_count, route.sequence, route.lifetime) == (7, 2, 90, 7 * SECOND)


def test_a_reply_makes_a_route_to_the_neighbour_it_came_from() -> None:
    """Section 6.7: one hop, without a valid sequence number."""
    bench = Bench()
    bench.receive(7, rrep(9, 90))
    assert (bench.route(7).hop_count, bench.route(7).sequence_valid) == (1, False)


def test_a_reply_for_another_node_is_passed_back_with_one_hop_more() -> None:
    """Section 6.7: to the next hop towards the originator."""
    bench, reply = on_the_way(), rrep(9, 90, originator=5, hop_count=1, ttl=30)
    assert bench.receive(7, reply) == [Send(3, replace(reply, hop_count=2, ttl=29))]


def test_a_reply_passed_back_makes_precursors() -> None:
    """Section 6.7: who gets it, on the route to the destination and on that to its next hop."""
    bench = on_the_way()
    bench.receive(7, rrep(9, 90, originator=5))
    assert bench.route(9).precursors == {3}
    assert bench.route(7).precursors == {3}


def test_a_reply_passed_back_prolongs_the_way_back() -> None:
    """Section 6.7: at least ACTIVE_ROUTE_TIMEOUT from now."""
    bench = on_the_way()
    bench.receive(7, rrep(9, 90, originator=5), 5 * SECOND)
    assert bench.route(5).lifetime == 8 * SECOND


@pytest.mark.parametrize("worse", [rrep(9, 89, originator=5, hop_count=0), rrep(9, 90, originator=5, hop_count=4)])
def test_a_reply_that_is_no_better_is_not_passed_back(worse: RouteReply) -> None:
    """Section 6.7: only if the route was created or updated."""
    bench = on_the_way()
    bench.receive(7, rrep(9, 90, originator=5))
    assert bench.receive(8, worse) == []
    assert bench.route(9).next_hop == 7


def test_a_reply_that_confirms_the_route_in_use_is_passed_back() -> None:
    """The neighbour's hello may already have told what the reply says: dropping it would starve the originator."""
    bench = on_the_way()
    bench.receive(7, rrep(9, 90, originator=5))
    assert len(sent(bench.receive(7, rrep(9, 90, originator=5)), RouteReply)) == 1


def test_the_originator_keeps_the_reply() -> None:
    """Section 6.7: it has arrived."""
    assert Bench().receive(7, rrep(9, 90, originator=ME)) == []


def test_a_reply_without_a_way_back_ends() -> None:
    """Nobody can be told; the route itself is learned."""
    bench = Bench()
    assert bench.receive(7, rrep(9, 90, originator=5)) == []
    assert bench.is_active(9)


def test_a_reply_at_the_end_of_its_ttl_ends() -> None:
    """As any packet."""
    assert on_the_way().receive(7, rrep(9, 90, originator=5, ttl=1)) == []


def test_a_reply_about_this_node_makes_no_route() -> None:
    """A node needs no route to itself."""
    bench = Bench()
    assert bench.receive(7, rrep(ME, 90, originator=5)) == []
    assert bench.agent.table.get(ME) is None


def test_a_reply_with_the_a_flag_is_acknowledged() -> None:
    """Section 6.8: at once, to the neighbour that sent it."""
    assert Send(7, RouteReplyAck()) in Bench().receive(7, rrep(9, 90, acknowledge=True))


def test_a_reply_sent_with_the_a_flag_waits_for_its_acknowledgement() -> None:
    """Section 6.8: for NEXT_HOP_WAIT."""
    bench = Bench(rrep_ack=True)
    (reply,) = sent(bench.receive(3, rreq(ME, 0)), RouteReply)
    assert reply.acknowledge
    assert bench.timers == {AckTimer(3): 50 * MILLISECOND}


def test_an_acknowledged_reply_blacklists_nobody() -> None:
    """Section 6.8: the RREP-ACK shows that the link carries frames both ways."""
    bench = Bench(rrep_ack=True)
    bench.receive(3, rreq(ME, 0))
    bench.receive(3, RouteReplyAck())
    assert bench.timers == {}
    assert len(bench.receive(3, rreq(rreq_id=2))) == 1


def test_a_reply_that_is_not_acknowledged_blacklists_the_neighbour_for_a_while() -> None:
    """Section 6.8: its requests are ignored for BLACKLIST_TIMEOUT."""
    bench = Bench(rrep_ack=True)
    bench.receive(3, rreq(ME, 0))
    bench.fire(AckTimer(3))
    end = 50 * MILLISECOND + bench.parameters.blacklist_timeout
    assert bench.receive(3, rreq(rreq_id=2), end - 1) == []
    assert len(bench.receive(3, rreq(rreq_id=2), end)) == 1


def test_a_hop_count_stops_at_the_largest_that_fits() -> None:
    """Section 5.2: it has eight bits."""
    (reply,) = sent(on_the_way().receive(7, rrep(9, 90, originator=5, hop_count=255)), RouteReply)
    assert reply.hop_count == 255
