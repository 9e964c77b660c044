"""GPSR's positions of destinations: lessons, requests, replies and ages."""

from __future__ import annotations

from random import Random

import pytest

from roambus.extensions.routing.geographic import UNKNOWN, Beacon, Edge, Known, Perimeter, Point
from roambus.extensions.routing.gpsr import (
    LOCATION_TIMER,
    MOST_LOCATED,
    MOST_TARGETS,
    Gpsr,
    GpsrPacket,
    GpsrParameters,
    Located,
    LocationReply,
    LocationRequest,
)
from roambus.extensions.routing.tests.bench import ME, NEWS, Bench, dropped, sent
from roambus.python_protocol.actions import Action
from roambus.python_protocol.events import Crashed, Publish, Recovered
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.parts.unicast import UnicastTimer
from roambus.python_protocol.roles import BROADCAST, Role
from roambus.python_protocol.simtime import MILLISECOND, SECOND

FAR, OTHER, NEAR = 9, 8, 1
HERE, THERE = Point(0, 0), Point(50000, 0)


def node(**parameters: object) -> Bench:
    """A node at (0, 0) with one neighbour at (10, 0)."""
    made = Bench(Gpsr, **parameters)
    made.agent.position = (0.0, 0.0)
    made.hear(Beacon(Point(1000, 0)), NEAR)
    return made


def publish(of: Bench, *subscribers: int) -> list[Action]:
    """The actions after a publication for them, and after the timer of requests."""
    actions = of.handle(Publish(NEWS, subscribers))
    if of.timers.get(LOCATION_TIMER) == of.now:
        actions += of.fire(LOCATION_TIMER)
    return actions


def heard(of: Bench, message: Message, now: int | None = None) -> list[Action]:
    """The actions after a message of the neighbour, with those that were postponed."""
    actions = of.hear(message, NEAR, now)
    for key in [key for key in of.timers if isinstance(key, UnicastTimer)]:
        actions += of.fire(key)
    return actions


def answer(*located: Located, to: int = ME, ttl: int = 30) -> LocationReply:
    """A reply with positions, from the neighbour."""
    return LocationReply(2, ttl, FAR, to, Point(1000, 0), HERE, None, located)


def request(*targets: int, source: int = 7, number: int = 1, ttl: int = 5) -> LocationRequest:
    """A request of a node behind the neighbour."""
    return LocationRequest(ttl, source, number, Point(9000, 0), targets)


def test_one_request_asks_for_all_positions_and_packets_wait() -> None:
    """The answer releases those whose positions it has."""
    asking = node()
    actions = publish(asking, FAR, OTHER, NEAR)
    assert [packet.destination for _, packet in sent(actions, GpsrPacket)] == [NEAR]
    ((to, asked),) = sent(actions, LocationRequest)
    assert (to, asked.source, asked.targets, asked.position) == (BROADCAST, ME, (FAR, OTHER), HERE)
    ((to, packet),) = sent(asking.hear(answer(Located(FAR, THERE, 7)), NEAR), GpsrPacket)
    assert (to, packet.destination, packet.d, packet.age) == (NEAR, FAR, THERE, 7)
    assert [waiting.destination for waiting in asking.agent.queue] == [OTHER]
    assert sent(publish(asking, FAR), GpsrPacket)


def test_a_position_is_asked_for_three_times_with_growing_pauses() -> None:
    """Then its packets are dropped, and the next one begins again."""
    asking = node()
    publish(asking, FAR)
    times = []
    for _ in range(2):
        assert len(sent(asking.fire(LOCATION_TIMER), LocationRequest)) == 1
        times.append(asking.now)
    assert times == [SECOND, 3 * SECOND]
    assert asking.timers[LOCATION_TIMER] == 7 * SECOND
    actions = asking.fire(LOCATION_TIMER)
    assert (dropped(actions), sent(actions, LocationRequest)) == (["position unknown"], [])
    assert LOCATION_TIMER not in asking.timers
    assert sent(publish(asking, FAR), LocationRequest)


def test_no_target_is_asked_for_twice_at_once_and_no_request_follows_another_closely() -> None:
    """Later targets wait for the gap, and join."""
    asking = node(request_gap=200 * MILLISECOND)
    publish(asking, FAR)
    assert not sent(publish(asking, FAR), LocationRequest)
    asking.now = 50 * MILLISECOND
    publish(asking, OTHER, FAR, 6)
    assert asking.timers[LOCATION_TIMER] == 200 * MILLISECOND
    ((_, asked),) = sent(asking.fire(LOCATION_TIMER), LocationRequest)
    assert asked.targets == (OTHER, 6)
    assert asking.timers[LOCATION_TIMER] == SECOND


def test_more_targets_than_a_frame_has_wait_for_the_next_request() -> None:
    """Both messages fit 102 bytes, in perimeter mode as well."""
    asking = node(queue_limit=100)
    ((_, first),) = sent(publish(asking, *range(20, 20 + MOST_TARGETS + 2)), LocationRequest)
    ((_, second),) = sent(asking.fire(LOCATION_TIMER), LocationRequest)
    assert (len(first.targets), len(second.targets)) == (MOST_TARGETS, 2)
    assert len(first.encode()) <= 102 < len(first.replaced(targets=(*first.targets, 1)).encode())
    assert len({first.number, second.number}) == 2


def test_a_target_answers_to_the_position_in_the_request() -> None:
    """After a jitter; it passes on what others are asked for, once."""
    target = node()
    actions = heard(target, request(FAR, ME))
    ((to, reply),) = sent(actions, LocationReply)
    assert (to, reply.originator, reply.destination, reply.d) == (NEAR, ME, 7, Point(9000, 0))
    assert reply.located == (Located(ME, HERE, 0),)
    ((to, onward),) = sent(actions, LocationRequest)
    assert (to, onward.ttl, onward.targets) == (BROADCAST, 4, (FAR,))
    assert not heard(target, request(FAR, ME))
    assert not sent(heard(target, request(FAR, number=2, ttl=1)), LocationRequest)
    assert sent(heard(target, request(FAR, number=3, ttl=2)), LocationRequest)
    assert not heard(target, request(FAR, source=ME, number=4))


def test_whoever_knows_a_fresh_position_answers_with_its_age() -> None:
    """Until the position is too old the target need not be asked."""
    knows = node(location_timeout=3 * SECOND)
    heard(knows, answer(Located(FAR, THERE, 100), to=7), SECOND)
    actions = heard(knows, request(FAR), 1500 * MILLISECOND)
    assert sent(actions, LocationReply)[0][1].located == (Located(FAR, THERE, 150),)
    assert not sent(actions, LocationRequest)
    knows.hear(Beacon(Point(1000, 0)), NEAR, 3 * SECOND)
    actions = heard(knows, request(FAR, number=2), 3 * SECOND)
    assert not sent(actions, LocationReply)
    assert sent(actions, LocationRequest)


def test_only_the_target_answers_without_cached_replies() -> None:
    """As in GPSR without this addition."""
    knows = node(cached_replies=False)
    heard(knows, answer(Located(FAR, THERE, 0), to=7))
    actions = heard(knows, request(FAR, ME))
    assert sent(actions, LocationReply)[0][1].located == (Located(ME, HERE, 0),)
    assert sent(actions, LocationRequest)[0][1].targets == (FAR,)


def test_a_reply_fits_a_frame_and_the_request_goes_on_for_the_rest() -> None:
    """The own position is the first."""
    knows = node()
    everybody = range(20, 20 + MOST_LOCATED)
    heard(knows, answer(*(Located(far, THERE, 0) for far in everybody), to=7))
    actions = heard(knows, request(*everybody, ME))
    ((_, reply),) = sent(actions, LocationReply)
    assert [located.node for located in reply.located] == [ME, *everybody[:-1]]
    assert sent(actions, LocationRequest)[0][1].targets == (everybody[-1],)
    longest = reply.replaced(perimeter=Perimeter(HERE, HERE, Edge(1, 2)))
    assert len(longest.encode()) <= 102 < len(longest.replaced(located=(*reply.located, reply.located[0])).encode())


def test_requests_replies_packets_and_beacons_teach_positions() -> None:
    """Also those who pass them on, or are not meant."""
    for lesson, learned in (
        (request(FAR, source=5), 5),
        (answer(Located(5, THERE, 9), to=7), 5),
        (GpsrPacket(0, 35, 4, 5, NEWS, Point(1000, 0), THERE, None, 9), 5),
        (Beacon(Point(1000, 0)), NEAR),
    ):
        asking = node()
        heard(asking, lesson)
        assert sent(publish(asking, learned), GpsrPacket), lesson
        asking = node()
        publish(asking, learned)
        assert sent(heard(asking, lesson), GpsrPacket) or learned == NEAR, lesson


def test_a_reply_teaches_where_its_last_sender_is() -> None:
    """In place of a beacon (section 2.4)."""
    hearing = node()
    heard(hearing, answer(Located(5, THERE, 9), to=ME).replaced(position=Point(1234, 5)))
    assert hearing.agent.neighbors[NEAR].place == (12.34, 0.05)


def test_an_older_position_replaces_no_newer_one() -> None:
    """And none is used beyond its time, counted from when its node was there."""
    asking = node(location_timeout=2 * SECOND)
    heard(asking, answer(Located(FAR, THERE, 50)), SECOND)
    heard(asking, answer(Located(FAR, HERE, 51)), SECOND)
    assert asking.agent.located[FAR].place == THERE.place
    asking.hear(Beacon(Point(1000, 0)), NEAR, 2 * SECOND)
    asking.now = 2499 * MILLISECOND
    assert [packet.age for _, packet in sent(publish(asking, FAR), GpsrPacket)] == [200]
    asking.now = 2500 * MILLISECOND
    assert not sent(publish(asking, FAR), GpsrPacket)
    publish(asking, OTHER)
    assert not sent(heard(asking, answer(Located(OTHER, THERE, 200)), 2500 * MILLISECOND), GpsrPacket)


def test_an_oracle_tells_the_positions_of_subscribers() -> None:
    """As the paper's simulations did; nothing is asked for."""
    told = node(positions="oracle")
    actions = told.handle(Publish(NEWS, (FAR, OTHER), ((500.0, 0.0), (0.0, 70.25))))
    assert [(packet.destination, packet.d) for _, packet in sent(actions, GpsrPacket)] == [
        (FAR, THERE),
        (OTHER, Point(0, 7025)),
    ]
    assert LOCATION_TIMER not in told.timers


def test_requests_go_on_after_a_freeze_and_end_with_a_crash() -> None:
    """A frozen node has lost its timers, a crashed one its packets, too."""
    asking = node()
    publish(asking, FAR)
    del asking.timers[LOCATION_TIMER]
    asking.handle(Recovered(), 5 * SECOND)
    assert sent(asking.fire(LOCATION_TIMER), LocationRequest)
    assert dropped(asking.handle(Crashed())) == ["crash"]
    asking.timers.clear()
    asking.handle(Recovered())
    assert LOCATION_TIMER not in asking.timers


def test_numbers_of_requests_go_on_elsewhere_after_a_crash() -> None:
    """Neighbours that remember the first ones hear the later ones, too."""
    asking, other = node(), node()
    ((_, first),) = sent(publish(asking, FAR), LocationRequest)
    assert heard(other, first.replaced(source=7))
    asking.handle(Crashed())
    asking.handle(Recovered())
    ((_, second),) = sent(publish(asking, FAR), LocationRequest)
    assert second.number != first.number
    assert heard(other, second.replaced(source=7))


def test_a_packet_waits_for_a_position_only_so_long() -> None:
    """And only so many do."""
    asking = node(queue_limit=2, queue_timeout=SECOND)
    publish(asking, FAR)
    assert dropped(publish(asking, FAR, FAR)) == ["queue full"]
    assert dropped(asking.fire(LOCATION_TIMER)) == ["no position in time"] * 2


def test_an_oracle_names_every_subscribers_position() -> None:
    """The class asks the host for them."""
    assert Gpsr.oracle_positions
    with pytest.raises(ValueError, match="zip"):
        node(positions="oracle").handle(Publish(NEWS, (FAR,)))


def test_a_packet_is_made_without_positions() -> None:
    """Its age and hops begin at 0."""
    assert node().agent.packet(FAR, NEWS) == GpsrPacket(0, 35, ME, FAR, NEWS, UNKNOWN, UNKNOWN, None, 0)


def test_numbers_of_requests_go_on_with_0_after_the_greatest() -> None:
    """They have 16 bits, and the first is any of them."""
    asking = node()
    asking.agent._number = 65535
    ((_, asked),) = sent(publish(asking, FAR), LocationRequest)
    assert asked.number == 0
    assert asked.encode()
    firsts = {Gpsr(ME, Role.NONE, GpsrParameters(), Random(seed))._number for seed in range(99)}
    assert (min(firsts) < 2000, 63000 < max(firsts) < 65536) == (True, True)


def test_a_position_in_a_packet_is_as_old_as_it_says() -> None:
    """Its age counts from when the node was there."""
    relay = node()
    heard(relay, GpsrPacket(0, 35, 4, 5, NEWS, Point(1000, 0), THERE, None, 100), 3 * SECOND)
    assert relay.agent.located[5] == Known((500.0, 0.0), 2 * SECOND)
    heard(relay, GpsrPacket(0, 35, 4, 5, NEWS, Point(1000, 0), HERE, None, 100), 3 * SECOND)
    assert relay.agent.located[5].place == (500.0, 0.0)


def test_a_position_that_is_known_is_asked_for_no_more() -> None:
    """The timer finds nothing to ask."""
    asking = node()
    publish(asking, FAR)
    heard(asking, answer(Located(FAR, THERE, 0)))
    assert asking.fire(LOCATION_TIMER) == []
    assert LOCATION_TIMER not in asking.timers


def test_a_packet_at_its_source_has_a_way_if_its_position_is_to_be_asked_for() -> None:
    """One whose position is known waits for a next hop."""
    source = node(wait_at="source", perimeter=False)
    source.agent.waiting.add(source.agent.packet(FAR, NEWS), 0)
    assert source.agent.has_way(FAR, 0)
    source.agent.located[FAR] = Known((-500.0, 0.0), 0)
    assert not source.agent.has_way(FAR, 0)


def test_a_reply_waits_for_a_jitter_and_counts_its_hops() -> None:
    """Several nodes may know a position."""
    target = node(broadcast_jitter=10 * MILLISECOND)
    actions = target.hear(request(ME), NEAR)
    assert not sent(actions, LocationReply)
    (key,) = (key for key in target.timers if isinstance(key, UnicastTimer))
    assert 0 < target.timers[key] <= 10 * MILLISECOND
    assert sent(target.fire(key), LocationReply)[0][1].hop_count == 0


def test_a_node_that_does_not_know_where_it_is_says_no_place() -> None:
    """It passes packets and replies on to neighbours that they are for, which learn nothing false of it."""
    lost = node()
    lost.agent.position = None
    ((_, packet),) = sent(lost.hear(GpsrPacket(0, 35, 4, NEAR, NEWS, UNKNOWN, THERE, None, 0), 6), GpsrPacket)
    assert packet.position == UNKNOWN
    assert Gpsr.messages.decode(packet.encode()) == packet
    neighbour = node()
    neighbour.hear(packet.replaced(destination=FAR), 6)
    assert 6 not in neighbour.agent.located
    assert 6 not in neighbour.agent.neighbors


def test_a_node_without_a_position_asks_and_answers_nothing() -> None:
    """It passes requests on."""
    lost = node()
    lost.agent.position = None
    assert not sent(publish(lost, FAR), LocationRequest)
    actions = heard(lost, request(ME, NEAR))
    assert not sent(actions, LocationReply)
    assert dropped(lost.fire(LOCATION_TIMER)) == []


def test_a_reply_is_passed_on_while_it_lives() -> None:
    """By position; at its end it goes no farther."""
    relay = node()
    relay.hear(Beacon(Point(-1000, 0)), 7)
    ((to, onward),) = sent(relay.hear(answer(Located(FAR, THERE, 0), to=7, ttl=2), NEAR), LocationReply)
    assert (to, onward.hop_count, onward.ttl) == (7, 3, 1)
    assert not sent(relay.hear(answer(Located(FAR, THERE, 0), to=7, ttl=1), NEAR), LocationReply)
