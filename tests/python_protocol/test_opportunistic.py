"""Opportunistic routing: notifications are carried, and handed over where nodes meet."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roambus.bridge.scenario.plans import LinkChange
from roambus.python_protocol.actions import Deliver, Send
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.events import Publish, Received, Subscribe
from roambus.python_protocol.filters import Filter, Notification, NotificationId, parse_filter
from roambus.python_protocol.opportunistic import (
    Carried,
    Chance,
    ChanceHello,
    Epidemic,
    Hello,
    Named,
    Prophet,
    ProphetParameters,
    Request,
    SprayAndWait,
    SprayParameters,
)
from roambus.python_protocol.settings import Parameters
from roambus.python_protocol.vocabulary import SECOND, NodeId, Role, SimTime
from tests.support.runs import of, publishing, run

NEWS = Notification(NotificationId(7, 1), (("topic", "news"),), 10)
CARRIERS: tuple[type[Agent], ...] = (Epidemic, SprayAndWait, Prophet)


def make(kind: type[Agent], parameters: Parameters | None = None) -> Agent:
    return kind(0, Role.NONE, parameters or kind.parameters_type(), Random(1))


def hear(agent: Agent, message: object, sender: NodeId = 3, now: SimTime = 0) -> list[object]:
    return list(agent.handle(Received(sender, message, -70.0, 20.0), now))  # type: ignore[arg-type]  # any message


@pytest.mark.parametrize("kind", CARRIERS)
def test_a_carrier_brings_it_to_where_no_link_leads(kind: type[Agent]) -> None:
    """0 and 2 never meet, and 1 meets first the one and then the other."""
    changes = [LinkChange(12 * SECOND, 0, 1, up=False), LinkChange(15 * SECOND, 1, 2, up=True)]
    if kind is Prophet:  # which has to have met the receiver before it is given anything for it
        changes = [LinkChange(2 * SECOND, 1, 2, up=True), LinkChange(4 * SECOND, 1, 2, up=False), *changes]
    workload = publishing(0, [2], start=6 * SECOND, until=9 * SECOND)
    rows = run(kind, 3, [(0, 1)], workload, changes=changes, time_limit=25 * SECOND)
    delivered = of(rows, "deliver")
    assert len({row["notification_id"] for row in delivered}) == len(delivered) == 3
    assert {row["hops"] for row in delivered} == {2}
    assert all(float(str(row["time_s"])) > 15 for row in delivered)


@given(st.sets(st.integers(0, 70_000), max_size=12))
def test_only_what_was_never_here_is_asked_for(numbers: set[int]) -> None:
    """Whoever has had it, and lost it from a full buffer, does not ask again."""
    agent = make(Epidemic)
    hear(agent, Carried(1, 1, (), NEWS))
    names = tuple(Named.of(NotificationId(7, number)) for number in sorted(numbers))
    sent = [one for one in hear(agent, Hello(names)) if isinstance(one, Send)]
    asked = [name.id.sequence for one in sent if isinstance(one.message, Request) for name in one.message.wanted]
    assert asked == sorted(numbers - {1})


def test_half_of_the_copies_go_to_whom_one_meets() -> None:
    """Of 5 copies 2, then of 3 one, then of 2 one; the last one stays until a subscriber comes."""
    agent = make(SprayAndWait, SprayParameters(copies=5))
    agent.handle(Publish(NEWS), 0)
    ask = Request((Named.of(NEWS.id),), (parse_filter("topic = 'sport'"),))
    given_away = [one.message for _ in range(4) for one in hear(agent, ask) if isinstance(one, Send)]
    assert [one.copies for one in given_away if isinstance(one, Carried)] == [2, 1, 1]
    (last,) = hear(agent, Request((Named.of(NEWS.id),), (Filter(),)))
    assert isinstance(last, Send)
    assert isinstance(last.message, Carried)


def test_a_full_buffer_drops_the_oldest() -> None:
    """The trace says so."""
    agent = make(SprayAndWait, SprayParameters(buffer=2))
    for number in range(2):
        agent.handle(Publish(Notification(NotificationId(0, number), ())), 0)
    (_, drop) = agent.handle(Publish(Notification(NotificationId(0, 2), ())), 0)
    assert "buffer full" in str(drop)
    assert "0.0" in str(drop)


def chances(agent: Agent) -> dict[NodeId, float]:
    assert isinstance(agent, Prophet)
    return agent._chances


def test_the_probability_to_meet_grows_ages_and_is_passed_on() -> None:
    """RFC 6693, section 2.1.2: 0.5 first; then 0.5 + (1 - 0.01 - 0.5) 0.7 = 0.843; what 3 tells counts 0.9 of that."""
    agent = make(Prophet)
    hear(agent, ChanceHello((), ()))
    assert chances(agent)[3] == 0.5
    parted = 100 * SECOND
    list(agent.handle(Subscribe(Filter()), parted))
    agent._heard.clear()  # type: ignore[attr-defined]  # as after hellos that were missed
    hear(agent, ChanceHello((), (Chance(9, 65535),)), now=parted)
    aged = 0.5 * 0.999**100
    assert chances(agent)[3] == pytest.approx(aged + (1 - 0.01 - aged) * 0.7)
    assert chances(agent)[9] == pytest.approx(chances(agent)[3] * 0.9)


def test_a_notification_goes_to_who_is_likelier_to_meet_its_receiver() -> None:
    """And not to who is less likely; nobody is given the same again before some hellos."""
    agent = make(Prophet, ProphetParameters())
    agent.handle(Publish(NEWS, (9,)), 0)
    assert hear(agent, ChanceHello((), ())) == []
    (handed,) = hear(agent, ChanceHello((), (Chance(9, 60000),)), sender=4)
    assert isinstance(handed, Send)
    assert handed.destination == 4
    assert hear(agent, ChanceHello((), (Chance(9, 60000),)), sender=4) == []
    assert len(hear(agent, ChanceHello((), (Chance(9, 60000),)), sender=4, now=10 * SECOND)) == 1


def test_what_comes_again_is_delivered_once() -> None:
    """Two carriers bring the same."""
    agent = make(Epidemic)
    agent.handle(Subscribe(Filter()), 0)
    told = [one for sender in (3, 4) for one in hear(agent, Carried(1, 2, (), NEWS), sender)]
    assert told == [Deliver(NEWS, 2)]
