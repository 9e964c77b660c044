"""A client of Simple Routing: bound to its broker."""

from __future__ import annotations

from roambus.python_protocol.actions import Deliver, Send
from roambus.python_protocol.brokers.anonymous import Client, Sub, Uns
from roambus.python_protocol.brokers.broker import BrokerParameters, Pub
from tests.python_protocol.brokers.actions import asked, receive
from tests.python_protocol.brokers.network import event, topic

ME, HERE, THERE = 7, 1, 2


def subscribed() -> Client:
    """At HERE, with the topics 1 and 2."""
    made = Client(ME, BrokerParameters())
    asked(made.subscribe, topic(1))
    assert asked(made.attach, HERE) == [Send(HERE, Sub(topic(1)))]
    assert asked(made.subscribe, topic(2)) == [Send(HERE, Sub(topic(2)))]
    return made


def test_what_is_wanted_is_delivered_with_its_hops() -> None:
    """By PUB."""
    assert receive(subscribed(), HERE, Pub(3, event(1, 5))) == [Deliver(event(1, 5), 3)]


def test_coming_back_to_its_broker_it_has_nothing_to_say() -> None:
    """Another SUB would be another entry of the multiset."""
    assert asked(subscribed().attach, HERE) == []


def test_coming_back_it_says_again_what_was_lost() -> None:
    """Once, and in its order."""
    made = subscribed()
    lost = asked(made.unsubscribe, topic(1)) + asked(made.subscribe, topic(3))
    made.detach()
    asked(made.link_broken, [action.message for action in lost if isinstance(action, Send)])
    assert asked(made.attach, HERE) == [Send(HERE, Uns(topic(1))), Send(HERE, Sub(topic(3)))]
    assert asked(made.attach, HERE) == []


def test_at_another_broker_it_subscribes_anew() -> None:
    """The paper on the first approach, section 3.2: it "would have to send the subscription messages again"."""
    made = subscribed()
    asked(made.link_broken, [Uns(topic(9))])
    assert asked(made.attach, THERE) == [Send(THERE, Sub(topic(1))), Send(THERE, Sub(topic(2)))]
