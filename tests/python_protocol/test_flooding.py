"""Flooding: everybody hears everything, everybody repeats it once."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roambus.python_protocol.actions import Action, Deliver, Note, Send
from roambus.python_protocol.baselines import Flood, Flooding, FloodingParameters
from roambus.python_protocol.events import Crashed, Publish, Received, Subscribe, Unsubscribe
from roambus.python_protocol.filters import Filter, Notification, NotificationId, parse_filter
from roambus.python_protocol.roles import BROADCAST, Role
from roambus.python_protocol.settings import parse_parameters
from roambus.python_protocol.simtime import SECOND
from tests.support.graphs import connected_graphs
from tests.support.runs import Edges, distances, of, publishing, run

NEWS = Notification(NotificationId(7, 1), (("topic", "news"),), 10)


def make(parameters: FloodingParameters = FloodingParameters()) -> Flooding:  # noqa: B008  # frozen
    return Flooding(0, Role.NONE, parameters, Random(1))


def receive(agent: Flooding, flood: Flood) -> list[Action]:
    return list(agent.handle(Received(3, flood, -70.0, 20.0), 0))


@given(st.integers(0, 255), st.integers(0, 255), st.integers(0, 100))
def test_a_flood_decodes_to_itself(ttl: int, hops: int, payload: int) -> None:
    """The bytes hold the whole message."""
    flood = Flood(ttl, hops, Notification(NotificationId(3, 4), (("x", 1),), payload))
    assert Flooding.messages.decode(flood.encode()) == flood


def test_the_bytes_of_a_flood() -> None:
    """Tag, TTL, hop count, and the notification, a byte each but for that."""
    flood = Flood(5, 2, Notification(NotificationId(3, 4), (("x", 1),), 2))
    assert flood.encode() == bytes.fromhex("02050200030000000401017800000000000000000100020000")


def test_the_first_copy_is_repeated_once_after_a_jitter() -> None:
    """A copy waits, then goes on with one hop more and one to live less; a second copy does nothing."""
    agent = make()
    (copy,) = receive(agent, Flood(5, 2, NEWS))
    assert isinstance(copy, Send)
    assert copy == Send(BROADCAST, Flood(4, 3, NEWS), copy.after)
    assert 0 < copy.after <= FloodingParameters().jitter
    assert receive(agent, Flood(5, 2, NEWS)) == []


def test_the_last_hop_does_not_repeat() -> None:
    """A flood whose TTL is used up stops."""
    assert receive(make(), Flood(1, 2, NEWS)) == []


def test_a_matching_filter_delivers_the_first_copy_with_its_hops() -> None:
    """The subscriber gets a notification once, however many of its filters match."""
    agent = make()
    for text in ("topic = 'news'", "all"):
        agent.handle(Subscribe(parse_filter(text)), 0)
    assert receive(agent, Flood(1, 2, NEWS)) == [Deliver(NEWS, 3)]
    assert receive(agent, Flood(1, 4, NEWS)) == []


def test_nothing_is_delivered_without_a_matching_filter() -> None:
    """Other topics, and filters taken back, deliver nothing."""
    agent = make()
    agent.handle(Subscribe(parse_filter("topic = 'sports'")), 0)
    agent.handle(Subscribe(Filter()), 0)
    agent.handle(Unsubscribe(Filter()), 0)
    assert receive(agent, Flood(1, 2, NEWS)) == []


def test_a_publisher_takes_on_every_subscriber_named() -> None:
    """The route note lists them, and the flood starts with the whole TTL."""
    route, send = make().handle(Publish(NEWS, (2, 5)), 0)
    assert route == Note("route", notification_id="7.1", detail="2 5")
    assert send == Send(BROADCAST, Flood(35, 0, NEWS))


def test_a_publisher_that_subscribes_gets_its_own_notification() -> None:
    """Zero hops from itself; its own flood coming back is a duplicate."""
    agent = make()
    agent.handle(Subscribe(Filter()), 0)
    assert Deliver(NEWS, 0) in list(agent.handle(Publish(NEWS, (0,)), 0))
    assert receive(agent, Flood(5, 1, NEWS)) == []


def test_the_oldest_notification_is_forgotten_when_the_memory_is_full() -> None:
    """With a memory of one, a copy of the last but one counts as new."""
    agent = make(FloodingParameters(memory=1))
    agent.handle(Subscribe(Filter()), 0)
    other = Notification(NotificationId(7, 2), ())
    deliveries = [receive(agent, Flood(1, 0, entry)) for entry in (NEWS, other, NEWS)]
    assert deliveries == [[Deliver(NEWS, 1)], [Deliver(other, 1)], [Deliver(NEWS, 1)]]


def test_a_crash_loses_the_memory_but_not_the_filters() -> None:
    """What was seen is new again, the application is still subscribed."""
    agent = make()
    agent.handle(Subscribe(Filter()), 0)
    receive(agent, Flood(5, 0, NEWS))
    agent.handle(Crashed(), 0)
    assert receive(agent, Flood(1, 0, NEWS)) == [Deliver(NEWS, 1)]


@given(connected_graphs())
@settings(max_examples=30, deadline=None)
def test_every_node_of_a_connected_graph_gets_it_at_the_cost_of_one_send_each(graph: tuple[int, Edges]) -> None:
    """All subscribers are reached, none in fewer hops than there are on the way, and each node sends once."""
    nodes, links = graph
    rows = run(Flooding, nodes, links, publishing(0, range(nodes), start=0, until=SECOND))
    delivered = {row["node"]: row["hops"] for row in of(rows, "deliver")}
    assert sorted(delivered) == list(range(nodes))
    assert all(delivered[node] >= (distance or 0) for node, distance in enumerate(distances(nodes, links, 0)))
    assert sorted(row["node"] for row in of(rows, "send")) == list(range(nodes))


@pytest.mark.parametrize(("name", "value"), [("ttl", "0"), ("ttl", "256"), ("jitter", "-1ms"), ("memory", "0")])
def test_values_that_make_no_sense_are_refused_by_name(name: str, value: str) -> None:
    """A bad value raises ValueError that names its parameter."""
    with pytest.raises(ValueError, match=f"parameter {name}"):
        parse_parameters(FloodingParameters, {name: value})
