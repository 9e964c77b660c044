"""A broker that floods subscriptions again: b1 has the neighbours b2, b3 and b4, and b2 is its parent."""

from __future__ import annotations

import pytest

from roambus.extensions.first_approach.resubscribing import Broker
from roambus.python_protocol.brokers.broker import BrokerParameters, Pub
from roambus.python_protocol.brokers.routing import Entry, Sub, Uns
from roambus.python_protocol.trace_rows import DROP
from tests.python_protocol.brokers.actions import asked, notes, receive, sends
from tests.python_protocol.brokers.network import event, topic

S1, S2, S3 = 101, 102, 103


@pytest.fixture
def b1() -> Broker:
    """Knows s1 with f1 and f2 on the side of its parent, s2 behind b3, and s3 at itself."""
    made = Broker(1, BrokerParameters(link_layer=False))
    asked(made.migrate, 2)
    for neighbour in (3, 4):
        made.meet(neighbour)
    for wanted, interface, subscriber in ((1, 2, S1), (2, 2, S1), (3, 3, S2), (4, S3, S3)):
        receive(made, interface, Sub(subscriber, topic(wanted)))
    return made


def interfaces(broker: Broker) -> dict[int, list[int]]:
    return {subscriber: broker.table.interfaces(subscriber) for subscriber in (S1, S2, S3)}


def test_what_is_behind_a_broker_floods_from_its_new_parent(b1: Broker) -> None:
    """A SUB a subscription; the others are where the new parent is, and nothing goes down the tree."""
    asked(b1.gone, 2, moved=True)
    assert sends(asked(b1.migrate, 5)) == [(5, Sub(S2, topic(3))), (5, Sub(S3, topic(4)))]
    assert interfaces(b1) == {S1: [5], S2: [3], S3: [S3]}


def test_a_parent_that_is_back_is_announced_again(b1: Broker) -> None:
    """It may have missed something; what lies on its side stays there."""
    asked(b1.gone, 2, moved=True)
    assert sends(asked(b1.migrate, 2)) == [(2, Sub(S2, topic(3))), (2, Sub(S3, topic(4)))]
    assert interfaces(b1)[S1] == [2]


def test_a_parent_that_became_a_child_keeps_what_is_behind_it(b1: Broker) -> None:
    """The tree turned over: all of it is told to the new parent but what that one has itself."""
    assert sends(asked(b1.migrate, 3)) == [(3, Sub(S1, topic(1))), (3, Sub(S1, topic(2))), (3, Sub(S3, topic(4)))]
    assert interfaces(b1) == {S1: [2], S2: [3], S3: [S3]}


def test_a_sub_that_is_known_turns_the_way_and_goes_on(b1: Broker) -> None:
    """All filters of its subscriber are where it came from."""
    assert sends(receive(b1, 4, Sub(S1, topic(1)))) == [(2, Sub(S1, topic(1))), (3, Sub(S1, topic(1)))]
    assert list(b1.table)[:2] == [Entry(topic(1), 4, S1), Entry(topic(2), 4, S1)]


def test_a_notification_that_cannot_go_on_is_dropped(b1: Broker) -> None:
    """The trace says where the way was; it goes to the others."""
    asked(b1.gone, 2, moved=True)
    actions = receive(b1, 4, Pub(1, event(1)))
    assert sends(actions) == []
    assert notes(actions, DROP) == [("99.0", 2)]
    assert sends(receive(b1, 4, Pub(1, event(3)))) == [(3, Pub(2, event(3)))]


def test_what_a_link_did_not_carry_is_dropped(b1: Broker) -> None:
    """And its interface is gone."""
    assert notes(asked(b1.link_broken, 3, [Pub(1, event(3)), Sub(S1, topic(5))]), DROP) == [("99.0", 3)]
    assert 3 not in b1.neighbours


def test_uns_is_removed_wherever_it_comes_from(b1: Broker) -> None:
    """And goes on like a SUB."""
    assert sends(receive(b1, 4, Uns(S1, topic(1)))) == [(2, Uns(S1, topic(1))), (3, Uns(S1, topic(1)))]
    assert topic(1) not in b1.table.filters(S1)
