"""A broker of Simple Routing, rule by rule: algorithm 2.1 of the thesis. b1 has the neighbours b2, b3 and b4."""

from __future__ import annotations

import pytest

from roambus.extensions.first_approach.simple import Broker, Entry
from roambus.python_protocol.actions import Note
from roambus.python_protocol.brokers.anonymous import Sub, Uns
from roambus.python_protocol.brokers.broker import BrokerParameters, Pub
from roambus.python_protocol.trace_rows import DROP, ROUTE
from tests.python_protocol.brokers.actions import asked, notes, receive, sends
from tests.python_protocol.brokers.network import event, topic

S1, S2 = 101, 102


@pytest.fixture
def b1() -> Broker:
    """Knows its neighbours, and no subscription."""
    made = Broker(1, BrokerParameters())
    for neighbour in (2, 3, 4):
        asked(made.neighbour_appeared, neighbour)
    return made


def test_sub_adds_one_entry_and_goes_to_all_but_its_sender(b1: Broker) -> None:
    """Lines 1 to 4; an entry that is already there is added once more."""
    for _ in range(2):
        assert sends(receive(b1, 2, Sub(topic(1)))) == [(3, Sub(topic(1))), (4, Sub(topic(1)))]
    assert list(b1.table) == [Entry(topic(1), 2)] * 2


def test_uns_removes_one_entry_and_goes_to_all_but_its_sender(b1: Broker) -> None:
    """Lines 5 to 8: one of several equal ones, that of the sender."""
    for sender in (2, 2, 3):
        receive(b1, sender, Sub(topic(1)))
    left = [[Entry(topic(1), 2), Entry(topic(1), 3)], [Entry(topic(1), 3)], [Entry(topic(1), 3)]]
    for entries in left:
        assert sends(receive(b1, 2, Uns(topic(1)))) == [(3, Uns(topic(1))), (4, Uns(topic(1)))]
        assert list(b1.table) == entries


def test_pub_goes_once_to_each_interface_that_matches_but_not_back(b1: Broker) -> None:
    """Lines 9 to 15."""
    for sender, wanted in ((2, 1), (3, 1), (3, 1), (4, 2), (S1, 1)):
        receive(b1, sender, Sub(topic(wanted)))
    assert sends(receive(b1, 2, Pub(3, event(1)))) == [(3, Pub(4, event(1))), (S1, Pub(4, event(1)))]


def test_a_client_gets_what_it_publishes_itself(b1: Broker) -> None:
    """Line 11, y != z, is meant for brokers: a subscriber and the publisher on its node have one interface."""
    receive(b1, S1, Sub(topic(1)))
    receive(b1, 1, Sub(topic(1)))
    assert sends(receive(b1, S1, Pub(1, event(1)))) == [(S1, Pub(2, event(1))), (1, Pub(1, event(1)))]


def test_the_trace_tells_of_the_subscribers_at_this_broker(b1: Broker) -> None:
    """Others are not known by name."""
    for sender in (2, S1, S2):
        receive(b1, sender, Sub(topic(1)))
    assert Note(ROUTE, notification_id="99.0", detail="101 102") in receive(b1, 3, Pub(1, event(1)))


def test_what_has_no_link_is_dropped_and_traced(b1: Broker) -> None:
    """Section 2.3: the system is static, nothing is kept for later."""
    receive(b1, 2, Sub(topic(1)))
    assert notes(asked(b1.link_broken, 2, [Sub(topic(2)), Pub(2, event(1, 6))]), DROP) == [("99.6", 2)]
    actions = receive(b1, 3, Pub(2, event(1, 7)))
    assert (sends(actions), notes(actions, DROP)) == ([], [("99.7", 2)])
