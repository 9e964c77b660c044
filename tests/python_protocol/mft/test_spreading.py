"""A broker and a client that broadcast: who is sent what, and when it is sent again.

b1 has the neighbours b2 and b3 and the client s1, node 101. s1, s2 behind b2 and s3 behind b3 want topic 1.
"""

from __future__ import annotations

from random import Random

import pytest

from roambus.python_protocol.actions import DROP, STORE, Action, Deliver, SetTimer
from roambus.python_protocol.brokers.broker import Pub
from roambus.python_protocol.filters import Notification
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.mft.client import SpreadingClient
from roambus.python_protocol.mft.messages import Ask, Sub, Timestamp
from roambus.python_protocol.mft.parameters import MftParameters
from roambus.python_protocol.mft.spreading import SpreadingBroker, SpreadTimer
from roambus.python_protocol.parts.digest import Digest, Held
from roambus.python_protocol.vocabulary import BROADCAST, SECOND, NodeId, SimTime
from tests.python_protocol.brokers.actions import asked, notes, sends
from tests.python_protocol.mft import network
from tests.python_protocol.mft.network import topic

B2, B3, STRANGER = 2, 3, 9
S1, S2, S3 = 101, 102, 103
PARAMETERS = MftParameters(profile="tuned")
SOON = PARAMETERS.spread_patience + 1
WINDOW = 64


def event(sequence: int, about: int = 1) -> Notification:
    """The notification of this number, on topic 1 unless another one is given."""
    return network.event(about, sequence)


@pytest.fixture
def b1() -> SpreadingBroker:
    made = SpreadingBroker(1, PARAMETERS, Random(0))
    made.neighbours = dict.fromkeys((B2, B3))
    made.clients = {S1}
    for subscriber, via in ((S1, S1), (S2, B2), (S3, B3)):
        made.table.update(subscriber, via, Timestamp(1, 2)).filters = {topic(1): None}
    return made


def held(*events: Notification) -> tuple[Held, ...]:
    digest = Digest(PARAMETERS.digest_publishers)
    for one in events:
        digest.add(one.id)
    return digest.tell()


def hear(broker: SpreadingBroker, one: Notification, sender: NodeId, now: SimTime = 0) -> list[Action]:
    return asked(broker.publish, Pub(1, one), sender, now)


def pause(actions: list[Action]) -> SimTime:
    (timer,) = [action for action in actions if isinstance(action, SetTimer)]
    return timer.after


def spread(broker: SpreadingBroker, one: Notification, now: SimTime = 0) -> list[tuple[NodeId, Message]]:
    """What goes out when the turn of a notification has come."""
    return sends(asked(broker.spread, SpreadTimer(one.id), now))


def test_one_broadcast_is_for_all_interfaces(b1: SpreadingBroker) -> None:
    """After a short wait, with one radio hop more, and once."""
    assert pause(hear(b1, event(1), B2)) <= PARAMETERS.spread_delay
    assert spread(b1, event(1)) == [(BROADCAST, Pub(2, event(1)))]
    assert hear(b1, event(1), B3) == []


def test_what_the_tree_has_not_brought_waits_longer(b1: SpreadingBroker) -> None:
    """A neighbour in the tree may come first."""
    pauses = [pause(hear(b1, event(number), STRANGER)) for number in range(1, 30)]
    assert PARAMETERS.spread_delay < max(pauses) <= PARAMETERS.spread_patience


def test_neighbours_that_have_it_need_no_broadcast(b1: SpreadingBroker) -> None:
    """One that has told nothing does; a client is not waited for."""
    hear(b1, event(1), B2)
    b1.learn(B2, held(event(1)), 0)
    assert spread(b1, event(1)) != []
    hear(b1, event(2), B2)
    b1.learn(B2, held(event(1), event(2)), 0)
    b1.learn(B3, held(event(2)), 0)
    assert spread(b1, event(2)) == []


def test_who_has_heard_enough_copies_leaves_the_rest_to_digests(b1: SpreadingBroker) -> None:
    """`spread_copies` of them."""
    for _ in range(PARAMETERS.spread_copies):
        hear(b1, event(1), STRANGER)
    assert spread(b1, event(1)) == []


def test_what_nobody_wants_beyond_is_kept_to_itself(b1: SpreadingBroker) -> None:
    """Nothing of it is sent."""
    hear(b1, event(1, 2), B2)
    assert spread(b1, event(1, 2)) == []


@pytest.mark.parametrize("interface", [B2, S1])
def test_who_tells_that_it_lacks_something_is_sent_it_again(b1: SpreadingBroker, interface: NodeId) -> None:
    """Not before it can have heard of it, not while it is about to be sent, and not if it has it."""
    hear(b1, event(1), B2)
    spread(b1, event(1))
    assert asked(b1.learn, interface, held(), SOON - 1) == []
    assert asked(b1.learn, interface, held(event(1)), SOON) == []
    assert pause(asked(b1.learn, interface, held(), SOON)) <= PARAMETERS.spread_delay
    assert asked(b1.learn, interface, held(), SOON) == []
    assert spread(b1, event(1), SOON) == [(BROADCAST, Pub(2, event(1)))]
    assert asked(b1.learn, interface, held(), SOON + 1) == []


def test_strangers_and_those_who_do_not_want_it_are_sent_nothing(b1: SpreadingBroker) -> None:
    """However much they lack."""
    b1.neighbours[4] = None
    hear(b1, event(1), B2)
    spread(b1, event(1))
    assert asked(b1.learn, STRANGER, held(), SOON) == []
    assert asked(b1.learn, 4, held(), SOON) == []


def test_a_subscription_is_for_what_comes_later_and_what_came_while_it_was_under_way(b1: SpreadingBroker) -> None:
    """A notification that has been here for longer than `subscription_delay` is not for it."""
    for number, at in ((1, 0), (2, SECOND)):
        hear(b1, event(number, 2), B2, at)
        spread(b1, event(number, 2), at)
    b1.subscribe(Sub(S2, 2, 1, topic(2)), B2, PARAMETERS.subscription_delay + 1)
    b1.take()
    late = PARAMETERS.subscription_delay + SECOND
    assert [one.key for one in asked(b1.learn, B2, held(), late) if isinstance(one, SetTimer)] == [
        SpreadTimer(event(2, 2).id)
    ]


def test_what_is_too_old_for_digests_is_stored_for_whom_nothing_has_reached(b1: SpreadingBroker) -> None:
    """Not for others: they have had a digest's time to ask for it."""
    b1.gone(B3, moved=False)
    for number in range(1, WINDOW + 3):
        hear(b1, event(number), B2)
    stored = {(identifier, peer) for identifier, peer in notes(hear(b1, event(WINDOW + 3), B2), STORE)}
    assert stored == {(str(event(3).id), S3)}


def test_what_has_been_stored_once_does_not_come_back(b1: SpreadingBroker) -> None:
    """A copy that is late by more than a digest counts as new, and is forgotten at once; one that is kept does not."""
    hear(b1, event(1), B2)
    assert notes(hear(b1, event(1), B3), STORE) == []


def test_who_asks_is_sent_what_it_wants_of_what_it_lacks(b1: SpreadingBroker) -> None:
    """Whether or not it belongs to the tree; not what was on the air just now, and once for several who ask."""
    for number, about in ((1, 1), (2, 2), (3, 1)):
        hear(b1, event(number, about), B2)
        spread(b1, event(number, about))
    ask = Ask((topic(1),), held(event(1), event(2)))
    assert asked(b1.answer, ask, STRANGER, SOON - 1) == []
    (timer,) = asked(b1.answer, ask, STRANGER, SOON)
    assert isinstance(timer, SetTimer)
    assert timer.key == SpreadTimer(event(1).id)
    assert timer.after <= PARAMETERS.spread_patience
    assert asked(b1.answer, ask, S1, SOON) == []
    assert spread(b1, event(1), SOON) == [(BROADCAST, Pub(2, event(1)))]


# The client


def learns(
    client: SpreadingClient, sender: NodeId, told: tuple[Held, ...], now: SimTime
) -> list[tuple[NodeId, Message]]:
    """What it sends when a node tells what it has."""
    client.learn(sender, told, now)
    return sends(client.take())


@pytest.fixture
def client() -> SpreadingClient:
    made = SpreadingClient(7, PARAMETERS, Random(0))
    made.subscribe(topic(1))
    return made


def heard(client: SpreadingClient, one: Notification) -> list[Action]:
    return asked(client.hear, Pub(2, one), STRANGER, 0)


def test_a_client_delivers_what_it_hears_from_anybody_once(client: SpreadingClient) -> None:
    """If it wants it; whatever it hears is in its digest."""
    assert heard(client, event(1)) == [Deliver(event(1), 2)]
    assert heard(client, event(1)) == heard(client, event(2, 2)) == []
    assert client.digest.tell() == held(event(1), event(2, 2))


def test_what_is_published_waits_for_the_first_broker_only(client: SpreadingClient) -> None:
    """Afterwards every broker that hears it is good enough."""
    assert sends(asked(client.publish, event(1))) == []
    client.attach(B2)
    assert (BROADCAST, Pub(1, event(1))) in sends(client.take())
    client.detach()
    assert sends(asked(client.publish, event(2))) == [(BROADCAST, Pub(1, event(2)))]


def test_it_is_published_again_until_the_broker_has_it(client: SpreadingClient) -> None:
    """What others have is no matter."""
    client.attach(B2)
    client.publish(event(1))
    client.take()
    assert learns(client, STRANGER, held(), 0) == []
    assert learns(client, B2, held(), 0) == [(BROADCAST, Pub(1, event(1)))]
    assert learns(client, B2, held(), SOON - 1) == []
    assert learns(client, B2, held(), SOON) == [(BROADCAST, Pub(1, event(1)))]
    client.learn(B2, held(event(1)), 2 * SOON)
    client.take()
    assert learns(client, B2, held(), 4 * SOON) == []


def test_a_publisher_keeps_a_limited_number(client: SpreadingClient) -> None:
    """The oldest is dropped, and noted."""
    client.attach(B2)
    for number in range(PARAMETERS.publisher_buffer):
        client.publish(event(number))
    client.take()
    assert notes(asked(client.publish, event(99)), DROP) == [(str(event(0).id), None)]


def test_it_says_when_its_broker_has_what_it_lacks(client: SpreadingClient) -> None:
    """So that its next heartbeat does not wait; who subscribes to nothing lacks nothing."""
    client.attach(B2)
    heard(client, event(1))
    assert client.learn(B2, held(event(1), event(2)), 0)
    assert not client.learn(B2, held(event(1)), 0)
    assert not client.learn(STRANGER, held(event(2)), 0)
    idle = SpreadingClient(8, PARAMETERS, Random(0))
    idle.attach(B2)
    assert not idle.learn(B2, held(event(1)), 0)


def asks(client: SpreadingClient, now: SimTime) -> list[Message]:
    """What a client asks for when a stranger tells of the notifications 1 to 3."""
    return [message for _, message in learns(client, STRANGER, held(event(1), event(2), event(3)), now)]


def test_what_is_lacked_for_long_is_asked_for(client: SpreadingClient) -> None:
    """After `ask_after`, ever more rarely, until something comes of it; not for what was there when it subscribed."""
    learns(client, STRANGER, held(event(1)), 0)
    ask = Ask((topic(1),), held(event(2), event(3)))
    late, beat = PARAMETERS.ask_after, PARAMETERS.heartbeat_interval
    assert asks(client, 0) == asks(client, late - 1) == []
    assert asks(client, late) == [ask]
    assert asks(client, late + beat - 1) == []
    assert asks(client, late + beat) == [ask]
    assert asks(client, late + 3 * beat - 1) == []
    heard(client, event(2))
    assert asks(client, late + 3 * beat) == [Ask((topic(1),), held(event(3)))]
    assert len(asks(client, late + 4 * beat)) == 1


def test_nobody_asks_who_wants_nothing_or_has_just_subscribed(client: SpreadingClient) -> None:
    """What others have by then was published before; the letter and the thesis know no ASK at all."""
    learns(client, STRANGER, held(), 0)
    client.subscribe(topic(2))
    assert asks(client, 0) == asks(client, 2 * PARAMETERS.ask_after) == []
    never = SpreadingClient(8, MftParameters(profile="tuned", ask_after=0), Random(0))
    never.subscribe(topic(1))
    learns(never, STRANGER, held(event(1)), 0)
    assert asks(never, 0) == asks(never, 2 * PARAMETERS.ask_after) == []


def test_what_is_asked_for_in_vain_is_given_up(client: SpreadingClient) -> None:
    """After as many rounds as a digest has notifications."""
    learns(client, STRANGER, held(event(1)), 0)
    asks(client, 0)
    times = range(0, 300 * SECOND, SECOND)
    asked_at = [time for time in times if learns(client, STRANGER, (), time)]
    assert 0 < len(asked_at) < 10
    assert asked_at[-1] <= (WINDOW + 1) * SECOND


def test_a_client_answers_who_asks_unless_somebody_else_does(client: SpreadingClient) -> None:
    """With one radio hop more, of what it has heard itself, wanted or not."""
    for one in (event(1), event(2, 2)):
        heard(client, one)
    ask = Ask((topic(2),), held(event(1), event(2)))
    assert asked(client.answer, ask, STRANGER, SOON - 1) == []
    assert pause(asked(client.answer, ask, STRANGER, SOON)) <= PARAMETERS.spread_patience
    assert asked(client.answer, ask, STRANGER, SOON) == []
    key = SpreadTimer(event(2, 2).id)
    assert sends(asked(client.spread, key, SOON)) == [(BROADCAST, Pub(3, event(2, 2)))]
    assert asked(client.spread, key, SOON) == []
    asked(client.answer, ask, STRANGER, 3 * SOON)
    heard(client, event(2, 2))
    assert sends(asked(client.spread, key, 3 * SOON)) == []


def test_what_is_too_old_for_digests_is_not_answered(client: SpreadingClient) -> None:
    """It is forgotten."""
    for number in range(WINDOW + 1):
        heard(client, event(number))
    assert asked(client.answer, Ask((topic(1),), held(event(0))), STRANGER, SOON) == []
    assert asked(client.answer, Ask((topic(1),), held(event(1))), STRANGER, SOON) != []
