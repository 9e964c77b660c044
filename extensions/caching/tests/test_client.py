"""A client that detaches and comes back (the paper on caching, section 4)."""

from __future__ import annotations

import pytest

from roambus.extensions.caching.cache import ANSWER, CachingParameters
from roambus.extensions.caching.client import Client
from roambus.extensions.caching.subscriptions import Request, Response
from roambus.python_protocol.actions import Action, Deliver, Note, Send
from roambus.python_protocol.brokers.anonymous import Sub, Uns
from roambus.python_protocol.brokers.broker import Pub
from roambus.python_protocol.filters import Filter
from roambus.python_protocol.trace_rows import DROP
from tests.python_protocol.brokers.actions import asked, receive
from tests.python_protocol.brokers.network import event, topic

ME, HERE, THERE = 7, 1, 2
F1, F2 = topic(1), topic(2)


def subscribed(parameters: CachingParameters = CachingParameters()) -> Client:  # noqa: B008  # frozen
    """At HERE, with topic 1."""
    made = Client(ME, parameters)
    asked(made.attach, HERE)
    assert asked(made.subscribe, F1)[0] == Send(HERE, Sub(F1))
    return made


def away(parameters: CachingParameters = CachingParameters()) -> Client:  # noqa: B008  # frozen
    """It has left HERE, and the link is gone."""
    made = subscribed(parameters)
    asked(made.leave)
    made.detach()
    return made


def response(number: int, *, kept: bool) -> Response:
    return Response(3, kept=kept, hops=2, route=(), notification=event(1, number))


def test_it_says_that_it_leaves() -> None:
    """It sends a REQUEST with its id, and what still comes is delivered."""
    made = subscribed()
    assert asked(made.leave) == [Send(HERE, Request(1, ME, route=(ME,)))]
    assert receive(made, HERE, Pub(3, event(1))) == [Deliver(event(1), 3)]


def test_back_elsewhere_it_subscribes_and_asks_for_what_was_kept() -> None:
    """It does so in this order, once it has a broker and the application is back, whichever comes first."""
    said = [Send(THERE, Sub(F1)), Send(THERE, Request(2, ME, HERE, (F1,), (ME,)))]
    made = away()
    assert asked(made.attach, THERE) == []
    assert asked(made.come_back) == said
    made = away()
    assert asked(made.come_back) == []
    assert asked(made.attach, THERE) == said


def test_back_at_the_same_broker_it_only_asks() -> None:
    """The broker still knows that it is subscribed."""
    made = subscribed()
    asked(made.leave)
    assert asked(made.come_back) == [Send(HERE, Request(2, ME, HERE, (F1,), (ME,)))]


@pytest.mark.parametrize(("find_left", "asked_for"), [(True, ()), (False, (F1,))])
@pytest.mark.parametrize(("broker", "uns"), [(HERE, [Send(HERE, Uns(F1))]), (THERE, [])])
def test_what_it_takes_up_and_gives_up_on_its_way_counts_when_it_is_back(
    broker: int, uns: list[Action], find_left: bool, asked_for: tuple[Filter, ...]
) -> None:
    """It asks for what it still wants of what it had; if nothing, for all where the request has to find a way."""
    made = away(CachingParameters(find_left=find_left))
    assert asked(made.subscribe, F2) + asked(made.unsubscribe, F1) == []
    asked(made.attach, broker)
    request = Send(broker, Request(2, ME, HERE, asked_for, (ME,)))
    assert asked(made.come_back) == [Send(broker, Sub(F2)), *uns, request]


def test_a_broker_that_was_left_earlier_learns_what_was_given_up_since() -> None:
    """It may not know yet that the client has been elsewhere."""
    made = away()
    asked(made.attach, THERE)
    asked(made.come_back)
    asked(made.subscribe, F2)
    asked(made.unsubscribe, F1)
    asked(made.leave)
    asked(made.detach)
    asked(made.attach, HERE)
    request = Send(HERE, Request(4, ME, THERE, (F2,), (ME,)))
    assert asked(made.come_back) == [Send(HERE, Sub(F2)), Send(HERE, Uns(F1)), request]


def test_who_has_been_elsewhere_says_goodbye_without_filters_too() -> None:
    """Its last broker has to know that it is gone, for what it gave up may still be on its way to there."""
    made = away()
    asked(made.attach, THERE)
    asked(made.come_back)
    asked(made.unsubscribe, F1)
    assert asked(made.leave) == [Send(THERE, Request(3, ME, route=(ME,)))]


def test_a_client_without_filters_leaves_without_a_word() -> None:
    """There is nothing to keep; what it takes up on its way it subscribes to."""
    made = Client(ME, CachingParameters())
    asked(made.attach, HERE)
    assert asked(made.leave) == []
    asked(made.subscribe, F1)
    assert asked(made.come_back) == [Send(HERE, Sub(F1))]


def test_without_support_it_unsubscribes_and_subscribes_anew() -> None:
    """It behaves as if it left for ever."""
    made = subscribed(CachingParameters(mobility_support=False))
    assert asked(made.leave) == [Send(HERE, Uns(F1))]
    assert asked(made.come_back) == [Send(HERE, Sub(F1))]


def test_who_never_left_is_not_back() -> None:
    """It says nothing."""
    assert asked(subscribed().come_back) == []


def test_on_its_way_it_keeps_what_it_publishes() -> None:
    """It publishes that when it is back."""
    made = subscribed()
    asked(made.leave)
    assert asked(made.publish, event(1)) == []
    assert asked(made.come_back)[-1] == Send(HERE, Pub(1, event(1)))


def test_a_return_that_the_link_lost_is_said_again() -> None:
    """The next broker hears of it."""
    made = away()
    asked(made.attach, THERE)
    lost = [action.message for action in asked(made.come_back) if isinstance(action, Send)]
    made.detach()
    asked(made.link_broken, lost)
    assert asked(made.attach, 3)[-1] == Send(3, Request(3, ME, HERE, (F1,), (ME,)))


def test_found_elsewhere_without_having_left_it_subscribes_anew() -> None:
    """It does what a new client would do."""
    made = subscribed()
    made.detach()
    assert asked(made.attach, THERE) == [Send(THERE, Sub(F1))]


def test_who_wants_old_messages_asks_for_them() -> None:
    """It asks once for each subscription, and for all at once at its first broker (section 3.2)."""
    made = Client(ME, CachingParameters(request_old=True))
    asked(made.subscribe, F1)
    asked(made.subscribe, F2)
    assert asked(made.attach, HERE) == [
        Send(HERE, Sub(F1)),
        Send(HERE, Sub(F2)),
        Send(HERE, Request(1, filters=(F1, F2), route=(ME,))),
    ]
    made = subscribed(CachingParameters(request_old=True))
    assert asked(made.subscribe, F2) == [Send(HERE, Sub(F2)), Send(HERE, Request(2, filters=(F2,), route=(ME,)))]
    assert asked(made.subscribe, F2) == []


def test_a_message_is_delivered_once() -> None:
    """It does not matter how it comes, and the trace tells of the second copy."""
    made = subscribed()
    assert receive(made, HERE, response(1, kept=True)) == [Deliver(event(1, 1), 2)]
    assert receive(made, HERE, Pub(1, event(1, 1))) == [Note(DROP, notification_id="99.1", detail="received already")]


def test_as_published_it_is_delivered_twice() -> None:
    """The paper does not speak of it."""
    made = subscribed(CachingParameters(deliver_once=False))
    for _ in range(2):
        assert receive(made, HERE, response(1, kept=True)) == [Deliver(event(1, 1), 2)]


def test_the_trace_tells_what_a_request_for_old_messages_brings() -> None:
    """The trace has the number of the request; what was kept is no answer to one."""
    made = subscribed()
    answer = Note(ANSWER, notification_id="99.1", detail="3")
    assert receive(made, HERE, response(1, kept=False)) == [answer, Deliver(event(1, 1), 2)]


def test_what_it_does_not_want_any_more_is_not_delivered() -> None:
    """It is not remembered, either, because the client may want it again."""
    made = away()
    asked(made.unsubscribe, F1)
    assert receive(made, HERE, response(1, kept=True)) == [Note(DROP, notification_id="99.1", detail="not subscribed")]
    asked(made.subscribe, F1)
    assert receive(made, HERE, response(1, kept=True)) == [Deliver(event(1, 1), 2)]
