"""Data on its way (RFC 3561, sections 6.2 and 6.11)."""

from dataclasses import replace

from python_protocol.actions import Send
from python_protocol.events import Received, SendFailed
from python_protocol.simtime import SECOND
from tests.python_protocol.aodv.bench import ME, Bench, drops, packet, rrep, rreq


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
    assert drops(bench.handle(SendFailed(7, data, "MAC buffer full"))) == ["MAC buffer full"]
