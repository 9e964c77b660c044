"""A client of the first approach: when it migrates, and what it mends."""

from __future__ import annotations

from roambus.extensions.first_approach.agent import Client, FirstApproachParameters, Mig, Rep
from roambus.python_protocol.actions import Deliver, Send
from roambus.python_protocol.brokers.broker import Filters, Pub
from roambus.python_protocol.brokers.routing import Sub, Uns
from tests.python_protocol.brokers.actions import asked, receive, sends
from tests.python_protocol.brokers.network import event, topic

ME, HERE, THERE = 7, 1, 2


def subscribed(*numbers: int) -> Client:
    """At HERE, with these topics."""
    made = Client(ME, FirstApproachParameters())
    asked(made.attach, HERE)
    for number in numbers:
        asked(made.subscribe, topic(number))
    return made


def test_a_first_broker_is_told_what_was_wanted_before() -> None:
    """There is nothing to migrate yet: the client just subscribes."""
    made = Client(ME, FirstApproachParameters())
    asked(made.subscribe, topic(1))
    assert asked(made.attach, HERE) == [Send(HERE, Sub(ME, topic(1)))]


def test_another_broker_or_the_same_again_is_told_of_the_last_one() -> None:
    """(MIG, s, b): reconnections are a particular case of migration (the paper on the first approach, section 3.2)."""
    made = subscribed(1)
    assert asked(made.attach, THERE) == [Send(THERE, Mig(ME, HERE))]
    made.detach()
    assert asked(made.attach, THERE) == [Send(THERE, Mig(ME, THERE))]


def test_a_client_that_has_unsubscribed_from_everything_still_migrates() -> None:
    """The other partition may still have its subscriptions."""
    made = subscribed(1)
    assert asked(made.unsubscribe, topic(1)) == [Send(HERE, Uns(ME, topic(1)))]
    assert asked(made.attach, THERE) == [Send(THERE, Mig(ME, HERE))]


def test_who_never_subscribed_does_not_migrate() -> None:
    """Publishers may change their broker without a word (section 2.4)."""
    assert asked(subscribed().attach, THERE) == []


def test_filters_that_are_wrong_are_mended() -> None:
    """Section 3.3: SUB for what the broker lacks, UNS for what it should no longer have."""
    made = subscribed(1, 2)
    assert sends(receive(made, HERE, Filters((topic(2), topic(3))))) == [
        (HERE, Sub(ME, topic(1))),
        (HERE, Uns(ME, topic(3))),
    ]


def test_what_is_wanted_is_delivered_with_its_hops() -> None:
    """It does not matter whether it comes in a PUB or in a REP."""
    made = subscribed(1)
    assert receive(made, HERE, Pub(3, event(1, 5))) == [Deliver(event(1, 5), 3)]
    assert receive(made, HERE, Rep(ME, 2, event(1, 6))) == [Deliver(event(1, 6), 2)]
