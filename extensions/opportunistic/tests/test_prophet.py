"""PRoPHET: delivery predictabilities, and the offers and responses by which notifications are handed over."""

import pytest

from roambus.extensions.opportunistic import Prophet
from roambus.extensions.opportunistic.carrier import Carried, Named
from roambus.extensions.opportunistic.prophet import Chance, ChanceHello, Offer, ProphetParameters, Response
from roambus.extensions.opportunistic.tests.carriers import NEWS, hear, make, sent
from roambus.python_protocol.actions import Send
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.events import Publish, Subscribe, TimerFired
from roambus.python_protocol.filters import Filter, Notification, NotificationId
from roambus.python_protocol.roles import BROADCAST, NodeId
from roambus.python_protocol.simtime import SECOND, SimTime

NAME = Named.of(NEWS.id)
LIKELY = ChanceHello((Chance(9, 60000),))


def carrying(receivers: tuple[NodeId, ...], parameters: ProphetParameters | None = None) -> Agent:
    agent = make(Prophet, parameters)
    agent.handle(Publish(NEWS, receivers), 0)
    return agent


def chances(agent: Agent) -> dict[NodeId, float]:
    assert isinstance(agent, Prophet)
    return agent._chances


def said(agent: Agent, now: SimTime) -> dict[NodeId, float]:
    """The probabilities in the next hello."""
    actions = agent.handle(TimerFired("hello"), now)
    (hello,) = [action.message for action in actions if isinstance(action, Send) and action.destination == BROADCAST]
    assert isinstance(hello, ChanceHello)
    return {chance.node: chance.probability / 65535 for chance in hello.chances}


def test_the_probability_to_meet_grows_ages_and_is_passed_on() -> None:
    """RFC 6693, section 2.1.2: 0.5 first; then 0.5 + (1 - 0.01 - 0.5) 0.7 = 0.843; what 3 tells counts 0.9 of that."""
    agent = make(Prophet)
    hear(agent, ChanceHello(()))
    assert chances(agent)[3] == 0.5
    parted = 100 * SECOND
    list(agent.handle(Subscribe(Filter()), parted))
    agent._heard.clear()  # type: ignore[attr-defined]  # as after hellos that were missed
    hear(agent, ChanceHello((Chance(9, 65535),)), now=parted)
    aged = 0.5 * 0.999**100
    assert chances(agent)[3] == pytest.approx(aged + (1 - 0.01 - aged) * 0.7)
    assert chances(agent)[9] == pytest.approx(chances(agent)[3] * 0.9)


def test_hellos_have_aged_probabilities() -> None:
    """Equation 2: 0.5 after an encounter, and 0.5 * 0.999^1530 = 0.108 after 1,530 s without another one."""
    agent = make(Prophet)
    hear(agent, ChanceHello(()))
    assert said(agent, 0)[3] == pytest.approx(0.5, abs=1e-4)
    assert said(agent, 1530 * SECOND)[3] == pytest.approx(0.108, abs=5e-4)


def test_probabilities_for_which_a_hello_has_no_room_take_turns() -> None:
    """Three of them, two in each hello: the likeliest come first."""
    agent = make(Prophet, ProphetParameters(told=2))
    for sender, probability in ((3, 0), (4, 0), (5, 65535)):
        hear(agent, ChanceHello((Chance(9, probability),)), sender)
    assert [sorted(said(agent, 0)) for _ in range(3)] == [[3, 4], [5, 9], [3, 4]]


def test_a_notification_is_offered_to_who_is_likelier_to_meet_its_receiver() -> None:
    """And to the receiver itself, but to no neighbour that is less likely."""
    agent = carrying((9,))
    assert sent(agent, ChanceHello(())) == []
    assert sent(agent, LIKELY, sender=4) == [Offer((NAME,))]
    assert sent(agent, ChanceHello(()), sender=9) == [Offer((NAME,))]


def test_equal_probabilities_are_no_reason_to_hand_over() -> None:
    """GRTR: greater only."""
    agent = carrying((9,))
    hear(agent, ChanceHello(()), sender=9)
    own = round(chances(agent)[9] * 65535)
    chances(agent)[9] = own / 65535
    assert sent(agent, ChanceHello((Chance(9, own),)), sender=4) == []


def test_the_only_receiver_does_not_hand_its_notification_on() -> None:
    """Its own predictability for itself is 1; another receiver may still be met by others."""
    for receivers, offers in (((0,), []), ((0, 9), [Offer((NAME,))])):
        agent = make(Prophet)
        hear(agent, Carried(1, 1, receivers, NEWS))
        hello = ChanceHello((Chance(0, 60000), Chance(9, 60000)))
        assert sent(agent, hello, sender=4) == offers


def test_the_answer_to_an_offer_names_what_is_lacking() -> None:
    """It is sent even if that is nothing, so that the offer is not repeated."""
    agent = make(Prophet)
    assert sent(agent, Offer((NAME,))) == [Response((NAME,), (NAME,))]
    hear(agent, Carried(1, 1, (), NEWS))
    assert sent(agent, Offer((NAME,))) == [Response((NAME,), ())]


def test_what_a_neighbour_lacks_is_sent_once_and_what_it_has_never() -> None:
    """After a response that lacks nothing, the notification is not offered until another encounter."""
    agent = carrying((9,))
    hear(agent, LIKELY, sender=4)
    assert sent(agent, Response((NAME,), (NAME,)), sender=4) == [Carried(1, 1, (9,), NEWS)]
    assert sent(agent, LIKELY, sender=4, now=SECOND) == [Offer((NAME,))]  # in case the frame was lost
    assert sent(agent, Response((NAME,), ()), sender=4) == []
    assert sent(agent, LIKELY, sender=4, now=2 * SECOND) == []
    agent.handle(TimerFired("hello"), 9 * SECOND)
    assert sent(agent, LIKELY, sender=4, now=9 * SECOND) == [Offer((NAME,))]


def test_a_neighbour_has_what_it_has_handed_over() -> None:
    """It is not offered what it gave."""
    agent = make(Prophet)
    hear(agent, LIKELY, sender=4)
    hear(agent, Carried(1, 1, (9,), NEWS), sender=4)
    assert sent(agent, ChanceHello((Chance(9, 65535),)), sender=4, now=SECOND) == []


def test_an_offer_names_so_many_and_the_rest_follow() -> None:
    """Two of three, then the third when the first two are known to be there."""
    agent = make(Prophet, ProphetParameters(told=2))
    names = []
    for number in range(3):
        news = Notification(NotificationId(0, number), ())
        names.append(Named.of(news.id))
        agent.handle(Publish(news, (9,)), 0)
    assert sent(agent, LIKELY, sender=4) == [Offer((names[0], names[1]))]
    hear(agent, Response((names[0], names[1]), ()), sender=4)
    assert sent(agent, LIKELY, sender=4, now=SECOND) == [Offer((names[2],))]
