"""What a node does with its site, a freeze, and mistakes of its user."""

from __future__ import annotations

import re
from copy import deepcopy
from dataclasses import replace
from random import Random

import pytest

from roambus.bridge.host.agents import make_agents
from roambus.bridge.system.errors import UserError
from roambus.extensions.replicated import Replicated
from roambus.extensions.replicated import messages as m
from roambus.extensions.replicated.messages import (
    AreYouAlive,
    AssumedDead,
    CatchUp,
    IAmAlive,
    IAmLeader,
    Inform,
    Informed,
    Point,
    ReplicatedParameters,
    State,
    Yield,
)
from roambus.extensions.replicated.neighbours import WatchTimer
from roambus.python_protocol.actions import Deliver, Send, SetTimer
from roambus.python_protocol.events import (
    Crashed,
    Event,
    Publish,
    Received,
    Recovered,
    Started,
    Stopped,
    Subscribe,
    TimerFired,
    Unsubscribe,
)
from roambus.python_protocol.filters import Filter, Notification, NotificationId, addressed_to
from roambus.python_protocol.roles import NodeId, Role
from roambus.python_protocol.settings import parse_parameters
from tests.support.scenarios import scenario

SITES = "a:0..2/3+4"
EVENT = m.Event(3, 1, hops=1, notification=Notification(NotificationId(3, 0), (("topic", 1),)))


def agent(node: NodeId) -> Replicated:
    """In a site of brokers 0, 1, 2 and clients 3 and 4."""
    roles = Role.BROKER if node < 3 else Role.SUBSCRIBER
    made = Replicated(node, roles, ReplicatedParameters(sites=SITES), Random(0))
    tell(made, Started())
    return made


def tell(participant: Replicated, *events: Event) -> list[Send]:
    """What is sent, in order."""
    return [action for event in events for action in participant.handle(event, 0) if isinstance(action, Send)]


def received(sender: NodeId, message: object) -> Received:
    return Received(sender, message, -50.0, 50.0)  # type: ignore[arg-type]  # a message of any kind


def copy_of(leader: Replicated) -> State:
    """What a leader answers to a broker that asks it for a copy."""
    (copy,) = (send.message for send in tell(leader, received(2, CatchUp())) if isinstance(send.message, State))
    return copy


def test_a_thawed_node_looks_at_new_leaders_first_then_control_then_events() -> None:
    """Section 6.3: it is told that it leads no longer, is informed of the event, and only then finds the event."""
    old_leader = agent(0)
    tell(old_leader, Stopped())
    assert list(old_leader.handle(Recovered(), 0)) == [SetTimer("wake", 0)]
    waited = (AreYouAlive(), EVENT), (Inform(Point(1, 1), 3, EVENT),), (IAmLeader(1, Point(0, 0)),)
    senders = (3, 3), (1,), (1,)
    for group, its in zip(waited, senders, strict=True):
        assert not tell(old_leader, *(received(sender, message) for sender, message in zip(its, group, strict=True)))
    assert tell(old_leader, TimerFired("wake")) == [
        Send(1, Informed(Point(1, 0))),
        Send(1, Informed(Point(1, 1))),
        Send(3, IAmAlive(1)),
        Send(3, m.acceptance(EVENT)),
    ]


def test_a_broker_that_has_crashed_says_nothing_until_it_has_a_copy() -> None:
    """It asks both others for one, and answers nobody before one of them has sent it."""
    broker = agent(2)
    tell(broker, Crashed())
    assert [send.destination for send in tell(broker, Recovered())] == [0, 1]
    assert tell(broker, received(3, EVENT), received(3, AreYouAlive())) == []


def test_a_copy_of_an_earlier_term_is_no_copy() -> None:
    """What has come since the crash waits for the copy of the leader that the broker has heard of."""
    broker, old, new = agent(2), agent(0), agent(1)
    tell(broker, Crashed(), Recovered(), received(3, EVENT))
    tell(new, received(3, AssumedDead(0)), received(0, Yield(1, Point(0, 0), b"")))
    assert tell(broker, received(1, IAmLeader(1, Point(0, 0)))) == [Send(1, CatchUp())]
    assert tell(broker, received(0, copy_of(old))) == []
    assert tell(broker, received(1, copy_of(new)))[-1] == Send(3, m.acceptance(EVENT))


def test_a_freeze_at_the_instant_of_a_thaw_loses_nothing() -> None:
    """What has waited for the first thaw waits for the second."""
    client = agent(4)
    tell(client, Stopped(), Recovered(), received(1, EVENT), Stopped(), Recovered())
    assert Deliver(EVENT.notification, 1) in list(client.handle(TimerFired("wake"), 0))


def test_a_thawed_node_suspects_nobody_whose_answer_has_waited() -> None:
    """A time-out that has passed during the freeze is over once the replies that came meanwhile are looked at."""
    client = agent(3)
    tell(client, Publish(EVENT.notification))
    assert tell(client, TimerFired(WatchTimer(2, 1))) == [Send(2, AreYouAlive())]
    tell(client, Stopped(), Recovered(), TimerFired(WatchTimer(2, 2)), received(2, m.acceptance(EVENT)))
    assert tell(client, TimerFired("wake")) == []


def test_a_subscriber_gets_an_event_once_and_replies_to_each_copy() -> None:
    """A new leader sends what it does not know to be accepted."""
    subscriber = agent(4)
    copies = [action for _ in range(2) for action in subscriber.handle(received(1, EVENT), 0)]
    assert [action for action in copies if isinstance(action, Deliver)] == [Deliver(EVENT.notification, 1)]
    assert copies.count(Send(0, m.acceptance(EVENT))) == 2


def delivered(subscriber: Replicated, *events: m.Event) -> list[str]:
    """The notifications that are delivered, in order."""
    actions = [action for received_event in events for action in subscriber.handle(received(0, received_event), 0)]
    return [str(action.notification.id) for action in actions if isinstance(action, Deliver)]


def numbered(number: int, sequence: int) -> m.Event:
    """A notification of node 3 under a number of its stream."""
    return replace(EVENT, number=number, notification=Notification(NotificationId(3, sequence), ()))


def test_an_event_that_comes_again_under_another_number_is_delivered_once() -> None:
    """A leader that has lost its copy numbers anew; the number counts, and the next event is not waited for."""
    assert delivered(agent(4), numbered(1, 0), numbered(2, 0), numbered(3, 1)) == ["3.0", "3.1"]


def test_another_event_under_a_used_number_is_delivered() -> None:
    """The leader did not know that the number was used; what waits for its turn waits on, and comes once."""
    assert delivered(agent(4), numbered(1, 0), numbered(1, 1), numbered(2, 2)) == ["3.0", "3.1", "3.2"]
    assert delivered(agent(4), numbered(2, 1), numbered(2, 1), numbered(1, 0)) == ["3.0", "3.1"]


def test_what_is_subscribed_to_is_subscribed_to_once() -> None:
    """Neither a second subscription nor an unsubscription from something else is told to the brokers (section 2)."""
    subscriber = agent(4)
    assert len(tell(subscriber, Subscribe(Filter()), Subscribe(Filter()))) == 3
    assert tell(subscriber, Unsubscribe(addressed_to(4))) == []
    assert len(tell(subscriber, Unsubscribe(Filter()), Unsubscribe(Filter()))) == 3


@pytest.mark.parametrize("command", [Subscribe(Filter()), Unsubscribe(Filter()), Publish(EVENT.notification)])
def test_a_broker_has_no_client(command: Event) -> None:
    """A command to the application on a broker's node is a mistake, and is not ignored (section 2)."""
    with pytest.raises(LookupError, match="node 0 is a broker, and has no client"):
        tell(agent(0), command)


def test_a_copy_of_an_agent_acts_for_itself() -> None:
    """An agent is plain data: its copy collects its own actions, and the parts of the copy collect them with it."""
    subscriber = agent(4)
    copied = deepcopy(subscriber)
    assert tell(copied, Subscribe(Filter())) == tell(subscriber, Subscribe(Filter()))
    assert list(copied.handle(Subscribe(Filter()), 0)) == []


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("routing", "fast", "parameter routing: fast is not known here: it must be flooding or filtering"),
        ("order", "fido", "parameter order: fido is not known here: it must be none, fifo or total"),
        ("time_out", "0s", "parameter time_out: 0s is out of range: it must be above 0s"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(name: str, value: str, problem: str) -> None:
    """The message names the parameter, the value and what it can be."""
    with pytest.raises(ValueError, match=problem):
        parse_parameters(ReplicatedParameters, {name: value})


@pytest.mark.parametrize(
    ("sites", "problem"),
    [
        ("", "parameter sites: '' is not a site; write them as in a:0..2/6;b@a:3..5/7+8"),
        ("a:0..2/4", "parameter sites: node 3 is in no site"),
        ("a:0+1+3/2+4", "parameter sites: node 2 is a client of a site, so it cannot have the role broker"),
        ("a:0..2;b@a:3..5", "parameter sites: node 3 is a broker of a site: its role must be broker"),
    ],
)
def test_sites_that_do_not_fit_the_scenario_are_refused(sites: str, problem: str) -> None:
    """The message names the parameter and the node, and comes before anything runs."""
    roles = [Role.BROKER] * 3 + [Role.SUBSCRIBER] * 2
    with pytest.raises(UserError, match=f"^agent Replicated: .*{re.escape(problem)}"):
        make_agents(replace(scenario(roles), agent_parameters={"sites": sites}), Replicated)
