"""A broker with a cache, rule by rule. b1 has the neighbours b2, b3 and b4; s1 is its client."""

from __future__ import annotations

from dataclasses import replace

import pytest

from roambus.extensions.caching.broker import DUPLICATE, NO_WAY, Broker
from roambus.extensions.caching.cache import CACHE, FORGET, CachingParameters
from roambus.extensions.caching.subscriptions import Request, Response
from roambus.python_protocol.actions import Note
from roambus.python_protocol.brokers.anonymous import Sub, Uns
from roambus.python_protocol.brokers.broker import Pub
from roambus.python_protocol.filters import Filter, Notification
from roambus.python_protocol.trace_rows import DROP, REPLAY, ROUTE, STORE
from tests.python_protocol.brokers.actions import asked, notes, receive, sends
from tests.python_protocol.brokers.network import event, topic

S1, S2, FAR = 101, 102, 103


def make(parameters: CachingParameters = CachingParameters()) -> Broker:  # noqa: B008  # frozen
    made = Broker(1, parameters)
    for neighbour in (2, 3, 4):
        asked(made.neighbour_appeared, neighbour)
    asked(made.client_appeared, S1)
    receive(made, S1, Sub(topic(1)))
    return made


@pytest.fixture
def b1() -> Broker:
    """s1 wants topic 1."""
    return make()


def published(broker: Broker, number: int, sequence: int = 0) -> Notification:
    receive(broker, 2, Pub(1, event(number, sequence)))
    return event(number, sequence)


def asking(*filters: Filter, route: tuple[int, ...] = (2, FAR), number: int = 1) -> Request:
    return Request(number, filters=filters, route=route)


def detaching(client: int) -> Request:
    return Request(1, client, route=(client,))


def returning(client: int, *route: int) -> Request:
    return Request(2, client, 1, (topic(1),), (*route, client))


def test_a_new_neighbour_hears_of_every_subscription(b1: Broker) -> None:
    """It is told whether it comes as a parent or as a child."""
    assert sends(asked(b1.neighbour_appeared, 5)) == [(5, Sub(topic(1)))]
    assert sends(asked(b1.migrate, 6)) == [(6, Sub(topic(1)))]


def test_of_a_neighbour_that_is_gone_nothing_is_left(b1: Broker) -> None:
    """Its subscriptions are withdrawn with the next thing that the others are told."""
    receive(b1, 2, Sub(topic(2)))
    b1.gone(2, moved=False)
    assert sends(receive(b1, S1, Sub(topic(3)))) == [
        (neighbour, message) for neighbour in (3, 4) for message in (Sub(topic(3)), Uns(topic(2)))
    ]


def test_what_a_client_wants_is_cached(b1: Broker) -> None:
    """Section 3.2: "at least one client subscribed in this message"; a neighbour is none."""
    receive(b1, 3, Sub(topic(2)))
    actions = receive(b1, 2, Pub(1, event(1)))
    assert (sends(actions), notes(actions, CACHE)) == ([(S1, Pub(2, event(1)))], [("99.0", None)])
    assert Note(ROUTE, notification_id="99.0", detail=str(S1)) in actions
    assert notes(receive(b1, 2, Pub(1, event(2, 1))), CACHE) == []


def test_what_no_client_wants_any_more_is_forgotten(b1: Broker) -> None:
    """Section 3.2: "even if the cache is not full"."""
    published(b1, 1)
    receive(b1, S2, Sub(topic(1)))
    assert notes(receive(b1, S1, Uns(topic(1))), FORGET) == []
    assert notes(receive(b1, S2, Uns(topic(1))), FORGET) == [("99.0", None)]
    assert len(b1.cache) == 0


def test_a_request_is_answered_and_goes_to_the_neighbours_that_it_concerns(b1: Broker) -> None:
    """It does not go back; its route grows by this broker, and it tells what was responded."""
    receive(b1, 2, Sub(topic(1)))
    receive(b1, 3, Sub(topic(1)))
    receive(b1, 4, Sub(topic(2)))
    found = published(b1, 1)
    actions = receive(b1, 2, asking(topic(1)))
    answer = Response(1, kept=False, hops=1, route=(2, FAR), notification=found)
    assert sends(actions) == [
        (2, answer),
        (3, Request(1, filters=(topic(1),), route=(1, 2, FAR), answered=(found.id,))),
    ]
    assert notes(actions, REPLAY) == [("99.0", FAR)]


def test_without_the_proactive_mechanism_a_request_tells_nothing() -> None:
    """It is the proactive mechanism that makes it tell what was responded (section 5)."""
    b1 = make(CachingParameters(proactive=False))
    receive(b1, 3, Sub(topic(1)))
    published(b1, 1)
    assert sends(receive(b1, 2, asking(topic(1))))[1:] == [(3, Request(1, filters=(topic(1),), route=(1, 2, FAR)))]


def test_what_was_responded_is_not_responded_again(b1: Broker) -> None:
    """The proactive mechanism of section 5 sees to that."""
    found = published(b1, 1)
    assert receive(b1, 2, Request(1, filters=(topic(1),), route=(2, FAR), answered=(found.id,))) == []


def test_an_answer_makes_a_message_as_good_as_new() -> None:
    """By FIFO with regenerations it is the other one that goes."""
    b1 = make(CachingParameters(cache_size=2))
    receive(b1, S1, Sub(topic(2)))
    old = published(b1, 1)
    published(b1, 2, sequence=1)
    receive(b1, 2, asking(topic(1)))
    new = published(b1, 1, sequence=2)
    assert list(b1.cache) == [old, new]


def test_a_response_goes_on_by_its_route(b1: Broker) -> None:
    """The broker's identifier is popped off; where a client wants the message it is cached."""
    actions = receive(b1, 3, Response(7, kept=False, hops=1, route=(1, 2, FAR), notification=event(1)))
    assert sends(actions) == [(2, Response(7, kept=False, hops=2, route=(2, FAR), notification=event(1)))]
    assert notes(actions, CACHE) == [("99.0", None)]
    assert (
        notes(receive(b1, 3, Response(7, kept=False, hops=1, route=(1, 2, FAR), notification=event(2, 1))), CACHE) == []
    )


def test_a_message_goes_back_once_for_each_request(b1: Broker) -> None:
    """By the reactive mechanism of section 5, it is responded here or passed on, and not both."""
    found = published(b1, 1)
    receive(b1, 2, asking(topic(1), number=7))
    for number, passes in ((7, 0), (8, 1), (8, 0)):
        actions = receive(b1, 3, Response(number, kept=False, hops=1, route=(1, 2, FAR), notification=found))
        assert len(sends(actions)) == passes
        assert (Note(DROP, notification_id="99.0", peer=FAR, detail=DUPLICATE) in actions) != passes


def test_where_no_client_wants_it_every_copy_passes(b1: Broker) -> None:
    """The reactive mechanism of section 5 is for "every broker with at least one client subscriber"."""
    for _ in range(2):
        assert sends(receive(b1, 3, Response(7, kept=False, hops=1, route=(1, 2, FAR), notification=event(2))))


def test_as_published_what_is_cached_is_dropped() -> None:
    """It does not matter who has asked for it."""
    b1 = make(CachingParameters(drop_by_request=False))
    copy = Response(7, kept=False, hops=1, route=(1, 2, FAR), notification=published(b1, 1))
    assert sends(receive(b1, 3, copy)) == []


@pytest.mark.parametrize(("reactive", "spare_kept", "passes"), [(True, True, 1), (True, False, 0), (False, False, 1)])
def test_what_was_kept_for_a_client_passes(reactive: bool, spare_kept: bool, passes: int) -> None:
    """It does not pass if the reactive mechanism is taken as published."""
    b1 = make(CachingParameters(reactive=reactive, spare_kept=spare_kept))
    kept = Response(7, kept=True, hops=1, route=(1, 2, FAR), notification=published(b1, 1))
    assert len(sends(receive(b1, 3, kept))) == passes


def test_who_detaches_has_its_messages_kept(b1: Broker) -> None:
    """By section 4 they are cached, "apart from delivering it to the rest of the connected clients"."""
    receive(b1, S2, Sub(topic(1)))
    assert receive(b1, S1, detaching(S1)) == []
    actions = receive(b1, 2, Pub(1, event(1)))
    assert (sends(actions), notes(actions, STORE)) == ([(S2, Pub(2, event(1)))], [("99.0", S1)])


def test_who_is_back_elsewhere_gets_them_and_is_unsubscribed(b1: Broker) -> None:
    """By section 4 the request goes no farther, and nobody here wants the message now."""
    receive(b1, 3, Sub(topic(1)))
    receive(b1, S1, detaching(S1))
    b1.gone(S1, moved=False)
    kept = published(b1, 1)
    actions = receive(b1, 3, returning(S1, 3))
    assert sends(actions) == [(3, Response(2, kept=True, hops=1, route=(3, S1), notification=kept)), (3, Uns(topic(1)))]
    assert (notes(actions, REPLAY), notes(actions, FORGET)) == ([("99.0", S1)], [("99.0", None)])
    assert list(b1.table) == [(topic(1), 3)]


@pytest.mark.parametrize("follow_client", [True, False])
def test_who_is_back_here_stays_subscribed(*, follow_client: bool) -> None:
    """It gets what was kept, also as published, and the next message at once."""
    b1 = make(CachingParameters(follow_client=follow_client))
    receive(b1, S1, detaching(S1))
    kept = published(b1, 1)
    assert sends(receive(b1, S1, returning(S1))) == [
        (S1, Response(2, kept=True, hops=1, route=(S1,), notification=kept))
    ]
    assert sends(receive(b1, 2, Pub(1, event(1, 1)))) == [(S1, Pub(2, event(1, 1)))]


def test_the_request_of_who_was_elsewhere_is_passed_on_only(b1: Broker) -> None:
    """By section 5, "only one broker responds to the mobile client's request"."""
    receive(b1, 3, Sub(topic(1)))
    published(b1, 1)
    request, passed = (Request(2, FAR, 9, (topic(1),), route) for route in ((2, FAR), (1, 2, FAR)))
    assert sends(receive(b1, 2, request)) == [(3, passed), (4, passed)]


def test_without_find_left_it_follows_subscriptions() -> None:
    """By section 4, "that request message will reach according to [6]" the broker that was left."""
    b1 = make(CachingParameters(find_left=False))
    receive(b1, 3, Sub(topic(1)))
    request, passed = (Request(2, FAR, 9, (topic(1),), route) for route in ((2, FAR), (1, 2, FAR)))
    assert sends(receive(b1, 2, request)) == [(3, passed)]


def test_what_comes_for_who_is_elsewhere_goes_after_it(b1: Broker) -> None:
    """By the way of its last request; `follow_client`."""
    receive(b1, S1, detaching(S1))
    b1.gone(S1, moved=False)
    receive(b1, 2, returning(S1, 2))
    response = Response(1, kept=True, hops=1, route=(1, S1), notification=event(1))
    assert sends(receive(b1, 3, response)) == [
        (2, Response(2, kept=True, hops=1, route=(2, S1), notification=event(1)))
    ]


def test_who_is_back_here_is_no_longer_followed(b1: Broker) -> None:
    """It was elsewhere, came back, and its link breaks: what is lost does not go to where it was."""
    receive(b1, S1, detaching(S1))
    receive(b1, 2, returning(S1, 2))
    receive(b1, S1, Sub(topic(1)))
    receive(b1, S1, Request(3, S1, 2, (topic(1),), (S1,)))
    actions = asked(b1.link_broken, S1, [Pub(2, event(1, 7))])
    assert (sends(actions), notes(actions, DROP)) == ([], [(str(event(1, 7).id), S1)])


def test_who_is_here_again_has_overtaken_its_request(b1: Broker) -> None:
    """It gets what was kept at once, and its subscription stays when the request comes from where it was meanwhile."""
    receive(b1, S1, detaching(S1))
    message = published(b1, 1)
    receive(b1, S1, Sub(topic(1)))
    back = Request(4, S1, 3, (topic(1),), (S1,))
    assert sends(receive(b1, S1, back))[0] == (S1, Response(4, kept=True, hops=1, route=(S1,), notification=message))
    assert receive(b1, 3, returning(S1, 3)) == []
    assert sends(receive(b1, 2, Pub(1, event(1, 7)))) == [(S1, Pub(2, event(1, 7)))]


def test_a_broker_sends_what_is_still_wanted_of_what_it_kept(b1: Broker) -> None:
    """By section 4, a request has "the subscription filter (or filters or part of them)"; the rest is forgotten."""
    receive(b1, S1, Sub(topic(2)))
    receive(b1, S1, detaching(S1))
    published(b1, 1)
    message = published(b1, 2, 1)
    actions = receive(b1, 2, replace(returning(S1, 2), filters=(topic(2),)))
    assert [message.notification for _, message in sends(actions) if isinstance(message, Response)] == [message]
    assert len(b1.cache) == 0


def test_a_request_without_a_route_is_ignored(b1: Broker) -> None:
    """There is nobody to answer."""
    published(b1, 1)
    for request in (asking(topic(1), route=()), Request(1, FAR, 1, (topic(1),)), Request(1, FAR, 9, (topic(1),))):
        assert receive(b1, 2, request) == []


def test_what_the_link_does_not_carry_is_kept_for_who_detaches(b1: Broker) -> None:
    """What is for anybody else is lost, and the trace says so."""
    receive(b1, S1, detaching(S1))
    lost = [Pub(2, event(1, 1)), Response(1, kept=False, hops=1, route=(S1,), notification=event(1, 2)), Sub(topic(3))]
    assert notes(asked(b1.link_broken, S1, lost), STORE) == [("99.1", S1), ("99.2", S1)]
    actions = asked(b1.link_broken, 2, lost)
    assert notes(actions, DROP) == [("99.1", 2), ("99.2", 2)]
    assert {action.detail for action in actions if isinstance(action, Note)} == {NO_WAY}


def test_a_response_for_who_has_left_is_kept_or_lost(b1: Broker) -> None:
    """It is still for the client that asked."""
    response = Response(1, kept=False, hops=1, route=(1, S1), notification=event(1))
    b1.gone(S1, moved=False)
    assert notes(receive(b1, 3, response), DROP) == [("99.0", S1)]
    receive(b1, S1, detaching(S1))
    b1.gone(S1, moved=False)
    assert notes(receive(b1, 3, response), STORE) == []
    assert notes(receive(b1, 3, replace(response, number=2)), STORE) == [("99.0", S1)]


def test_a_response_is_kept_for_nobody_else(b1: Broker) -> None:
    """Who is in movement has had the message when it was published, so it is cached as an ordinary one."""
    receive(b1, S1, detaching(S1))
    actions = receive(b1, 3, Response(1, kept=False, hops=1, route=(1, 2, FAR), notification=event(1)))
    assert (notes(actions, CACHE), notes(actions, STORE)) == ([("99.0", None)], [])


def test_a_response_without_a_route_goes_nowhere(b1: Broker) -> None:
    """Only a neighbour that misbehaves sends one."""
    assert receive(b1, 3, Response(1, kept=False, hops=1, route=(), notification=event(1))) == []
