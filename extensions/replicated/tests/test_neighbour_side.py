"""What a broker does with what the brokers of a neighbouring site say, and what it sends them."""

from __future__ import annotations

from random import Random

from roambus.extensions.replicated import Replicated
from roambus.extensions.replicated import messages as m
from roambus.extensions.replicated.messages import (
    AreYouAlive,
    AssumedDead,
    IAmAlive,
    IAmLeader,
    Informed,
    Leader,
    Point,
    ReplicatedParameters,
    Yield,
)
from roambus.extensions.replicated.neighbours import WatchTimer
from roambus.extensions.replicated.tests.test_agent import EVENT, received, tell
from roambus.python_protocol.actions import CancelTimer, Send, SetTimer
from roambus.python_protocol.events import Started
from roambus.python_protocol.filters import Filter
from roambus.python_protocol.roles import NodeId, Role

HOME, NEIGHBOUR = (0, 1, 2), (5, 6, 7)
SITES = "a:0..2/3+4;b@a:5..7/8"
SENT_ON = m.Event(3, 1, hops=2, notification=EVENT.notification)


def broker(node: NodeId) -> Replicated:
    """One of the brokers 0, 1 and 2, whose neighbours are 5, 6 and 7."""
    made = Replicated(node, Role.BROKER, ReplicatedParameters(sites=SITES), Random(0))
    tell(made, Started())
    return made


def leader() -> Replicated:
    """The first leader, after the neighbouring site has subscribed to everything."""
    made = broker(0)
    tell(made, received(5, m.Sub(1, Filter())), received(1, Informed(Point(0, 1))))
    return made


def informed_of(step: int) -> object:
    """Another broker has taken this step."""
    return Informed(Point(0, step))


def test_who_is_asked_by_a_neighbour_says_that_it_is_alive() -> None:
    """It names the term that it knows of (section 6.4)."""
    assert tell(broker(1), received(5, AreYouAlive())) == [Send(5, IAmAlive(0))]


def test_a_neighbour_that_is_alive_gets_again_what_it_has_not_accepted() -> None:
    """Section 6.4: the message, or its reply, was lost perhaps."""
    agent = leader()
    tell(agent, received(3, EVENT))
    assert Send(5, SENT_ON) in tell(agent, received(1, informed_of(2)))
    assert tell(agent, received(5, IAmAlive(0))) == [Send(5, SENT_ON)]
    tell(agent, received(5, m.acceptance(EVENT)))
    assert tell(agent, received(5, IAmAlive(0))) == []


def test_nothing_goes_to_a_neighbours_new_leader_that_is_not_safe_yet() -> None:
    """What no other broker is informed of waits, whoever is to get it (section 6)."""
    agent = leader()
    tell(agent, received(3, EVENT))
    assert tell(agent, received(6, IAmLeader(1, Point(1, 1)))) == [Send(mate, Leader(6, 1)) for mate in (1, 2)]
    assert Send(6, SENT_ON) in tell(agent, received(1, informed_of(2)))


def test_who_leads_no_longer_waits_for_no_neighbour() -> None:
    """Only the leader of a site waits for its neighbours' replies (section 6.4)."""
    agent = leader()
    tell(agent, received(3, EVENT))
    timers = [action.key for action in agent.handle(received(1, informed_of(2)), 0) if isinstance(action, SetTimer)]
    assert timers == [WatchTimer(5, 1)]
    assert CancelTimer(WatchTimer(5, 1)) in list(agent.handle(received(2, Leader(1, 1)), 0))


def test_a_broker_learns_from_another_who_leads_the_neighbouring_site() -> None:
    """Section 6.9: as a leader it then sends to the new one."""
    agent = leader()
    assert tell(agent, received(1, Leader(6, 1))) == []
    tell(agent, received(3, EVENT))
    assert Send(6, SENT_ON) in tell(agent, received(1, informed_of(2)))


def test_whoever_has_reported_a_leader_is_told_who_leads_then() -> None:
    """The second to report one finds somebody who is taking over already, and is told like the first (section 6.8)."""
    agent = broker(1)
    tell(agent, received(6, AssumedDead(0)), received(7, AssumedDead(0)))
    sends_ = tell(agent, received(2, Yield(1, Point(0, 0), b"")))
    assert sends_ == [Send(other, IAmLeader(1, Point(0, 0))) for other in (0, 2, 5, 6, 7)]
