"""Hello messages, lost neighbours and broken links (RFC 3561, sections 6.8 to 6.11)."""

import pytest

from roambus.python_protocol.actions import Note, Send
from roambus.python_protocol.aodv.agent import HELLO_TIMER, SWEEP_TIMER
from roambus.python_protocol.aodv.messages import Hello, RouteError, RouteReply, RouteReplyAck, RouteRequest
from roambus.python_protocol.events import Started
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.parts.link import LinkAck, LinkData, LinkTimer
from roambus.python_protocol.parts.unicast import DataPacket
from roambus.python_protocol.roles import BROADCAST
from roambus.python_protocol.simtime import MILLISECOND, SECOND
from roambus.python_protocol.trace_rows import DROP
from tests.python_protocol.aodv.bench import ME, NEWS, Bench, drops, hello, packet, rrep, rreq, sends, sent


def started(**parameters: object) -> Bench:
    bench = Bench(**parameters)
    bench.handle(Started())
    return bench


def give_up(bench: Bench, neighbour: int) -> list[Send]:
    """Lets the link layer send in vain until it gives up."""
    actions = bench.fire(LinkTimer(neighbour))
    for _ in range(bench.parameters.link_retry_limit):
        assert [type(send.message) for send in sends(actions)] == [LinkData]
        actions = bench.fire(LinkTimer(neighbour))
    return sends(actions)


def payloads(found: list[Send]) -> list[Message]:
    """The messages sent, out of the link layer's frames."""
    return [send.message.payload if isinstance(send.message, LinkData) else send.message for send in found]


def test_in_the_thesis_profile_every_node_says_hello_all_the_time() -> None:
    """The thesis, section 4.5.1: continually; each at most hello_jitter early."""
    bench = started(profile="thesis")
    assert 0 <= bench.timers[HELLO_TIMER] <= SECOND
    for _ in range(20):
        (send,) = sends(bench.fire(HELLO_TIMER))
        assert send == Send(BROADCAST, Hello.of(ME, 0, 2000))
        assert 750 * MILLISECOND <= bench.timers[HELLO_TIMER] - bench.now <= SECOND


def test_by_the_rfc_a_node_without_active_routes_says_no_hello() -> None:
    """Section 6.9: only a node that is part of an active route should."""
    bench = started()
    assert sends(bench.fire(HELLO_TIMER)) == []
    bench.receive(3, hello(3))
    assert sends(bench.fire(HELLO_TIMER)) == []


def test_by_the_rfc_a_node_on_an_active_route_says_hello() -> None:
    """Section 6.9: as long as the route is used, and ACTIVE_ROUTE_TIMEOUT longer."""
    bench = started()
    bench.receive(7, rrep(9, 90))
    bench.receive(3, packet(5, 9))
    hellos = [len(sent(bench.fire(HELLO_TIMER), Hello)) for _ in range(6)]
    assert hellos[:3] == [1, 1, 1]
    assert hellos[-1] == 0


def test_by_the_rfc_another_broadcast_makes_a_hello_needless() -> None:
    """Section 6.9: only if none was sent within the last interval."""
    bench = started()
    bench.receive(7, rrep(9, 90))
    bench.receive(3, packet(5, 9))
    bench.receive(3, rreq(8), bench.timers[HELLO_TIMER])
    assert sends(bench.fire(HELLO_TIMER)) == []


def test_a_hello_makes_a_route_with_the_neighbours_number() -> None:
    """Section 6.9: as long-lived as the hello says."""
    bench = Bench()
    bench.receive(4, hello(4, 12, lifetime_ms=2000), SECOND)
    route = bench.route(4)
    assert (route.hop_count, route.sequence, route.sequence_valid) == (1, 12, True)
    assert route.lifetime == 3 * SECOND


def test_the_latest_number_of_a_neighbour_counts() -> None:
    """Section 6.9: the route contains the latest one."""
    bench = Bench()
    for sequence in (2**32 - 1, 0, 2**32 - 2):
        bench.receive(4, hello(4, sequence))
    assert bench.route(4).sequence == 0


def test_a_neighbour_that_falls_silent_is_lost() -> None:
    """Section 6.9: after ALLOWED_HELLO_LOSS intervals; its routes break."""
    bench = Bench()
    bench.receive(7, hello(7, lifetime_ms=9000))
    bench.receive(7, rrep(9, 90))
    bench.sweep(2 * SECOND - 1)
    assert bench.is_active(9)
    bench.sweep(2 * SECOND)
    assert not bench.is_active(9)
    assert not bench.is_active(7)


@pytest.mark.parametrize("message", [rreq(), rrep(), RouteError(()), RouteReplyAck(), packet(), LinkAck(0, 0)])
def test_any_frame_keeps_a_neighbour(message: Message) -> None:
    """Section 6.9: hello or otherwise."""
    bench = Bench()
    bench.receive(7, hello(7, lifetime_ms=9000))
    bench.receive(7, message, SECOND)
    bench.sweep(3 * SECOND - 1)
    assert bench.is_active(7)
    bench.sweep(3 * SECOND)
    assert not bench.is_active(7)


def test_unicasts_go_over_the_link_layer_by_default() -> None:
    """Section 6.10: link layer notification."""
    bench = Bench(link_layer=True)
    bench.receive(7, rrep(9, 90))
    (send,) = sends(bench.publish(9))
    assert isinstance(send.message, LinkData)
    assert (send.destination, send.message.payload) == (7, DataPacket(0, 35, ME, 9, NEWS))


def test_frames_of_the_link_layer_are_unpacked_and_acknowledged() -> None:
    """What is inside counts as if it had come bare."""
    bench = Bench(link_layer=True)
    found = bench.receive(7, LinkData(1, 0, rrep(9, 90)))
    assert found == [Send(7, LinkAck(1, 0))]
    assert bench.is_active(9)


def test_a_neighbour_given_up_breaks_the_routes_over_it() -> None:
    """Section 6.11, case i: the precursors hear of it, the packet on its way is dropped."""
    bench = Bench(link_layer=True)
    bench.receive(3, rreq(9, 0, originator=5, unknown_sequence=True))
    bench.receive(7, rrep(9, 90, originator=5))
    bench.receive(3, LinkAck(*link_state(bench, 3)))
    bench.receive(3, packet(5, 9))
    errors = [message for message in payloads(give_up(bench, 7)) if isinstance(message, RouteError)]
    assert [entry.destination for entry in errors[0].unreachable] == [7, 9]
    assert not bench.is_active(9)


def link_state(bench: Bench, neighbour: int) -> tuple[int, int]:
    """Session and sequence of the frame under way to `neighbour`."""
    frame = sends(bench.fire(LinkTimer(neighbour)))[0].message
    assert isinstance(frame, LinkData)
    return frame.session, frame.sequence


def test_an_originator_keeps_a_packet_that_its_link_did_not_take() -> None:
    """Section 6.3: it needs a route again, so it searches one, and the packet waits."""
    bench = Bench(link_layer=True)
    bench.receive(7, rrep(9, 90))
    bench.publish(9)
    (request,) = give_up(bench, 7)
    assert isinstance(request.message, RouteRequest)
    found = payloads(bench.receive(8, rrep(9, 95)))
    assert found == [DataPacket(0, 35, ME, 9, NEWS)]


def test_an_originator_uses_another_route_that_it_has_by_then() -> None:
    """No search while there is an active route."""
    bench = Bench(link_layer=True)
    bench.receive(7, rrep(9, 90))
    bench.publish(9)
    bench.receive(8, rrep(9, 91))
    (send,) = give_up(bench, 7)
    assert (send.destination, payloads([send])) == (8, [DataPacket(0, 35, ME, 9, NEWS)])


def test_a_lost_neighbour_gives_its_packets_back_at_once() -> None:
    """The link layer need not find out by itself what missing hellos tell."""
    bench = Bench(link_layer=True, link_retry_limit=200)
    bench.receive(7, hello(7))
    bench.receive(7, rrep(9, 90))
    bench.publish(9)
    assert len(sent(bench.sweep(2 * SECOND), RouteRequest)) == 1
    assert LinkTimer(7) not in bench.timers


def test_a_reply_that_the_link_did_not_take_blacklists_the_neighbour() -> None:
    """Section 6.8: the transmission of a RREP failed."""
    bench = Bench(link_layer=True)
    (frame,) = bench.receive(3, rreq(ME, 0))
    assert isinstance(frame.message, LinkData)
    assert isinstance(frame.message.payload, RouteReply)
    give_up(bench, 3)
    assert bench.receive(3, rreq(rreq_id=2)) == []


def test_a_packet_that_the_link_has_no_room_for_is_dropped() -> None:
    """The trace names it; the link is not broken."""
    bench = Bench(link_layer=True, link_queue_limit=1)
    bench.receive(7, rrep(9, 90))
    assert drops(bench.publish(9)) == []
    (drop,) = (action for action in bench.publish(9) if isinstance(action, Note) and action.name == DROP)
    assert (drop.detail, drop.notification_id, drop.peer) == ("link queue full", str(NEWS.id), 9)
    assert bench.is_active(9)


def test_lost_neighbours_are_looked_for_twice_in_a_hello_interval() -> None:
    """A loss is noticed at most half an interval late."""
    bench = started()
    assert bench.timers[SWEEP_TIMER] == SECOND // 2
    bench.fire(SWEEP_TIMER)
    assert bench.timers[SWEEP_TIMER] == SECOND


@pytest.mark.parametrize(("profile", "errors"), [("thesis", 1), ("rfc", 0)])
def test_the_thesis_reports_a_route_that_times_out(profile: str, errors: int) -> None:
    """The thesis, section 4.5.1: a RERR goes back towards the originator; the RFC lets routes expire in silence."""
    bench = started(profile=profile)
    bench.receive(3, rreq(9, 0, originator=5, unknown_sequence=True))
    bench.receive(7, rrep(9, 90, originator=5, lifetime_ms=500))
    assert len(sent(bench.fire(SWEEP_TIMER), RouteError)) == errors


def test_by_the_rfc_a_node_that_passed_a_reply_on_says_hello() -> None:
    """Section 6.9: it is part of the route that the reply has made."""
    bench = started()
    bench.receive(3, rreq(9, 0, originator=5, unknown_sequence=True))
    bench.fire(HELLO_TIMER)
    bench.receive(7, rrep(9, 90, originator=5))
    assert len(sent(bench.fire(HELLO_TIMER), Hello)) == 1


def test_a_neighbour_whose_link_broke_is_not_missed_until_its_next_hello() -> None:
    """Section 6.9: the break has been handled; what it sends later makes routes as from any other node."""
    bench = Bench(link_layer=True)
    bench.receive(7, hello(7))
    bench.receive(7, rrep(9, 90))
    bench.publish(9)
    give_up(bench, 7)
    bench.receive(7, rrep(9, 95))
    bench.sweep(bench.now + 2 * SECOND)
    assert bench.is_active(9)


def test_by_the_rfc_a_route_unused_for_active_route_timeout_needs_no_hello() -> None:
    """Section 6.9: at that instant it is active no longer."""
    bench = started()
    bench.receive(7, rrep(9, 90))
    bench.receive(3, packet(5, 9))
    bench.timers[HELLO_TIMER] = 3 * SECOND
    assert sends(bench.fire(HELLO_TIMER)) == []
