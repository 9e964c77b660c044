"""Numbered messages: taken once, in order if that is asked for, and kept until they are accepted."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roambus.extensions.replicated.messages import SUBSCRIPTIONS, Event, Update, acceptance
from roambus.extensions.replicated.site_state import Incoming, Outgoing
from roambus.python_protocol.filters import Notification, NotificationId

PUBLISHER = 7
EVENT = Event(PUBLISHER, 1, 1, Notification(NotificationId(PUBLISHER, 0), ()))


@given(st.permutations(list(range(1, 9))), st.lists(st.integers(1, 8)))
def test_whatever_comes_in_whatever_order_is_taken_once_and_in_order(order: list[int], again: list[int]) -> None:
    """The waiting list of section 5.1."""
    incoming = Incoming(events_in_order=True)
    arrivals = [*order, *again]
    random.Random(len(again)).shuffle(arrivals)
    taken = [update for number in arrivals for update in incoming.take(Update(PUBLISHER, number))]
    assert [update.number for update in taken] == list(range(1, 9))


@given(st.permutations(list(range(1, 9))))
def test_without_order_everything_is_taken_as_it_comes_and_once(order: list[int]) -> None:
    """Without order, numbers only tell what has come before."""
    incoming = Incoming(events_in_order=False)
    for number in order:
        assert incoming.is_new(Update(PUBLISHER, number))
        assert len(incoming.take(Update(PUBLISHER, number))) == 1
        assert not incoming.is_new(Update(PUBLISHER, number))
        assert incoming.take(Update(PUBLISHER, number)) == []


def test_subscriptions_are_always_taken_in_order() -> None:
    """An unsubscription that overtook its subscription would find nothing to remove."""
    incoming = Incoming(events_in_order=False)
    assert incoming.take(Update(SUBSCRIPTIONS, 2)) == []
    assert len(incoming.take(Update(SUBSCRIPTIONS, 1))) == 2


def test_streams_are_numbered_apart() -> None:
    """Each stream is numbered from 1."""
    outgoing = Outgoing()
    sent = []
    for stream in (PUBLISHER, 8, PUBLISHER):
        sent.append(outgoing.number(Update(stream, 99)))
        outgoing.put(sent[-1])
    assert [(message.stream, message.number) for message in sent] == [(PUBLISHER, 1), (8, 1), (PUBLISHER, 2)]


@pytest.mark.parametrize("is_early", [True, False])
def test_what_is_accepted_is_not_sent_again(is_early: bool) -> None:
    """The reply counts even if it comes before a replica has learnt that there is something to be replied to."""
    outgoing = Outgoing()
    message, accepted = EVENT, acceptance(EVENT)
    if is_early:
        assert not outgoing.accept(accepted)
        assert not outgoing.put(message)
    else:
        assert outgoing.put(message)
        assert outgoing.accept(accepted)
    assert not outgoing.unaccepted
    assert not outgoing.early


def test_a_second_reply_is_not_taken_for_an_early_one() -> None:
    """It would be remembered for ever otherwise."""
    outgoing = Outgoing()
    outgoing.put(EVENT)
    outgoing.accept(acceptance(EVENT))
    assert not outgoing.accept(acceptance(EVENT))
    assert not outgoing.early


@pytest.mark.parametrize("is_early", [True, False])
def test_a_reply_to_another_notification_under_the_same_number_accepts_nothing(is_early: bool) -> None:
    """A leader that has lost its copy gave the number to the other one."""
    outgoing, late = Outgoing(), acceptance(replace(EVENT, notification=Notification(NotificationId(PUBLISHER, 9), ())))
    if is_early:
        assert not outgoing.accept(late)
    assert outgoing.put(EVENT)
    assert not outgoing.accept(late)
    assert list(outgoing.unaccepted.values()) == [EVENT]
    assert not outgoing.early


def test_numbers_that_were_accepted_from_a_lost_copy_are_used() -> None:
    """Of 1 to 3, the neighbour has 2: 1 goes to an UPDATE, for which it waits, and the next message has 3."""
    outgoing = Outgoing()
    outgoing.accept(acceptance(replace(EVENT, number=2)))
    outgoing.skip_used()
    assert list(outgoing.unaccepted.values()) == [Update(PUBLISHER, 1)]
    assert outgoing.number(EVENT).number == 3
    assert not outgoing.early
