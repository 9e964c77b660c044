"""A client of Phoenix that numbers its migrations."""

from __future__ import annotations

from roambus.python_protocol.actions import Action, Deliver, Note, Send
from roambus.python_protocol.brokers.messages import Sub, Uns
from roambus.python_protocol.notes import DROP
from roambus.python_protocol.phoenix.messages import NEVER, Mig, Pub, Rep, Stamp, Turn
from roambus.python_protocol.phoenix.numbered_client import NumberedClient
from roambus.python_protocol.phoenix.parameters import PhoenixParameters
from tests.python_protocol.brokers.network import event, topic

ME, HERE, THERE = 7, 1, 2


def subscribed() -> NumberedClient:
    """At HERE, with topic 1."""
    made = NumberedClient(ME, PhoenixParameters())
    made.attach(HERE)
    made.subscribe(topic(1))
    return made


def pub(sequence: int, stay: int, tick: int) -> Pub:
    return Pub(event(1, sequence), 3, Stamp(stay, tick))


def delivered(actions: list[Action]) -> list[int]:
    return [action.notification.id.sequence for action in actions if isinstance(action, Deliver)]


def test_migrations_are_numbered_and_say_what_was_received() -> None:
    """ts_last outlives a broker from which nothing came."""
    made = subscribed()
    made.receive(pub(5, 0, 1))
    assert made.attach(THERE) == [Send(THERE, Mig(ME, HERE, Stamp(0, 1), 1))]
    assert made.attach(HERE) == [Send(HERE, Mig(ME, THERE, Stamp(0, 1), 2))]


def test_it_delivers_in_order() -> None:
    """What the new broker sends waits for the end of the last stay."""
    made = subscribed()
    made.attach(THERE)
    assert made.receive(pub(6, 1, 1)) == []
    assert delivered(made.receive(Rep(event(1, 5), ME, Stamp(0, 1), 2))) == [5]
    assert delivered(made.receive(Turn(ME, Stamp(0, 2), 1, is_over=True))) == [6]


def test_a_stay_whose_mig_was_lost_is_not_waited_for() -> None:
    """The link says so."""
    made = subscribed()
    made.attach(THERE)
    made.receive(Turn(ME, Stamp(0, 1), 2, is_over=True))
    made.detach()
    made.link_broken([Mig(ME, HERE, NEVER, 1)])
    made.attach(HERE)
    assert delivered(made.receive(pub(6, 2, 1))) == [6]
    assert made.attach(THERE) == [Send(THERE, Mig(ME, HERE, Stamp(2, 1), 3))]


def test_who_has_never_been_heard_has_nothing_to_migrate() -> None:
    """Its first SUB was lost: it subscribes as if for the first time."""
    made = subscribed()
    made.detach()
    made.link_broken([Sub(topic(1), ME)])
    assert made.attach(THERE) == [Send(THERE, Sub(topic(1), ME))]
    assert delivered(made.receive(pub(6, 0, 1))) == [6]


def test_a_first_sub_that_turns_out_lost_later_is_not_waited_for() -> None:
    """The client has migrated meanwhile: there was no stay 0, and the SUB is said at once."""
    made = subscribed()
    made.attach(THERE)
    assert made.link_broken([Sub(topic(1), ME)]) == [Send(THERE, Sub(topic(1), ME))]
    assert delivered(made.receive(pub(6, 1, 1))) == [6]


def test_who_wants_nothing_waits_for_nothing() -> None:
    """It migrates all the same: an UNS can be under way."""
    made = subscribed()
    assert made.unsubscribe(topic(1)) == [Send(HERE, Uns(topic(1), ME))]
    assert made.attach(THERE) == [Send(THERE, Mig(ME, HERE, NEVER, 1))]
    made.subscribe(topic(1))
    assert delivered(made.receive(pub(6, 1, 1))) == [6]


def test_nothing_is_delivered_twice() -> None:
    """Not even what comes from a stay that is not waited for any more."""
    made = subscribed()
    made.receive(pub(5, 0, 1))
    made.receive(Turn(ME, Stamp(0, 2), 1, is_over=True))
    assert made.receive(pub(5, 0, 1)) == [Note(DROP, notification_id="99.5", detail="received before")]
