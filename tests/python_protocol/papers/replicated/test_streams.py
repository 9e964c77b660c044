"""Numbered messages: taken once, in order if that is asked for, and kept until they are accepted."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roambus.python_protocol.papers.replicated.messages import SUBSCRIPTIONS, Key, Update
from roambus.python_protocol.papers.replicated.site_state import Incoming, Outgoing

PUBLISHER = 7


@given(st.permutations(list(range(1, 9))), st.lists(st.integers(1, 8)))
def test_whatever_comes_in_whatever_order_is_taken_once_and_in_order(order: list[int], again: list[int]) -> None:
    """The waiting list of section 5.1."""
    incoming = Incoming(events_in_order=True)
    arrivals = [*order, *again]
    random.Random(len(again)).shuffle(arrivals)
    taken = [one for number in arrivals for one in incoming.take(Update(PUBLISHER, number))]
    assert [one.number for one in taken] == list(range(1, 9))


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
    assert [(one.stream, one.number) for one in sent] == [(PUBLISHER, 1), (8, 1), (PUBLISHER, 2)]


@pytest.mark.parametrize("is_early", [True, False])
def test_what_is_accepted_is_not_sent_again(is_early: bool) -> None:
    """The reply counts even if it comes before a replica has learnt that there is something to be replied to."""
    outgoing = Outgoing()
    message, key = Update(PUBLISHER, 1), Key(PUBLISHER, 1)
    if is_early:
        assert not outgoing.accept(key)
        assert not outgoing.put(message)
    else:
        assert outgoing.put(message)
        assert outgoing.accept(key)
    assert not outgoing.unaccepted
    assert not outgoing.early


def test_a_second_reply_is_not_taken_for_an_early_one() -> None:
    """It would be remembered for ever otherwise."""
    outgoing = Outgoing()
    outgoing.put(Update(PUBLISHER, 1))
    outgoing.accept(Key(PUBLISHER, 1))
    assert not outgoing.accept(Key(PUBLISHER, 1))
    assert not outgoing.early
