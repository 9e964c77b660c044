"""A client: what it tells its broker, and what it keeps while it has none."""

from hypothesis import given
from hypothesis import strategies as st

from roambus.python_protocol.actions import Action, Deliver, Note, Send
from roambus.python_protocol.brokers.broker import Filters, Pub
from roambus.python_protocol.filters import NotificationId
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.mft.agent import Client
from roambus.python_protocol.mft.messages import MftParameters, Mig, Rep, Sub, Uns
from roambus.python_protocol.trace_rows import DROP
from tests.python_protocol.brokers.actions import asked, receive
from tests.python_protocol.mft.network import event, topic

ME, HERE, THERE = 7, 1, 2


def client(publisher_buffer: int = 3) -> Client:
    return Client(ME, MftParameters(publisher_buffer=publisher_buffer))


def subscribed(*numbers: int) -> Client:
    """At HERE, with these topics."""
    made = client()
    asked(made.attach, HERE)
    for number in numbers:
        asked(made.subscribe, topic(number))
    return made


def messages(actions: list[Action]) -> list[Message]:
    return [action.message for action in actions if isinstance(action, Send)]


def sequences(actions: list[Action]) -> list[int]:
    return [message.notification.id.sequence for message in messages(actions) if isinstance(message, Pub)]


def test_a_first_broker_is_told_what_was_wanted_before() -> None:
    """There is nothing to migrate yet: the client just subscribes."""
    made = client()
    assert asked(made.subscribe, topic(1)) == asked(made.subscribe, topic(2)) == []
    assert asked(made.attach, HERE) == [Send(HERE, Sub(ME, 1, 0, topic(1))), Send(HERE, Sub(ME, 2, 0, topic(2)))]


def test_a_client_that_had_nothing_to_say_to_its_last_broker_just_subscribes() -> None:
    """No broker knows it yet, so that there is nothing to migrate."""
    made = client()
    asked(made.attach, HERE)
    made.detach()
    asked(made.subscribe, topic(1))
    assert asked(made.attach, THERE) == [Send(THERE, Sub(ME, 1, 0, topic(1)))]


def test_another_broker_is_told_of_the_last_one() -> None:
    """(MIG, s, b, t, h), with b the broker before, whether or not there was a time without any."""
    made = subscribed(1)
    made.detach()
    assert asked(made.attach, THERE) == [Send(THERE, Mig(ME, HERE, 2, 0))]
    assert asked(made.attach, HERE) == [Send(HERE, Mig(ME, THERE, 3, 0))]


def test_coming_back_to_the_same_broker_is_a_migration_too() -> None:
    """What was missed meanwhile is stored for the client, and FILTERS shows what the broker did not get."""
    made = subscribed(1)
    made.detach()
    assert asked(made.attach, HERE) == [Send(HERE, Mig(ME, HERE, 2, 0))]


def test_a_command_given_twice_says_nothing() -> None:
    """Only a change of the filters is worth a message."""
    made = subscribed(1)
    assert asked(made.subscribe, topic(1)) == []
    assert asked(made.unsubscribe, topic(2)) == []
    assert asked(made.unsubscribe, topic(1)) == [Send(HERE, Uns(ME, 2, 0, topic(1)))]
    assert asked(made.unsubscribe, topic(1)) == []


@given(
    st.lists(st.tuples(st.sampled_from(["subscribe", "unsubscribe", "attach", "detach", "filters"]), st.integers(1, 4)))
)
def test_each_message_of_a_subscriber_has_the_next_number(steps: list[tuple[str, int]]) -> None:
    """Section 4.1: t "increases in value each time a subscriber sends a message"; no number is used twice."""
    made = client()
    numbers = []
    for name, argument in steps:
        for message in messages(_step(made, name, argument)):
            assert isinstance(message, Sub | Uns | Mig)
            numbers.append(message.timestamp)
    assert numbers == list(range(1, len(numbers) + 1))


def _step(made: Client, name: str, argument: int) -> list[Action]:
    if name == "subscribe":
        return asked(made.subscribe, topic(argument))
    if name == "unsubscribe":
        return asked(made.unsubscribe, topic(argument))
    if name == "attach":
        return asked(made.attach, argument)
    if name == "filters":
        return receive(made, 0, Filters((topic(argument),)))
    made.detach()
    return []


def test_filters_that_are_wrong_are_mended() -> None:
    """Section 3.3: SUB for what the broker lacks, UNS for what it should no longer have."""
    made = subscribed(1, 2)
    assert messages(receive(made, 0, Filters((topic(2), topic(3))))) == [
        Sub(ME, 3, 0, topic(1)),
        Uns(ME, 4, 0, topic(3)),
    ]


def test_filters_that_are_right_need_no_answer() -> None:
    """Whatever their order."""
    assert receive(subscribed(1, 2), HERE, Filters((topic(2), topic(1)))) == []


def test_what_is_wanted_is_delivered_with_its_hops() -> None:
    """By PUB or by REP, each notification of which counts."""
    made = subscribed(1)
    assert receive(made, 0, Pub(3, event(1, 5))) == [Deliver(event(1, 5), 3)]
    assert receive(made, 0, Rep(ME, 2, (event(1, 6), event(1, 7)))) == [
        Deliver(event(1, 6), 2),
        Deliver(event(1, 7), 2),
    ]


def test_what_is_not_wanted_any_more_is_dropped_and_traced() -> None:
    """A notification that was under way when the client unsubscribed; another filter is left."""
    made = subscribed(1, 2)
    asked(made.unsubscribe, topic(1))
    assert receive(made, 0, Pub(3, event(1, 5))) == [Note(DROP, notification_id="99.5", detail="not subscribed")]


def test_a_publisher_without_a_broker_keeps_what_it_publishes() -> None:
    """And sends it in its order to the first broker it finds."""
    made = client()
    assert asked(made.publish, event(1, 1)) == asked(made.publish, event(1, 2)) == []
    assert asked(made.attach, HERE) == [Send(HERE, Pub(1, event(1, 1))), Send(HERE, Pub(1, event(1, 2)))]
    assert asked(made.publish, event(1, 3)) == [Send(HERE, Pub(1, event(1, 3)))]


def test_a_publisher_on_its_brokers_node_is_no_radio_hop_away() -> None:
    """What the two say to each other never goes on the air."""
    made = client()
    asked(made.attach, ME)
    assert asked(made.publish, event(1, 1)) == [Send(ME, Pub(0, event(1, 1)))]


def test_what_a_publisher_keeps_is_bounded() -> None:
    """The oldest goes, and the trace says so."""
    made = client(publisher_buffer=3)
    notes = [action for sequence in range(5) for action in asked(made.publish, event(1, sequence))]
    assert notes == [
        Note(DROP, notification_id=str(NotificationId(99, sequence)), detail="publisher has no broker")
        for sequence in (0, 1)
    ]
    assert sequences(asked(made.attach, HERE)) == [2, 3, 4]


def test_what_did_not_arrive_is_published_before_what_came_later() -> None:
    """Notifications that a broken link gives back are the oldest; control messages are left to FILTERS."""
    made = client()
    asked(made.publish, event(1, 3))
    lost = [Pub(1, event(1, 1)), Sub(ME, 1, 0, topic(1)), Pub(1, event(1, 2))]
    assert asked(made.link_broken, lost) == []
    actions = asked(made.attach, HERE)
    assert sequences(actions) == [1, 2, 3]
    assert len(messages(actions)) == 3


def test_what_did_not_arrive_counts_towards_the_bound() -> None:
    """A link that gives back more than can be kept loses the oldest."""
    made = client(publisher_buffer=3)
    asked(made.publish, event(1, 9))
    actions = asked(made.link_broken, [Pub(1, event(1, sequence)) for sequence in range(4)])
    assert [action.notification_id for action in actions if isinstance(action, Note)] == ["99.0", "99.1"]
    assert sequences(asked(made.attach, HERE)) == [2, 3, 9]
