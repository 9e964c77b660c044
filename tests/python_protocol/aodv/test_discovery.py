"""The search for a route by the node that needs it (RFC 3561, sections 6.1, 6.3 and 6.4)."""

from roambus.python_protocol.actions import Send
from roambus.python_protocol.aodv.discovery import DiscoveryTimer
from roambus.python_protocol.aodv.messages import RouteError, RouteRequest, Unreachable
from roambus.python_protocol.parts.unicast import DataPacket
from roambus.python_protocol.roles import BROADCAST
from roambus.python_protocol.simtime import MILLISECOND, SECOND
from tests.python_protocol.aodv.bench import ME, NEWS, Bench, drops, hello, packet, rrep, rreq, sends, sent


def requests_of_whole_search(bench: Bench, destination: int) -> list[RouteRequest]:
    """Publishes, and lets every attempt run out."""
    actions = bench.publish(destination)
    found = sent(actions, RouteRequest)
    while DiscoveryTimer(destination) in bench.timers:
        actions = bench.fire(DiscoveryTimer(destination))
        found += sent(actions, RouteRequest)
    return found


def test_a_packet_without_a_route_starts_a_search() -> None:
    """Section 6.3: a RREQ with TTL_START, no known number, and a new own one; the packet waits."""
    (send,) = sends(Bench().publish(9))
    assert send == Send(BROADCAST, RouteRequest(0, 2, 1, 9, 0, ME, 1, unknown_sequence=True))


def test_a_request_carries_the_last_known_number() -> None:
    """Section 6.3: from the table, although that route is lost."""
    bench = Bench()
    bench.receive(7, rrep(9, 90))
    bench.receive(7, RouteError((Unreachable(9, 91),)))
    (request,) = sent(bench.publish(9), RouteRequest)
    assert (request.destination_sequence, request.unknown_sequence) == (91, False)


def test_each_attempt_has_a_new_id_and_a_newer_own_number() -> None:
    """Sections 6.1 and 6.3: both count up."""
    requests = requests_of_whole_search(Bench(), 9)
    assert [request.rreq_id for request in requests] == [1, 2, 3, 4, 5, 6]
    assert [request.originator_sequence for request in requests] == [1, 2, 3, 4, 5, 6]


def test_the_ring_grows_and_is_repeated_until_the_search_fails() -> None:
    """Section 6.4, from a TTL_START of 2; then RREQ_RETRIES repetitions of the whole network."""
    assert [request.ttl for request in requests_of_whole_search(Bench(), 9)] == [2, 4, 6, 35, 35, 35]


def test_a_search_that_failed_took_the_sum_of_all_waiting_times() -> None:
    """Sections 6.3 and 10: three rings, and NET_TRAVERSAL_TIME once, twice and four times."""
    bench = Bench()
    requests_of_whole_search(bench, 9)
    rings = 2 * 40 * ((2 + 2) + (4 + 2) + (6 + 2))
    assert bench.now == (rings + 2800 * (1 + 2 + 4)) * MILLISECOND


def test_packets_are_dropped_when_the_search_fails() -> None:
    """Section 6.3: destination unreachable."""
    bench = Bench()
    actions = bench.publish(9)
    while DiscoveryTimer(9) in bench.timers:
        actions = bench.fire(DiscoveryTimer(9))
    assert drops(actions) == ["no route"]
    assert bench.receive(7, rrep(9, 90)) == []


def test_a_search_starts_beyond_the_last_known_distance() -> None:
    """Section 6.4: hop count in the invalid entry plus TTL_INCREMENT."""
    bench = Bench()
    bench.receive(7, rrep(9, 90, hop_count=2))
    bench.receive(7, RouteError((Unreachable(9, 91),)))
    (request,) = sent(bench.publish(9), RouteRequest)
    assert request.ttl == 3 + 2


def test_one_search_serves_all_packets_for_its_destination() -> None:
    """Section 6.3: packets are buffered, first in, first out, and leave when the route is there."""
    bench = Bench()
    assert len(sends(bench.publish(9))) == 1
    assert sends(bench.publish(9)) == []
    found = bench.receive(7, rrep(9, 90))
    assert found == [Send(7, DataPacket(0, 35, ME, 9, NEWS))] * 2
    assert DiscoveryTimer(9) not in bench.timers


def test_any_route_learned_ends_the_search() -> None:
    """Section 6.3: a RREP, or another message with current information, such as the destination's own RREQ."""
    bench = Bench()
    bench.publish(9)
    found = bench.receive(7, rreq(8, 0, originator=9, unknown_sequence=True))
    assert Send(7, DataPacket(0, 35, ME, 9, NEWS)) in found


def test_the_destinations_hello_ends_the_search() -> None:
    """Section 6.9: it has become a neighbour."""
    bench = Bench()
    bench.publish(9)
    assert bench.receive(9, hello(9)) == [Send(9, DataPacket(0, 35, ME, 9, NEWS))]


def test_an_active_route_needs_no_search() -> None:
    """Section 6.3: only without an active route."""
    bench = Bench()
    bench.receive(7, rrep(9, 90))
    assert sends(bench.publish(9)) == [Send(7, DataPacket(0, 35, ME, 9, NEWS))]


def test_requests_are_limited_to_a_number_a_second() -> None:
    """RREQ_RATELIMIT: those beyond it wait for their turn."""
    bench = Bench(rreq_ratelimit=2)
    assert len(sent(bench.publish(9, 10, 11), RouteRequest)) == 2
    assert bench.timers[DiscoveryTimer(11)] == SECOND
    (request,) = sent(bench.fire(DiscoveryTimer(11)), RouteRequest)
    assert request.destination == 11


def test_a_full_queue_drops_its_oldest_packet() -> None:
    """The buffer is bounded; the loss is in the trace."""
    bench = Bench(request_queue_limit=1)
    bench.publish(9)
    assert drops(bench.publish(10)) == ["request queue full"]


def test_a_packet_that_waited_too_long_is_dropped() -> None:
    """The sweep takes it out."""
    bench = Bench(request_queue_timeout=SECOND)
    bench.publish(9)
    assert drops(bench.sweep(SECOND)) == ["no route in time"]


def test_forwarded_data_does_not_start_a_search() -> None:
    """The thesis, section 4.5.2: only publishers search; the node on the way refuses (section 6.11, case ii)."""
    assert sent(Bench().receive(3, packet(destination=9)), RouteRequest) == []


def test_an_entry_that_waits_for_a_reply_is_kept() -> None:
    """Section 6.4: for 2 NET_TRAVERSAL_TIME from the request on, though DELETE_PERIOD ends before."""
    bench = Bench()
    bench.receive(7, rrep(9, 90))
    bench.receive(7, RouteError((Unreachable(9, 91),)))
    bench.publish(9, now=14 * SECOND)
    bench.sweep(14 * SECOND + 5600 * MILLISECOND - 1)
    assert bench.route(9).sequence == 91
    bench.sweep(14 * SECOND + 5600 * MILLISECOND)
    assert bench.agent.table.get(9) is None


def test_a_reply_without_any_lifetime_does_not_end_the_search() -> None:
    """Section 6.3: what it tells is over at once, so the node goes on waiting."""
    bench = Bench()
    bench.publish(9)
    assert bench.receive(7, rrep(9, 90, lifetime_ms=0)) == []
    assert bench.receive(7, rrep(9, 91)) == [Send(7, DataPacket(0, 35, ME, 9, NEWS))]


def test_any_message_of_the_destination_itself_ends_the_search() -> None:
    """Sections 6.2 and 6.3: it has become a neighbour, whatever it wanted to say."""
    bench = Bench()
    bench.publish(9)
    assert bench.receive(9, RouteError((Unreachable(8, 1),))) == [Send(9, DataPacket(0, 35, ME, 9, NEWS))]
