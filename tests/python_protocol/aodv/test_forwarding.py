"""Data on its way (RFC 3561, sections 6.2 and 6.11)."""

from dataclasses import replace

import pytest

from roambus.python_protocol.actions import Send
from roambus.python_protocol.aodv.messages import RouteError, RouteReply, RouteRequest, Unreachable
from roambus.python_protocol.events import CHANNEL_ACCESS_FAILURE, NO_ACKNOWLEDGEMENT, NO_LINK, Received, SendFailed
from roambus.python_protocol.parts.link import LinkData
from roambus.python_protocol.parts.unicast import DataPacket
from roambus.python_protocol.roles import BROADCAST
from roambus.python_protocol.simtime import SECOND
from tests.python_protocol.aodv.bench import ME, NEWS, Bench, drops, packet, rrep, rreq, sends, sent


def on_route() -> Bench:
    """A node between 5 (over 3) and 9 (over 7)."""
    bench = Bench()
    bench.receive(3, rreq(9, 0, originator=5, unknown_sequence=True))
    bench.receive(7, rrep(9, 90, originator=5))
    return bench


def test_data_goes_to_the_next_hop_with_one_hop_more() -> None:
    """TTL down, hop count up."""
    data = packet(5, 9, ttl=30, hop_count=2)
    assert on_route().receive(3, data) == [Send(7, replace(data, ttl=29, hop_count=3))]


def test_data_keeps_the_routes_it_uses_alive() -> None:
    """Section 6.2: to the source, the destination, the next hop and the previous hop."""
    bench = on_route()
    for second in range(1, 20):
        bench.receive(3, packet(5, 9, number=second), second * SECOND)
    assert all(bench.is_active(node) for node in (5, 9, 7, 3))
    assert {bench.route(node).lifetime for node in (9, 7, 3)} == {22 * SECOND}


def test_unused_routes_expire() -> None:
    """Section 6.2: after the lifetime that they were given."""
    bench = on_route()
    bench.now = 7 * SECOND
    assert not any(bench.is_active(node) for node in (5, 9, 7, 3))


def test_data_at_the_end_of_its_ttl_is_dropped() -> None:
    """A packet that has taken as many hops as the network is wide is in a loop."""
    bench = on_route()
    actions = bench.handle(Received(3, packet(5, 9, ttl=1), -70.0, 20.0))
    assert drops(actions) == ["TTL exceeded"]


def test_data_for_this_node_ends_here() -> None:
    """It is not sent on."""
    assert on_route().receive(3, packet(5, ME)) == []


def test_data_that_the_mac_refused_is_noted_as_dropped() -> None:
    """Without the link layer nobody sends it again."""
    bench = on_route()
    data = packet(5, 9)
    assert drops(bench.handle(SendFailed(7, data, "MAC queue full"))) == ["MAC queue full"]


@pytest.mark.parametrize("reason", [NO_LINK, NO_ACKNOWLEDGEMENT, CHANNEL_ACCESS_FAILURE])
def test_data_that_no_link_carries_breaks_the_routes_over_it(reason: str) -> None:
    """Sections 6.10 and 6.11, case i: ideal links, or a MAC that acknowledges, report it; the packet is dropped."""
    bench = on_route()
    actions = bench.handle(SendFailed(7, packet(5, 9), reason))
    assert sends(actions) == [Send(3, RouteError((Unreachable(7, 0), Unreachable(9, 91))))]
    assert drops(actions) == ["link broken"]
    assert not bench.is_active(9)


def test_an_originator_keeps_data_that_no_link_carries() -> None:
    """Section 6.3: it searches again, and the packet waits."""
    bench = Bench()
    bench.receive(7, rrep(9, 90))
    (data,) = sends(bench.publish(9))
    actions = bench.handle(SendFailed(7, data.message, NO_LINK))
    assert (len(sent(actions, RouteRequest)), drops(actions)) == (1, [])
    assert bench.receive(8, rrep(9, 95)) == [Send(8, DataPacket(0, 35, ME, 9, NEWS))]


def test_a_reply_that_no_link_carries_blacklists_the_neighbour() -> None:
    """Section 6.8: the transmission of a RREP failed."""
    bench = Bench()
    (reply,) = bench.receive(3, rreq(ME, 0))
    assert isinstance(reply.message, RouteReply)
    bench.handle(SendFailed(3, reply.message, NO_LINK))
    assert bench.receive(3, rreq(rreq_id=2)) == []


def test_a_full_mac_breaks_no_route() -> None:
    """Section 6.10: that says nothing of the link."""
    bench = on_route()
    bench.handle(SendFailed(7, packet(5, 9), "MAC queue full"))
    assert bench.is_active(9)


def test_the_link_layer_retransmits_what_no_link_carries() -> None:
    """Section 6.10: a link is lost only after the last retransmission."""
    bench = Bench(link_layer=True)
    bench.receive(7, rrep(9, 90))
    (frame,) = sends(bench.publish(9))
    assert isinstance(frame.message, LinkData)
    assert bench.handle(SendFailed(7, frame.message, NO_LINK)) == []
    assert bench.is_active(9)


def test_a_hop_count_stops_at_the_largest_that_fits() -> None:
    """It has eight bits, as in the control messages."""
    (send,) = on_route().receive(3, packet(5, 9, hop_count=255))
    assert isinstance(send.message, DataPacket)
    assert send.message.hop_count == 255


def test_a_broadcast_that_fails_breaks_no_route() -> None:
    """A busy channel says nothing of a neighbour."""
    bench = on_route()
    assert bench.handle(SendFailed(BROADCAST, rreq(5, 1), CHANNEL_ACCESS_FAILURE)) == []
    assert bench.is_active(9)
