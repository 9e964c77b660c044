"""Local repair (RFC 3561, section 6.12)."""

import pytest

from roambus.python_protocol.actions import Note
from roambus.python_protocol.aodv.discovery import DiscoveryTimer
from roambus.python_protocol.aodv.messages import RouteError, RouteReply, RouteRequest, Unreachable
from roambus.python_protocol.aodv.routing_table import RouteState
from roambus.python_protocol.events import Received
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.parts.link import LinkAck, LinkData, LinkTimer
from roambus.python_protocol.parts.unicast import DataPacket
from tests.python_protocol.aodv.bench import Bench, drops, packet, rrep, rreq, sends, sent


def repairing(distance: int = 2, **parameters: object) -> tuple[Bench, list[Message], list[str]]:
    """A node between 5 (over 3) and 9 (over 7) whose link to 7 has broken under a packet: what it sent, and dropped."""
    bench = Bench(link_layer=True, **{"local_repair": True, **parameters})
    bench.receive(3, rreq(9, 0, originator=5, unknown_sequence=True))
    forwarded = bench.receive(7, rrep(9, 90, originator=5, hop_count=distance - 1))
    acknowledge(bench, 3, forwarded[0].message)
    bench.receive(3, packet(5, 9, hop_count=1))
    actions = bench.fire(LinkTimer(7))
    while LinkTimer(7) in bench.timers:
        actions = bench.fire(LinkTimer(7))
    dropped = [str(note.detail) for note in actions if isinstance(note, Note)]
    return bench, [send.message for send in sends(actions)], dropped


def acknowledge(bench: Bench, neighbour: int, frame: Message) -> None:
    assert isinstance(frame, LinkData)
    assert isinstance(frame.payload, RouteReply)
    bench.receive(neighbour, LinkAck(frame.session, frame.sequence))


def errors(found: list[Message]) -> list[RouteError]:
    """The RERRs among messages, link layer frames opened."""
    opened = [message.payload if isinstance(message, LinkData) else message for message in found]
    return [message for message in opened if isinstance(message, RouteError)]


def test_a_broken_route_is_searched_from_here_with_the_next_number() -> None:
    """TTL: max(last hop count, half the way back) + LOCAL_ADD_TTL; the packet waits."""
    bench, found, dropped = repairing(distance=2)
    (request,) = [message for message in found if isinstance(message, RouteRequest)]
    assert (request.ttl, request.destination_sequence) == (4, 91)
    assert bench.route(9).state is RouteState.BEING_REPAIRED
    assert dropped == []


def test_what_is_being_repaired_is_not_reported_yet() -> None:
    """Only the neighbour itself is lost for its precursors."""
    _, found, _ = repairing()
    assert [[entry.destination for entry in error.unreachable] for error in errors(found)] == [[7]]


@pytest.mark.parametrize(("distance", "parameters"), [(2, {"local_repair": False}), (11, {})])
def test_without_the_option_or_too_far_away_the_packet_is_dropped(distance: int, parameters: dict[str, object]) -> None:
    """MAX_REPAIR_TTL is ten hops; the break is reported at once."""
    _, found, dropped = repairing(distance, **parameters)
    assert dropped == ["link broken"]
    assert [[entry.destination for entry in error.unreachable] for error in errors(found)] == [[7, 9]]


def test_a_destination_just_near_enough_is_searched() -> None:
    """MAX_REPAIR_TTL: "no farther than" ten hops."""
    _, found, dropped = repairing(distance=10)
    assert len([message for message in found if isinstance(message, RouteRequest)]) == 1
    assert dropped == []


def test_a_destination_that_is_searched_already_is_not_searched_again() -> None:
    """The packet waits for what this node's own search finds."""
    bench = Bench(link_layer=True, local_repair=True)
    bench.receive(7, rrep(9, 90))
    bench.receive(3, packet(5, 9))
    bench.receive(7, RouteError((Unreachable(9, 91),)))
    assert len(sent(bench.publish(9), RouteRequest)) == 1
    broken = [action for _ in range(4) for action in bench.fire(LinkTimer(7))]
    assert (sent(broken, RouteRequest), drops(broken)) == ([], [])
    bench.receive(8, rrep(9, 95))
    assert DiscoveryTimer(9) not in bench.timers


def test_packets_that_come_during_the_repair_wait() -> None:
    """They are neither refused nor dropped."""
    bench, _, _ = repairing()
    assert drops(bench.handle(Received(3, packet(5, 9, number=2), -70.0, 20.0))) == []
    found = bench.receive(8, rrep(9, 95, originator=0, hop_count=0))
    waiting = [send.message.payload for send in found if isinstance(send.message, LinkData)]
    assert [message.notification.id.sequence for message in waiting if isinstance(message, DataPacket)] == [1]
    assert LinkTimer(8) in bench.timers


def test_a_repair_that_is_no_longer_than_before_stays_invisible() -> None:
    """The upstream nodes need not know."""
    bench, _, _ = repairing(distance=2)
    found = [send.message for send in bench.receive(8, rrep(9, 95, originator=0, hop_count=1))]
    assert errors(found) == errors(flush(bench, 3)) == []
    assert bench.route(9).state is RouteState.VALID


def test_a_longer_way_is_reported_with_the_n_flag() -> None:
    """The precursors keep the route, and may look for a better one."""
    bench, before, _ = repairing(distance=2)
    assert len(errors(before)) == 1
    found = [send.message for send in bench.receive(8, rrep(9, 95, originator=0, hop_count=2))]
    queued = errors(found) or errors(flush(bench, 3))
    assert [(error.no_delete, error.unreachable[0].destination) for error in queued] == [(True, 9)]


def flush(bench: Bench, neighbour: int) -> list[Message]:
    """Acknowledges the frame under way to `neighbour`: what comes after it."""
    frame = sends(bench.fire(LinkTimer(neighbour)))[0].message
    assert isinstance(frame, LinkData)
    return [send.message for send in bench.receive(neighbour, LinkAck(frame.session, frame.sequence))]


def test_a_repair_that_fails_is_reported_like_the_break() -> None:
    """After one discovery period: RERR, and the packets are dropped."""
    bench, _, _ = repairing()
    actions = bench.fire(DiscoveryTimer(9))
    assert drops(actions) == ["no route"]
    route = bench.route(9)
    assert (route.state, route.sequence) == (RouteState.INVALID, 92)
    assert route.lifetime == bench.now + bench.parameters.delete_period
    assert [entry.destination for error in errors(flush(bench, 3)) for entry in error.unreachable] == [9]
