"""Gossip: everybody hears everything, and who has heard it from enough others does not repeat it."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roambus.python_protocol.actions import Action, CancelTimer, Deliver, Note, Send, SetTimer
from roambus.python_protocol.baselines import AssessmentTimer, Flood, Gossip, GossipParameters
from roambus.python_protocol.events import Crashed, Publish, Received, Subscribe, TimerFired
from roambus.python_protocol.filters import Filter, Notification, NotificationId
from roambus.python_protocol.roles import BROADCAST, Role
from roambus.python_protocol.settings import parse_parameters
from roambus.python_protocol.simtime import SECOND
from tests.support.graphs import connected_graphs
from tests.support.runs import Edges, of, publishing, run

NEWS = Notification(NotificationId(7, 1), (("topic", "news"),), 10)
TIMER = AssessmentTimer(NEWS.id)


def make(parameters: GossipParameters = GossipParameters()) -> Gossip:  # noqa: B008  # frozen
    return Gossip(0, Role.NONE, parameters, Random(1))


def receive(agent: Gossip, flood: Flood) -> list[Action]:
    return list(agent.handle(Received(3, flood, -70.0, 20.0), 0))


def time_up(agent: Gossip) -> list[Action]:
    return list(agent.handle(TimerFired(TIMER), SECOND))


def test_the_first_copy_is_assessed_for_a_random_time_and_then_repeated() -> None:
    """The timer runs at most for the assessment delay; the copy has one hop more and one to live less, once."""
    agent = make()
    (timer,) = receive(agent, Flood(5, 2, NEWS))
    assert isinstance(timer, SetTimer)
    assert timer.key == TIMER
    assert 0 < timer.after <= GossipParameters().assessment_delay
    assert time_up(agent) == [Send(BROADCAST, Flood(4, 3, NEWS))]
    assert time_up(agent) == []


@pytest.mark.parametrize("threshold", [2, 3, 4])
def test_who_has_heard_as_many_copies_as_the_threshold_keeps_silent(threshold: int) -> None:
    """One copy fewer still lets it repeat the first; that one makes it give up, and more change nothing."""
    agent = make(GossipParameters(counter_threshold=threshold))
    receive(agent, Flood(5, 2, NEWS))
    for _ in range(threshold - 2):
        assert receive(agent, Flood(5, 2, NEWS)) == []
    assert receive(agent, Flood(5, 2, NEWS)) == [CancelTimer(TIMER)]
    assert receive(agent, Flood(5, 2, NEWS)) == []
    assert time_up(agent) == []


def test_one_copy_below_the_threshold_is_repeated() -> None:
    """Two copies of three do not silence the node."""
    agent = make(GossipParameters(counter_threshold=3))
    receive(agent, Flood(5, 2, NEWS))
    receive(agent, Flood(5, 4, NEWS))
    assert time_up(agent) == [Send(BROADCAST, Flood(4, 3, NEWS))]


def test_copies_after_the_repetition_do_nothing() -> None:
    """What has been repeated is known, however often it comes again."""
    agent = make()
    receive(agent, Flood(5, 2, NEWS))
    time_up(agent)
    assert [receive(agent, Flood(5, 2, NEWS)) for _ in range(4)] == [[]] * 4
    assert time_up(agent) == []


def test_copies_of_different_notifications_are_counted_apart() -> None:
    """Three notifications, one copy of each: all are repeated."""
    agent = make()
    keys = [NotificationId(7, number) for number in range(3)]
    for key in keys:
        receive(agent, Flood(5, 0, Notification(key, ())))
    sent = [list(agent.handle(TimerFired(AssessmentTimer(key)), SECOND)) for key in keys]
    assert [len(actions) for actions in sent] == [1, 1, 1]


def test_the_last_hop_does_not_repeat() -> None:
    """A copy whose TTL is used up is not assessed."""
    assert receive(make(), Flood(1, 2, NEWS)) == []


def test_a_subscriber_gets_the_first_copy_at_once() -> None:
    """The assessment is about repeating, not about delivering; a second copy is not delivered."""
    agent = make()
    agent.handle(Subscribe(Filter()), 0)
    assert receive(agent, Flood(1, 2, NEWS)) == [Deliver(NEWS, 3)]
    assert receive(agent, Flood(1, 4, NEWS)) == []


def test_a_publisher_starts_at_once_and_does_not_repeat_what_comes_back() -> None:
    """The route note names every subscriber, the flood has the whole TTL; one's own flood is no first copy."""
    agent = make()
    route, send = agent.handle(Publish(NEWS, (2, 5)), 0)
    assert route == Note("route", notification_id="7.1", detail="2 5")
    assert send == Send(BROADCAST, Flood(35, 0, NEWS))
    assert receive(agent, Flood(34, 1, NEWS)) == []


def test_a_crash_loses_the_copies_that_wait_and_the_memory_but_not_the_filters() -> None:
    """Nothing is repeated afterwards; the same notification is new again, and delivered again."""
    agent = make()
    agent.handle(Subscribe(Filter()), 0)
    receive(agent, Flood(5, 0, NEWS))
    agent.handle(Crashed(), 0)
    assert time_up(agent) == []
    assert receive(agent, Flood(1, 0, NEWS)) == [Deliver(NEWS, 1)]


@given(connected_graphs(), st.integers(2, 5))
@settings(max_examples=30, deadline=None)
def test_nobody_sends_twice_and_with_few_neighbours_everybody_is_reached(
    graph: tuple[int, Edges], threshold: int
) -> None:
    """A threshold above the largest number of neighbours silences nobody: it is then flooding."""
    nodes, links = graph
    degrees = [sum(node in link for link in links) for node in range(nodes)]
    workload = publishing(0, range(nodes), start=0, until=SECOND)
    for counted in (threshold, max(degrees) + 2):
        rows = run(Gossip, nodes, links, workload, parameters={"counter_threshold": str(counted)})
        senders = [row["node"] for row in of(rows, "send")]
        delivered = sorted(row["node"] for row in of(rows, "deliver"))
        assert len(senders) == len(set(senders))
        assert len(delivered) == len(set(delivered))
    assert (sorted(senders), delivered) == (list(range(nodes)), list(range(nodes)))


def test_in_a_crowd_a_few_repeat() -> None:
    """Where everybody hears everybody, as many as the threshold send, the publisher among them."""
    nodes = 12
    links = [(number, other) for number in range(nodes) for other in range(number)]
    rows = run(Gossip, nodes, links, publishing(0, range(nodes), start=0, until=SECOND))
    assert len(of(rows, "deliver")) == nodes
    assert len(of(rows, "send")) == GossipParameters().counter_threshold


@pytest.mark.parametrize(
    ("name", "value"),
    [("ttl", "0"), ("ttl", "256"), ("counter_threshold", "1"), ("assessment_delay", "-1ms"), ("memory", "0")],
)
def test_values_that_make_no_sense_are_refused_by_name(name: str, value: str) -> None:
    """A bad value raises ValueError that names its parameter."""
    with pytest.raises(ValueError, match=f"parameter {name}"):
        parse_parameters(GossipParameters, {name: value})
