"""A client of Phoenix, as published: what it says when it migrates."""

from __future__ import annotations

from roambus.extensions.phoenix.agent import Client
from roambus.extensions.phoenix.broker import NEVER, Mig, PhoenixParameters, Pub, Rep, Stamp
from roambus.python_protocol.actions import Deliver, Send
from roambus.python_protocol.brokers.routing import Sub, Uns
from tests.python_protocol.brokers.actions import asked, receive
from tests.python_protocol.brokers.network import event, topic

ME, HERE, THERE = 7, 1, 2


def subscribed(*numbers: int) -> Client:
    """At HERE, with these topics."""
    made = Client(ME, PhoenixParameters())
    asked(made.attach, HERE)
    for number in numbers:
        asked(made.subscribe, topic(number))
    return made


def test_a_first_broker_is_told_what_was_wanted_before() -> None:
    """There is nothing to migrate yet: the client just subscribes."""
    made = Client(ME, PhoenixParameters())
    asked(made.subscribe, topic(1))
    assert asked(made.attach, HERE) == [Send(HERE, Sub(ME, topic(1)))]


def test_another_broker_is_told_of_the_last_one_and_of_what_was_received_there() -> None:
    """(MIG, s, b, ts_last): the greatest of the timestamps of b; of a broker that sent nothing it is 0."""
    made = subscribed(1)
    assert receive(made, 0, Pub(Stamp(0, 8), 3, (), event(1, 5))) == [Deliver(event(1, 5), 3)]
    assert receive(made, 0, Rep(ME, Stamp(0, 9), 2, event(1, 4))) == [Deliver(event(1, 4), 2)]
    receive(made, 0, Rep(ME, NEVER, 2, event(1, 6)))
    assert asked(made.attach, THERE) == [Send(THERE, Mig(ME, HERE, Stamp(0, 9)))]
    assert asked(made.attach, HERE) == [Send(HERE, Mig(ME, THERE, NEVER))]


def test_coming_back_to_the_same_broker_is_a_migration_too() -> None:
    """What was missed meanwhile is in its queue."""
    made = subscribed(1)
    made.detach()
    assert asked(made.attach, HERE) == [Send(HERE, Mig(ME, HERE, NEVER))]


def test_who_never_subscribed_does_not_migrate() -> None:
    """Section 2.4: brokers "do not store any information on publishers"."""
    assert asked(subscribed().attach, THERE) == []


def test_what_the_link_lost_is_said_after_the_migration() -> None:
    """Phoenix has no FILTERS that would show what the broker did not get."""
    made = subscribed(1)
    made.detach()
    asked(made.link_broken, [Sub(ME, topic(2)), Uns(ME, topic(1)), Mig(ME, HERE, NEVER)])
    mig = Mig(ME, HERE, NEVER)
    assert asked(made.attach, THERE) == [
        Send(THERE, mig),
        Send(THERE, Sub(ME, topic(2))),
        Send(THERE, Uns(ME, topic(1))),
    ]


def test_a_publication_has_no_timestamp_yet() -> None:
    """Algorithm 2.2, line 16: brokers set it."""
    assert asked(subscribed().publish, event(1, 1)) == [Send(HERE, Pub(NEVER, 1, (), event(1, 1)))]
