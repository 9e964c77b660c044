"""A client of Phoenix that numbers its migrations."""

from __future__ import annotations

from roambus.extensions.phoenix.agent import NumberedClient
from roambus.extensions.phoenix.broker import (
    NEVER,
    Mig,
    NumberedSub,
    NumberedUns,
    PhoenixParameters,
    Pub,
    Rep,
    Stamp,
    Turn,
)
from roambus.python_protocol.actions import Action, Deliver, Note, Send
from roambus.python_protocol.trace_rows import DROP
from tests.python_protocol.brokers.actions import asked, receive
from tests.python_protocol.brokers.network import event, topic

ME, HERE, THERE = 7, 1, 2


def subscribed() -> NumberedClient:
    """At HERE, with topic 1."""
    made = NumberedClient(ME, PhoenixParameters())
    asked(made.attach, HERE)
    asked(made.subscribe, topic(1))
    return made


def sub(number: int) -> NumberedSub:
    return NumberedSub(ME, topic(1), number)


def pub(sequence: int, stay: int, tick: int) -> Pub:
    return Pub(Stamp(stay, tick), 3, (), event(1, sequence))


def delivered(actions: list[Action]) -> list[int]:
    return [action.notification.id.sequence for action in actions if isinstance(action, Deliver)]


def test_what_comes_of_stays_before_one_that_began_without_a_filter_is_void() -> None:
    """It was published for a subscription that had ended, and would come behind what is newer; the trace says so."""
    client = subscribed()
    asked(client.detach)
    asked(client.unsubscribe, topic(1))
    asked(client.attach, THERE)
    asked(client.subscribe, topic(1))
    assert delivered(receive(client, THERE, pub(2, 1, 1))) == [2]
    late = receive(client, THERE, pub(1, 0, 1))
    assert delivered(late) == []
    assert [action.name for action in late if isinstance(action, Note)] == [DROP]
    assert receive(client, THERE, Turn(ME, Stamp(0, 2), 1, over=True)) == []


def test_a_client_that_waits_no_longer_says_so() -> None:
    """Once: what is lost then has no other trace."""
    client = NumberedClient(ME, PhoenixParameters(hold_limit=2))
    asked(client.attach, HERE)
    asked(client.subscribe, topic(1))
    assert receive(client, HERE, pub(2, 0, 2)) == receive(client, HERE, pub(3, 0, 3)) == []
    given_up = receive(client, HERE, pub(4, 0, 4))
    assert delivered(given_up) == [2, 3, 4]
    assert [action.name for action in given_up if isinstance(action, Note)] == [DROP]
    assert not [action for action in receive(client, HERE, pub(5, 0, 5)) if isinstance(action, Note)]


def test_migrations_are_numbered_and_say_what_was_received() -> None:
    """ts_last outlives a broker from which nothing came."""
    made = subscribed()
    receive(made, 0, pub(5, 0, 1))
    assert asked(made.attach, THERE) == [Send(THERE, Mig(ME, HERE, Stamp(0, 1), 1))]
    assert asked(made.attach, HERE) == [Send(HERE, Mig(ME, THERE, Stamp(0, 1), 2))]


def test_it_delivers_in_order() -> None:
    """What the new broker sends waits for the end of the last stay."""
    made = subscribed()
    asked(made.attach, THERE)
    assert receive(made, 0, pub(6, 1, 1)) == []
    assert delivered(receive(made, 0, Rep(ME, Stamp(0, 1), 2, event(1, 5)))) == [5]
    assert delivered(receive(made, 0, Turn(ME, Stamp(0, 2), 1, over=True))) == [6]


def test_a_stay_whose_mig_was_lost_is_not_waited_for() -> None:
    """The link says so."""
    made = subscribed()
    asked(made.attach, THERE)
    receive(made, 0, Turn(ME, Stamp(0, 1), 2, over=True))
    made.detach()
    asked(made.link_broken, [Mig(ME, HERE, NEVER, 1)])
    asked(made.attach, HERE)
    assert delivered(receive(made, 0, pub(6, 2, 1))) == [6]
    assert asked(made.attach, THERE) == [Send(THERE, Mig(ME, HERE, Stamp(2, 1), 3))]


def test_who_has_never_been_heard_has_nothing_to_migrate() -> None:
    """Its first SUB was lost: it subscribes as if for the first time."""
    made = subscribed()
    made.detach()
    asked(made.link_broken, [sub(1)])
    assert asked(made.attach, THERE) == [Send(THERE, sub(2))]
    assert delivered(receive(made, 0, pub(6, 0, 1))) == [6]


def test_a_first_sub_that_turns_out_lost_later_is_not_waited_for() -> None:
    """The client has migrated meanwhile: there was no stay 0, and the SUB is said at once."""
    made = subscribed()
    asked(made.attach, THERE)
    assert asked(made.link_broken, [sub(1)]) == [Send(THERE, sub(1))]
    assert delivered(receive(made, 0, pub(6, 1, 1))) == [6]


def test_a_filter_that_is_taken_up_again_is_not_taken_for_the_first_sub() -> None:
    """The first one has arrived; what is lost, twice perhaps, is the same said later: brokers know the client."""
    made = subscribed()
    asked(made.unsubscribe, topic(1))
    asked(made.subscribe, topic(1))
    made.detach()
    asked(made.link_broken, [sub(3)])
    assert asked(made.attach, THERE) == [Send(THERE, Mig(ME, HERE, NEVER, 1)), Send(THERE, sub(3))]
    made.detach()
    asked(made.link_broken, [Mig(ME, HERE, NEVER, 1), sub(3)])
    assert asked(made.attach, HERE) == [Send(HERE, Mig(ME, THERE, NEVER, 2)), Send(HERE, sub(3))]


def test_who_wants_nothing_waits_for_nothing() -> None:
    """It migrates all the same, for an UNS can be under way, and asks for nothing that brokers keep from before."""
    made = subscribed()
    assert asked(made.unsubscribe, topic(1)) == [Send(HERE, NumberedUns(ME, topic(1), 2))]
    assert asked(made.attach, THERE) == [Send(THERE, Mig(ME, HERE, Stamp(1, 0), 1))]
    asked(made.subscribe, topic(1))
    assert delivered(receive(made, 0, pub(6, 1, 1))) == [6]


def test_nothing_is_delivered_twice() -> None:
    """Not even what comes from a stay that is not waited for any more."""
    made = subscribed()
    receive(made, 0, pub(5, 0, 1))
    receive(made, 0, Turn(ME, Stamp(0, 2), 1, over=True))
    assert receive(made, 0, pub(5, 0, 1)) == [Note(DROP, notification_id="99.5", detail="received before")]
