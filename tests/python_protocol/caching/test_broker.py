"""A broker with a cache, rule by rule. b1 has the neighbours b2, b3 and b4; s1 is its client."""

from __future__ import annotations

from dataclasses import replace

import pytest

from roambus.python_protocol.actions import Note
from roambus.python_protocol.brokers.messages import Pub
from roambus.python_protocol.caching.broker import DUPLICATE, NO_WAY, Broker
from roambus.python_protocol.caching.messages import Request, Response
from roambus.python_protocol.caching.parameters import CachingParameters
from roambus.python_protocol.filters import Filter, Notification
from roambus.python_protocol.notes import CACHE, DROP, FORGET, REPLAY, ROUTE, STORE
from roambus.python_protocol.simple.messages import Sub, Uns
from tests.python_protocol.brokers.actions import notes, sends
from tests.python_protocol.brokers.network import event, topic

S1, S2, FAR = 101, 102, 103


def make(parameters: CachingParameters = CachingParameters()) -> Broker:  # noqa: B008  # frozen
    made = Broker(1, parameters)
    for neighbour in (2, 3, 4):
        made.neighbour_appeared(neighbour)
    made.client_appeared(S1)
    made.receive(S1, Sub(topic(1)))
    return made


@pytest.fixture
def b1() -> Broker:
    """s1 wants topic 1."""
    return make()


def published(broker: Broker, number: int, sequence: int = 0) -> Notification:
    broker.receive(2, Pub(event(number, sequence), 1))
    return event(number, sequence)


def asking(*filters: Filter, route: tuple[int, ...] = (2, FAR), number: int = 1) -> Request:
    return Request(number, filters, route)


def detaching(client: int) -> Request:
    return Request(1, (), (client,), client)


def returning(client: int, *route: int) -> Request:
    return Request(2, (topic(1),), (*route, client), client, 1)


def test_a_new_neighbour_hears_of_every_subscription(b1: Broker) -> None:
    """As parent, or as child."""
    assert sends(b1.neighbour_appeared(5)) == [(5, Sub(topic(1)))]
    assert sends(b1.migrate(6)) == [(6, Sub(topic(1)))]


def test_of_a_neighbour_that_is_gone_nothing_is_left(b1: Broker) -> None:
    """Its subscriptions are withdrawn with the next thing that the others are told."""
    b1.receive(2, Sub(topic(2)))
    b1.gone(2, moved=False)
    assert sends(b1.receive(S1, Sub(topic(3)))) == [
        (neighbour, message) for neighbour in (3, 4) for message in (Sub(topic(3)), Uns(topic(2)))
    ]


def test_what_a_client_wants_is_cached(b1: Broker) -> None:
    """Section 3.2: "at least one client subscribed in this message"; a neighbour is none."""
    b1.receive(3, Sub(topic(2)))
    actions = b1.receive(2, Pub(event(1), 1))
    assert (sends(actions), notes(actions, CACHE)) == ([(S1, Pub(event(1), 2))], [("99.0", None)])
    assert Note(ROUTE, notification_id="99.0", detail=str(S1)) in actions
    assert notes(b1.receive(2, Pub(event(2, 1), 1)), CACHE) == []


def test_what_no_client_wants_any_more_is_forgotten(b1: Broker) -> None:
    """Section 3.2: "even if the cache is not full"."""
    published(b1, 1)
    b1.receive(S2, Sub(topic(1)))
    assert notes(b1.receive(S1, Uns(topic(1))), FORGET) == []
    assert notes(b1.receive(S2, Uns(topic(1))), FORGET) == [("99.0", None)]
    assert len(b1.cache) == 0


def test_a_request_is_answered_and_goes_to_the_neighbours_that_it_concerns(b1: Broker) -> None:
    """Not back; its route grows by this broker, and tells what was responded."""
    b1.receive(2, Sub(topic(1)))
    b1.receive(3, Sub(topic(1)))
    b1.receive(4, Sub(topic(2)))
    found = published(b1, 1)
    actions = b1.receive(2, asking(topic(1)))
    answer = Response(found, (2, FAR), 1, kept=False, hops=1)
    assert sends(actions) == [(2, answer), (3, Request(1, (topic(1),), (1, 2, FAR), answered=(found.id,)))]
    assert notes(actions, REPLAY) == [("99.0", FAR)]


def test_without_the_proactive_mechanism_a_request_tells_nothing() -> None:
    """Section 5."""
    b1 = make(CachingParameters(proactive=False))
    b1.receive(3, Sub(topic(1)))
    published(b1, 1)
    assert sends(b1.receive(2, asking(topic(1))))[1:] == [(3, Request(1, (topic(1),), (1, 2, FAR)))]


def test_what_was_responded_is_not_responded_again(b1: Broker) -> None:
    """Section 5, proactive."""
    found = published(b1, 1)
    assert b1.receive(2, Request(1, (topic(1),), (2, FAR), answered=(found.id,))) == []


def test_an_answer_makes_a_message_as_good_as_new() -> None:
    """FIFO with regenerations: the other one goes."""
    b1 = make(CachingParameters(cache_size=2))
    b1.receive(S1, Sub(topic(2)))
    old = published(b1, 1)
    published(b1, 2, sequence=1)
    b1.receive(2, asking(topic(1)))
    new = published(b1, 1, sequence=2)
    assert list(b1.cache) == [old, new]


def test_a_response_goes_on_by_its_route(b1: Broker) -> None:
    """The broker's identifier is popped off; where a client wants the message it is cached."""
    actions = b1.receive(3, Response(event(1), (1, 2, FAR), 7, kept=False, hops=1))
    assert sends(actions) == [(2, Response(event(1), (2, FAR), 7, kept=False, hops=2))]
    assert notes(actions, CACHE) == [("99.0", None)]
    assert notes(b1.receive(3, Response(event(2, 1), (1, 2, FAR), 7, kept=False, hops=1)), CACHE) == []


def test_a_message_goes_back_once_for_each_request(b1: Broker) -> None:
    """Section 5, reactive: responded here or passed on."""
    found = published(b1, 1)
    b1.receive(2, asking(topic(1), number=7))
    for number, passes in ((7, 0), (8, 1), (8, 0)):
        actions = b1.receive(3, Response(found, (1, 2, FAR), number, kept=False, hops=1))
        assert len(sends(actions)) == passes
        assert (Note(DROP, notification_id="99.0", peer=FAR, detail=DUPLICATE) in actions) != passes


def test_where_no_client_wants_it_every_copy_passes(b1: Broker) -> None:
    """Section 5, reactive: "every broker with at least one client subscriber"."""
    for _ in range(2):
        assert sends(b1.receive(3, Response(event(2), (1, 2, FAR), 7, kept=False, hops=1)))


def test_to_the_letter_what_is_cached_is_dropped() -> None:
    """Whoever asked for it."""
    b1 = make(CachingParameters(drop_by_request=False))
    copy = Response(published(b1, 1), (1, 2, FAR), 7, kept=False, hops=1)
    assert sends(b1.receive(3, copy)) == []


@pytest.mark.parametrize(("reactive", "spare_kept", "passes"), [(True, True, 1), (True, False, 0), (False, False, 1)])
def test_what_was_kept_for_a_client_passes(reactive: bool, spare_kept: bool, passes: int) -> None:
    """Unless the reactive mechanism is taken to the letter."""
    b1 = make(CachingParameters(reactive=reactive, spare_kept=spare_kept))
    kept = Response(published(b1, 1), (1, 2, FAR), 7, kept=True, hops=1)
    assert len(sends(b1.receive(3, kept))) == passes


def test_who_detaches_has_its_messages_kept(b1: Broker) -> None:
    """Section 4: cached, "apart from delivering it to the rest of the connected clients"."""
    b1.receive(S2, Sub(topic(1)))
    assert b1.receive(S1, detaching(S1)) == []
    actions = b1.receive(2, Pub(event(1), 1))
    assert (sends(actions), notes(actions, STORE)) == ([(S2, Pub(event(1), 2))], [("99.0", S1)])


def test_who_is_back_elsewhere_gets_them_and_is_unsubscribed(b1: Broker) -> None:
    """Section 4; the request goes no farther, and nobody here wants the message now."""
    b1.receive(3, Sub(topic(1)))
    b1.receive(S1, detaching(S1))
    b1.gone(S1, moved=False)
    kept = published(b1, 1)
    actions = b1.receive(3, returning(S1, 3))
    assert sends(actions) == [(3, Response(kept, (3, S1), 2, kept=True, hops=1)), (3, Uns(topic(1)))]
    assert (notes(actions, REPLAY), notes(actions, FORGET)) == ([("99.0", S1)], [("99.0", None)])
    assert list(b1.table) == [(topic(1), 3)]


def test_who_is_back_here_stays_subscribed(b1: Broker) -> None:
    """The next message goes to it at once."""
    b1.receive(S1, detaching(S1))
    kept = published(b1, 1)
    assert sends(b1.receive(S1, returning(S1))) == [(S1, Response(kept, (S1,), 2, kept=True, hops=1))]
    assert sends(b1.receive(2, Pub(event(1, 1), 1))) == [(S1, Pub(event(1, 1), 2))]


def test_the_request_of_who_was_elsewhere_is_passed_on_only(b1: Broker) -> None:
    """The text: "only one broker responds to the mobile client's request"."""
    b1.receive(3, Sub(topic(1)))
    published(b1, 1)
    request = Request(2, (topic(1),), (2, FAR), FAR, 9)
    assert sends(b1.receive(2, request)) == [(3, Request(2, (topic(1),), (1, 2, FAR), FAR, 9))]


def test_what_the_link_does_not_carry_is_kept_for_who_detaches(b1: Broker) -> None:
    """Else it is lost, and the trace says so."""
    b1.receive(S1, detaching(S1))
    lost = [Pub(event(1, 1), 2), Response(event(1, 2), (S1,), 1, kept=False, hops=1), Sub(topic(3))]
    assert notes(b1.link_broken(S1, lost), STORE) == [("99.1", S1), ("99.2", S1)]
    actions = b1.link_broken(2, lost)
    assert notes(actions, DROP) == [("99.1", 2), ("99.2", 2)]
    assert {one.detail for one in actions if isinstance(one, Note)} == {NO_WAY}


def test_a_response_for_who_has_left_is_kept_or_lost(b1: Broker) -> None:
    """It is still for the client that asked."""
    response = Response(event(1), (1, S1), 1, kept=False, hops=1)
    b1.gone(S1, moved=False)
    assert notes(b1.receive(3, response), DROP) == [("99.0", S1)]
    b1.receive(S1, detaching(S1))
    b1.gone(S1, moved=False)
    assert notes(b1.receive(3, response), STORE) == []
    assert notes(b1.receive(3, replace(response, number=2)), STORE) == [("99.0", S1)]


def test_a_response_is_kept_for_nobody_else(b1: Broker) -> None:
    """Who is in movement has had the message when it was published; ordinary it is cached."""
    b1.receive(S1, detaching(S1))
    actions = b1.receive(3, Response(event(1), (1, 2, FAR), 1, kept=False, hops=1))
    assert (notes(actions, CACHE), notes(actions, STORE)) == ([("99.0", None)], [])


def test_a_response_without_a_route_goes_nowhere(b1: Broker) -> None:
    """Only a neighbour that misbehaves sends one."""
    assert b1.receive(3, Response(event(1), (), 1, kept=False, hops=1)) == []
