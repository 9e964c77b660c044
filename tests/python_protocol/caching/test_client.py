"""A client that detaches and comes back (001, section 4)."""

from __future__ import annotations

import pytest

from roambus.python_protocol.actions import Action, Deliver, Note, Send
from roambus.python_protocol.brokers.messages import Pub
from roambus.python_protocol.caching.client import Client
from roambus.python_protocol.caching.messages import Request, Response
from roambus.python_protocol.caching.parameters import CachingParameters
from roambus.python_protocol.notes import ANSWER, DROP
from roambus.python_protocol.simple.messages import Sub, Uns
from tests.python_protocol.brokers.network import event, topic

ME, HERE, THERE = 7, 1, 2
F1, F2 = topic(1), topic(2)


def subscribed(parameters: CachingParameters = CachingParameters()) -> Client:  # noqa: B008  # frozen
    """At HERE, with topic 1."""
    made = Client(ME, parameters)
    made.attach(HERE)
    assert made.subscribe(F1)[0] == Send(HERE, Sub(F1))
    return made


def away(parameters: CachingParameters = CachingParameters()) -> Client:  # noqa: B008  # frozen
    """It has left HERE, and the link is gone."""
    made = subscribed(parameters)
    made.leave()
    made.detach()
    return made


def response(number: int, *, kept: bool) -> Response:
    return Response(event(1, number), (), 3, kept=kept, hops=2)


def test_it_says_that_it_leaves() -> None:
    """By a REQUEST with its id; what still comes is delivered."""
    made = subscribed()
    assert made.leave() == [Send(HERE, Request(1, (), (ME,), ME))]
    assert made.receive(Pub(event(1), 3)) == [Deliver(event(1), 3)]


def test_back_elsewhere_it_subscribes_and_asks_for_what_was_kept() -> None:
    """In this order, once it has a broker and the application is back, whichever comes first."""
    said = [Send(THERE, Sub(F1)), Send(THERE, Request(2, (F1,), (ME,), ME, HERE))]
    made = away()
    assert made.attach(THERE) == []
    assert made.come_back() == said
    made = away()
    assert made.come_back() == []
    assert made.attach(THERE) == said


def test_back_at_the_same_broker_it_only_asks() -> None:
    """That it is subscribed is known there."""
    made = subscribed()
    made.leave()
    assert made.come_back() == [Send(HERE, Request(2, (F1,), (ME,), ME, HERE))]


@pytest.mark.parametrize(("broker", "uns"), [(HERE, [Send(HERE, Uns(F1))]), (THERE, [])])
def test_what_it_takes_up_and_gives_up_on_its_way_counts_when_it_is_back(broker: int, uns: list[Action]) -> None:
    """Asked for is what it wanted before: by that the request finds its way."""
    made = away()
    assert made.subscribe(F2) + made.unsubscribe(F1) == []
    made.attach(broker)
    request = Send(broker, Request(2, (F1,), (ME,), ME, HERE))
    assert made.come_back() == [Send(broker, Sub(F2)), *uns, request]


def test_a_client_without_filters_leaves_without_a_word() -> None:
    """There is nothing to keep; what it takes up on its way it subscribes to."""
    made = Client(ME, CachingParameters())
    made.attach(HERE)
    assert made.leave() == []
    made.subscribe(F1)
    assert made.come_back() == [Send(HERE, Sub(F1))]


def test_without_support_it_unsubscribes_and_subscribes_anew() -> None:
    """As if it left for ever."""
    made = subscribed(CachingParameters(mobility_support=False))
    assert made.leave() == [Send(HERE, Uns(F1))]
    assert made.come_back() == [Send(HERE, Sub(F1))]


def test_who_never_left_is_not_back() -> None:
    """It says nothing."""
    assert subscribed().come_back() == []


def test_on_its_way_it_keeps_what_it_publishes() -> None:
    """And publishes it when it is back."""
    made = subscribed()
    made.leave()
    assert made.publish(event(1)) == []
    assert made.come_back()[-1] == Send(HERE, Pub(event(1), 1))


def test_a_return_that_the_link_lost_is_said_again() -> None:
    """To the next broker."""
    made = away()
    made.attach(THERE)
    lost = [action.message for action in made.come_back() if isinstance(action, Send)]
    made.detach()
    made.link_broken(lost)
    assert made.attach(3)[-1] == Send(3, Request(3, (F1,), (ME,), ME, HERE))


def test_found_elsewhere_without_having_left_it_subscribes_anew() -> None:
    """As a new client would."""
    made = subscribed()
    made.detach()
    assert made.attach(THERE) == [Send(THERE, Sub(F1))]


def test_who_wants_old_messages_asks_for_them() -> None:
    """Section 3.2: once for each subscription, and for all at once at its first broker."""
    made = Client(ME, CachingParameters(request_old=True))
    made.subscribe(F1)
    made.subscribe(F2)
    assert made.attach(HERE) == [Send(HERE, Sub(F1)), Send(HERE, Sub(F2)), Send(HERE, Request(1, (F1, F2), (ME,)))]
    made = subscribed(CachingParameters(request_old=True))
    assert made.subscribe(F2) == [Send(HERE, Sub(F2)), Send(HERE, Request(2, (F2,), (ME,)))]
    assert made.subscribe(F2) == []


def test_a_message_is_delivered_once() -> None:
    """However it comes; the trace tells of the second copy."""
    made = subscribed()
    assert made.receive(response(1, kept=True)) == [Deliver(event(1, 1), 2)]
    assert made.receive(Pub(event(1, 1), 1)) == [Note(DROP, notification_id="99.1", detail="received already")]


def test_to_the_letter_it_is_delivered_twice() -> None:
    """The paper does not speak of it."""
    made = subscribed(CachingParameters(deliver_once=False))
    for _ in range(2):
        assert made.receive(response(1, kept=True)) == [Deliver(event(1, 1), 2)]


def test_the_trace_tells_what_a_request_for_old_messages_brings() -> None:
    """With its number; what was kept is no answer to one."""
    made = subscribed()
    answer = Note(ANSWER, notification_id="99.1", detail="3")
    assert made.receive(response(1, kept=False)) == [answer, Deliver(event(1, 1), 2)]


def test_what_it_does_not_want_any_more_is_not_delivered() -> None:
    """Nor remembered: it may want it again."""
    made = away()
    made.unsubscribe(F1)
    assert made.receive(response(1, kept=True)) == [Note(DROP, notification_id="99.1", detail="not subscribed")]
    made.subscribe(F1)
    assert made.receive(response(1, kept=True)) == [Deliver(event(1, 1), 2)]
