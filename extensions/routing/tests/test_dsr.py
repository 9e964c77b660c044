"""DSR's rules: requests, replies, the cache, errors and salvaging (RFC 4728)."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from roambus.extensions.routing.dsr import Dsr
from roambus.extensions.routing.dsr.agent import RequestTimer
from roambus.extensions.routing.dsr.cache import RouteCache
from roambus.extensions.routing.dsr.messages import (
    BrokenLink,
    RouteError,
    RouteReply,
    RouteRequest,
    SourcedPacket,
    SourceRoute,
    nodes_of,
    route_along,
)
from roambus.extensions.routing.tests.bench import ME, NEWS, Bench, delivered, dropped, sent
from roambus.python_protocol.actions import Action
from roambus.python_protocol.events import Overheard, Publish, Recovered
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.parts.link import LinkData
from roambus.python_protocol.roles import BROADCAST
from roambus.python_protocol.simtime import MILLISECOND, SECOND

FAR = 9


def bench(**parameters: object) -> Bench:
    """A node that answers from its cache at once."""
    return Bench(Dsr, **{"reply_delay": 0, **parameters})


def searching() -> Bench:
    """A node that has a packet for FAR, and has sent the first request."""
    node = bench()
    node.handle(Publish(NEWS, (FAR,)))
    return node


def request(
    source: int,
    target: int,
    *addresses: int,
    number: int = 1,
    hop_limit: int = 255,
    errors: tuple[BrokenLink, ...] = (),
) -> RouteRequest:
    """A request that has come over these nodes."""
    return RouteRequest(hop_limit, source, number, target, errors, addresses)


def data(*path: int, left: int, salvage: int = 0) -> SourcedPacket:
    """A packet along a path, with so many segments left."""
    return SourcedPacket(0, 35, path[0], path[-1], NEWS, route_along(path, salvage)._replace(segments_left=left))


def test_the_first_request_goes_to_neighbours_and_the_next_ones_further_after_growing_waits() -> None:
    """Section 8.2.1: 30 ms, then 500 ms, doubled up to 10 s, at most 16 times more; then packets are given up."""
    node = bench(send_buffer_timeout=10**15)
    ((to, first),) = sent(node.handle(Publish(NEWS, (FAR,))), RouteRequest)
    assert (to, first.hop_limit, first.target, first.addresses) == (BROADCAST, 1, FAR, ())
    waits, limits = [node.timers[RequestTimer(FAR)]], []
    while RequestTimer(FAR) in node.timers:
        before = node.timers[RequestTimer(FAR)]
        actions = node.fire(RequestTimer(FAR))
        limits += [message.hop_limit for _, message in sent(actions, RouteRequest)]
        waits += [node.timers[RequestTimer(FAR)] - before] if RequestTimer(FAR) in node.timers else []
    halves = [500, 1000, 2000, 4000, 8000]
    assert waits == [factor * MILLISECOND for factor in (30, *halves, *[10_000] * 11)]
    assert limits == [255] * 16
    assert dropped(actions) == ["no route"]


def test_the_target_answers_every_copy_along_the_way_of_the_request() -> None:
    """Section 8.2.2: so that the source gets several routes."""
    node = bench()
    for way in ((1, 2), (3,)):
        ((to, reply),) = sent(node.hear(request(5, ME, *way), way[-1]), RouteReply)
        assert to == way[-1]
        assert reply.addresses == (*way, ME)
        assert nodes_of(reply) == (ME, *way[::-1], 5)


def test_a_request_is_passed_on_once_and_never_back() -> None:
    """By its source, number and target."""
    node = bench()
    ((_, onward),) = sent(node.hear(request(5, FAR, 1), 1), RouteRequest)
    assert (onward.hop_limit, onward.addresses) == (254, (1, ME))
    assert not node.hear(request(5, FAR, 2), 2)
    assert not node.hear(request(5, FAR, 1, ME, 2, number=2), 2)
    assert not node.hear(request(5, FAR, 1, number=3, hop_limit=1), 1)
    ((_, last),) = sent(node.hear(request(5, FAR, 1, number=4, hop_limit=2), 1), RouteRequest)
    assert last.hop_limit == 1


def test_a_cached_path_answers_unless_it_visits_a_node_again() -> None:
    """Section 8.2.3; the reply waits by the length of the route (8.2.5)."""
    node = Bench(Dsr)
    node.agent.cache.add((ME, 2, FAR), 0)
    actions = node.hear(request(5, FAR, 1), 1)
    assert not sent(actions, RouteRequest)
    (due,) = node.timers.values()
    assert 6 * MILLISECOND <= due <= 8 * MILLISECOND
    ((to, reply),) = sent(node.fire(next(iter(node.timers))), RouteReply)
    assert (to, reply.addresses) == (1, (1, ME, 2, FAR))
    assert sent(node.hear(request(5, FAR, 2, number=2), 2), RouteRequest)


def test_a_reply_ends_the_search_and_packets_leave_along_its_route() -> None:
    """Section 8.2.6."""
    node = searching()
    reply = RouteReply(FAR, ME, route_along((FAR, 2, 1, ME))._replace(segments_left=0), (1, 2, FAR))
    ((to, packet),) = sent(node.hear(reply, 1), SourcedPacket)
    assert (to, nodes_of(packet), packet.route.segments_left) == (1, (ME, 1, 2, FAR), 2)
    assert RequestTimer(FAR) not in node.timers


def test_a_reply_on_its_way_teaches_the_way_to_its_target_alone() -> None:
    """Section 3.3.1: it has not crossed the links towards the node that has asked."""
    node = bench()
    node.hear(RouteReply(FAR, 5, route_along((FAR, 2, ME, 1, 5))._replace(segments_left=2), (1, ME, 2, FAR)), 2)
    assert set(node.agent.cache) == {(ME, 2, FAR)}


def test_a_neighbour_that_a_reply_does_not_reach_is_ignored_until_it_has_heard_this_node() -> None:
    """Sections 4.6 and 8.2.6; the replying node is informed, and requests for this node itself are answered."""
    node = bench()
    node.agent.lose_link(1, [RouteReply(FAR, 5, route_along((FAR, 2, ME, 1, 5)), (1, ME, 2, FAR))], 0)
    ((to, error),) = sent(node.agent.take(), RouteError)
    assert (to, error.destination, error.unreachable) == (2, FAR, 1)
    assert not node.hear(request(5, FAR, 1), 1)
    assert sent(node.hear(request(5, ME, 1), 1), RouteReply)
    node.hear(request(5, FAR, ME, 1), 1)
    assert sent(node.hear(request(5, FAR, 1, number=2), 1), RouteRequest)


def test_a_packet_follows_its_route_and_both_ends_are_cached() -> None:
    """Section 8.1.5; a packet that is not for this node is dropped."""
    node = bench()
    ((to, onward),) = sent(node.hear(data(5, 4, ME, 3, FAR, left=2), 4), SourcedPacket)
    assert (to, onward.route.segments_left, onward.hop_count) == (3, 1, 1)
    assert set(node.agent.cache) == {(ME, 3, FAR), (ME, 4, 5)}
    for left in (0, 2, 4, 5):
        assert dropped(node.hear(data(5, 4, 6, FAR, left=left), 4)) == ["not on its route"]
    assert delivered(node.hear(data(5, ME, left=0), 5)) == []


def test_a_broken_link_informs_the_source_and_salvages_the_packet() -> None:
    """Sections 8.3.4 and 8.3.6: the salvager is the first address of the new route."""
    node = bench()
    node.agent.cache.add((ME, 6, FAR), 0)
    packet = data(5, 4, ME, 3, FAR, left=1)
    node.agent.lose_link(3, [packet, packet], 0)
    actions = node.agent.take()
    ((to, error),) = sent(actions, RouteError)
    assert (to, error.source, error.destination, error.unreachable) == (4, ME, 5, 3)
    salvaged = sent(actions, SourcedPacket)
    assert [(to, message.route.salvage, nodes_of(message)) for to, message in salvaged] == [(6, 1, (ME, 6, FAR))] * 2


def test_a_packet_is_salvaged_fifteen_times_at_most() -> None:
    """MAX_SALVAGE_COUNT; its error goes to the last salvager."""
    node = bench()
    node.agent.cache.add((ME, 6, FAR), 0)
    packet: Any = data(5, FAR, left=0)
    packet = packet.replaced(route=route_along((4, ME, 3, FAR), 14)._replace(segments_left=1))
    node.agent.lose_link(3, [packet], 0)
    ((_, salvaged),) = sent(node.agent.take(), SourcedPacket)
    assert salvaged.route.salvage == 15
    node.agent.cache.add((ME, 6, FAR), 0)
    packet = packet.replaced(route=route_along((4, ME, 3, FAR), 15)._replace(segments_left=1))
    node.agent.lose_link(3, [packet], 0)
    actions = node.agent.take()
    ((_, error),) = sent(actions, RouteError)
    assert error.destination == 4
    assert dropped(actions) == ["link broken"]


def test_an_own_packet_is_searched_anew() -> None:
    """Section 8.3.4: it goes back to the send buffer."""
    node = bench()
    node.agent.cache.add((ME, 3, FAR), 0)
    ((_, packet),) = sent(node.handle(Publish(NEWS, (FAR,))), SourcedPacket)
    node.agent.lose_link(3, [packet], 0)
    assert sent(node.agent.take(), RouteRequest)


def test_an_error_cuts_paths_and_is_passed_on() -> None:
    """Section 8.3.5: what lies before the broken link stays."""
    node = bench()
    node.agent.cache.add((ME, 3, 4, FAR), 0)
    error = RouteError(4, 5, route_along((4, 3, ME, 5))._replace(segments_left=1), 1, FAR)
    ((to, _),) = sent(node.hear(error, 3), RouteError)
    assert to == 5
    assert set(node.agent.cache) == {(ME, 3, 4)}


def test_the_shortest_of_the_newest_paths_is_found_until_it_expires() -> None:
    """A path leads to all nodes on it."""
    cache = RouteCache(ME, 2, 10 * SECOND)
    cache.add((ME, 1, 2, FAR), 0)
    cache.add((ME, 3, FAR), SECOND)
    assert cache.find(FAR, 2 * SECOND) == (ME, 3, FAR)
    assert cache.find(2, 2 * SECOND) == (ME, 1, 2)
    assert cache.find(FAR, 11 * SECOND) is None
    cache.add((ME, 4), 2 * SECOND)
    assert set(cache) == {(ME, 3, FAR), (ME, 4)}


# Packets between others


def overhear(node: Bench, message: Message, sender: int, to: int, now: int = 0) -> list[Action]:
    """Return the actions of a listening node at a frame between others."""
    return node.handle(Overheard(sender, to, message, -50, 50), now)


def test_a_node_listens_only_if_it_is_told_to() -> None:
    """Promiscuous receiving is optional (RFC 4728, section 1)."""
    assert [Bench(Dsr, promiscuous=on).agent.needs_overheard for on in (False, True)] == [False, True]


def test_the_route_of_an_overheard_packet_is_learned_over_its_sender() -> None:
    """Section 3.3.1: both ways from the node that was heard; in a frame of the link layer, too."""
    packet = data(5, 4, 3, FAR, left=1)
    for message in (packet, LinkData(1, 1, packet)):
        node = bench(promiscuous=True)
        overhear(node, message, 4, 3)
        assert set(node.agent.cache) == {(ME, 4, 3, FAR), (ME, 4, 5)}
        assert overhear(node, packet, 7, 3) == []


def test_an_overheard_packet_teaches_a_node_on_its_route_both_ways_over_its_own_place() -> None:
    """The node that passed it on before, or is to pass it on later; a frame of a node beside the route teaches both."""
    for nodes, left, sender, to, learned in (
        ((5, ME, 4, 3, FAR), 0, 3, FAR, {(ME, 4, 3, FAR), (ME, 5)}),
        ((5, 4, 3, ME, FAR), 2, 4, 3, {(ME, FAR), (ME, 3, 4, 5)}),
        ((5, 4, 3, ME, FAR), 2, 7, 3, {(ME, FAR), (ME, 3, 4, 5)}),
    ):
        node = bench(promiscuous=True)
        shortened = sent(overhear(node, data(*nodes, left=left), sender, to), RouteReply)
        assert set(node.agent.cache) == learned
        assert len(shortened) == (sender == 4)


def test_an_overheard_route_ends_a_search() -> None:
    """The packets that wait leave along it."""
    node = bench(promiscuous=True)
    node.handle(Publish(NEWS, (FAR,)))
    ((to, packet),) = sent(overhear(node, data(5, 4, FAR, left=0), 4, FAR), SourcedPacket)
    assert (to, nodes_of(packet), packet.hop_count) == (4, (ME, 4, FAR), 0)


def test_an_overheard_reply_teaches_the_way_to_its_target_alone() -> None:
    """Section 3.3.1: it has not crossed the links before its sender."""
    node = bench(promiscuous=True)
    reply = RouteReply(FAR, 5, route_along((FAR, 3, 4, 5))._replace(segments_left=1), (4, 3, FAR))
    overhear(node, reply, 3, 4)
    assert set(node.agent.cache) == {(ME, 3, FAR)}


def test_an_overheard_error_cuts_paths() -> None:
    """It is not passed on."""
    node = bench(promiscuous=True)
    node.agent.cache.add((ME, 3, 4, FAR), 0)
    assert overhear(node, RouteError(4, 5, route_along((4, 3, 5)), 1, FAR), 4, 3) == []
    assert set(node.agent.cache) == {(ME, 3, 4)}


def test_a_route_is_shortened_by_a_later_node_on_it_that_hears_the_packet_early() -> None:
    """Section 3.4.3: a reply without the nodes between goes to the source; the next one waits for GratReplyHoldoff."""
    node = bench(promiscuous=True)
    packet = data(5, 4, 3, ME, FAR, left=2)
    ((to, reply),) = sent(overhear(node, packet, 4, 3), RouteReply)
    assert (to, reply.destination, reply.addresses) == (4, 5, (4, ME, FAR))
    assert nodes_of(reply) == (ME, 4, 5)
    assert not sent(overhear(node, packet, 4, 3, SECOND - 1), RouteReply)
    assert sent(overhear(node, packet, 4, 3, SECOND), RouteReply)


def test_the_destination_shortens_a_route_and_a_node_that_has_passed_the_packet_on_does_not() -> None:
    """Nor does the next node, whose turn it is, or a node that is not on the route."""
    node = bench(promiscuous=True)
    ((_, reply),) = sent(overhear(node, data(5, 4, 3, ME, left=1), 4, 3), RouteReply)
    assert reply.addresses == (4, ME)
    assert set(node.agent.cache) == {(ME, 3, 4, 5)}
    for packet, sender, to in (
        (data(5, ME, 4, 3, FAR, left=1), 4, 3),
        (data(7, 4, ME, FAR, left=1), 4, ME),
        (data(8, 4, 3, FAR, left=1), 4, 3),
    ):
        assert not sent(overhear(node, packet, sender, to), RouteReply)


def test_a_waiting_reply_is_withdrawn_once_its_asker_uses_a_route_that_is_as_short() -> None:
    """Section 8.2.5: three hops here; a longer route spares nothing."""
    for path, remains in (((5, 1, 2, FAR), 0), ((5, 1, 2, 3, FAR), 1)):
        node = Bench(Dsr, promiscuous=True)
        node.agent.cache.add((ME, FAR), 0)
        node.hear(request(5, FAR, 1), 1)
        (timer,) = node.timers
        overhear(node, data(*path, left=len(path) - 3), 1, 2)
        assert len(sent(node.fire(timer), RouteReply)) == remains


def test_a_path_that_is_learned_again_is_the_newest_and_one_without_a_way_is_refused() -> None:
    """Of two equal paths the newest is found; a path begins here and visits no node twice."""
    cache = RouteCache(ME, 9, 10 * SECOND)
    for via in (1, 2, 1):
        assert cache.add((ME, via, FAR), 0)
    assert cache.find(FAR, 0) == (ME, 1, FAR)
    assert [cache.add(path, 0) for path in ((ME,), (1, FAR), (ME, 1, 1), (ME, 1, ME))] == [False] * 4
    cache.remove_link(1, FAR)
    assert set(cache) == {(ME, 1), (ME, 2, FAR)}


def test_a_route_has_the_nodes_between_its_ends_and_a_salvaged_one_its_salvager() -> None:
    """Section 6.7: the salvager is the first address."""
    assert route_along((5, 4, 3, FAR)) == SourceRoute(0, 2, (4, 3))
    assert route_along((5, 4, 3, FAR), 1) == SourceRoute(1, 2, (5, 4, 3))


def test_identifications_have_sixteen_bits() -> None:
    """After the last one comes 0; the first is drawn."""
    assert max(Bench(Dsr, seed).agent._identification for seed in range(20)) < 1 << 16
    node = bench()
    node.agent._identification = 65535
    ((_, first),) = sent(node.handle(Publish(NEWS, (FAR,))), RouteRequest)
    assert first.identification == 0


def test_a_received_error_goes_with_the_next_propagating_request_alone() -> None:
    """Section 3.4.4: the one to the neighbours before it does not spread the error, and so does not end it."""
    for limit in (2, 255):
        node = bench(discovery_hop_limit=limit)
        node.hear(RouteError(4, ME, route_along((4, ME)), 1, 3), 4)
        actions = node.handle(Publish(NEWS, (FAR,)))
        for errors in ((BrokenLink(4, 3),), (BrokenLink(4, 3),), ()):
            ((_, asked),) = sent(actions, RouteRequest)
            assert asked.errors == errors
            actions = node.fire(RequestTimer(FAR))


def test_a_request_tells_of_broken_links() -> None:
    """Section 3.4.4: each receiver cuts its paths."""
    node = bench()
    node.agent.cache.add((ME, 4, 3), 0)
    node.hear(request(5, FAR, 1, errors=(BrokenLink(4, 3),)), 1)
    assert (ME, 4) in set(node.agent.cache)
    assert (ME, 4, 3) not in set(node.agent.cache)


def test_a_search_goes_on_after_a_freeze_and_a_second_packet_begins_none() -> None:
    """Timers may be gone; packets for one target share the search."""
    node = searching()
    assert not sent(node.handle(Publish(NEWS, (FAR,))), RouteRequest)
    node.timers.clear()
    node.handle(Recovered(), 5 * SECOND)
    assert node.timers[RequestTimer(FAR)] == 5 * SECOND + 500 * MILLISECOND


def test_a_search_that_has_ended_begins_anew_with_the_neighbours() -> None:
    """After a reply, and after all requests without one."""
    node = searching()
    node.hear(RouteReply(FAR, ME, route_along((FAR, 1, ME))._replace(segments_left=0), (1, FAR)), 1)
    node.agent.cache.remove_link(ME, 1)
    for _ in range(2):
        ((_, first),) = sent(node.handle(Publish(NEWS, (FAR,))), RouteRequest)
        assert first.hop_limit == 1
        while RequestTimer(FAR) in node.timers:
            node.fire(RequestTimer(FAR))


def test_a_request_teaches_the_way_back_and_a_reply_is_passed_along_its_route() -> None:
    """Sections 8.2.2 and 8.2.6."""
    node = bench()
    node.hear(request(5, FAR, 1), 1)
    assert set(node.agent.cache) == {(ME, 1, 5)}
    reply = RouteReply(FAR, 5, route_along((FAR, 2, ME, 1, 5))._replace(segments_left=2), (1, ME, 2, FAR))
    ((to, onward),) = sent(node.hear(reply, 2), RouteReply)
    assert (to, onward.route.segments_left) == (1, 1)


def test_a_source_is_informed_once_of_a_break_and_this_node_not_at_all() -> None:
    """An error that is not delivered is no news for anybody."""
    node = bench()
    own = data(ME, 3, FAR, left=1)
    lost = [data(5, 4, ME, 3, FAR, left=1), own, data(5, 4, ME, 3, FAR, left=1), data(6, ME, 3, FAR, left=1)]
    node.agent.lose_link(3, [*lost, RouteError(ME, 7, route_along((ME, 3, 7)), 1, 8)], 0)
    errors = sent(node.agent.take(), RouteError)
    assert [(to, error.destination, error.error_type) for to, error in errors] == [(4, 5, 1), (6, 6, 1)]


def test_a_neighbour_is_ignored_for_three_seconds() -> None:
    """The blacklist's time-out, to the instant."""
    node = bench()
    node.agent.lose_link(1, [RouteReply(FAR, 5, route_along((FAR, 2, ME, 1, 5)), (1, ME, 2, FAR))], 0)
    node.agent.take()
    assert not node.hear(request(5, FAR, 1), 1, 3 * SECOND - 1)
    assert sent(node.hear(request(5, FAR, 1, number=2), 1, 3 * SECOND), RouteRequest)


def test_a_packet_that_waits_too_long_for_a_route_is_dropped() -> None:
    """SendBufferTimeout; a full buffer drops the oldest."""
    node = bench(send_buffer_timeout=SECOND, send_buffer_size=1)
    node.handle(Publish(NEWS, (FAR,)))
    assert dropped(node.handle(Publish(NEWS, (8,)))) == ["send buffer full"]
    node.now = SECOND
    node.timers[RequestTimer(8)] = SECOND
    assert dropped(node.fire(RequestTimer(8))) == ["no route in time"]


def test_another_reply_that_waits_is_not_withdrawn() -> None:
    """A cached reply that has left at once spares nothing."""
    node = bench(promiscuous=True, broadcast_jitter=10 * MILLISECOND)
    node.agent.cache.add((ME, FAR), 0)
    node.hear(request(6, ME, 2), 2)
    (timer,) = node.timers
    assert sent(node.hear(request(5, FAR, 1), 1), RouteReply)
    overhear(node, data(5, 1, FAR, left=0), 1, FAR)
    assert sent(node.fire(timer), RouteReply)


@given(st.lists(st.lists(st.integers(0, 5), max_size=6)), st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5))))
def test_cached_paths_never_visit_a_node_twice(paths: list[list[int]], broken: list[tuple[int, int]]) -> None:
    """They begin here, and use no link that is known to be broken."""
    cache = RouteCache(ME, 9, SECOND)
    for path in paths:
        cache.add([ME, *path], 0)
    for link in broken:
        cache.remove_link(*link)
    for way in cache:
        assert way[0] == ME
        assert len(set(way)) == len(way) >= 2
        assert not set(broken) & set(pairwise(way))
