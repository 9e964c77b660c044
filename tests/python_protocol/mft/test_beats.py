"""A broker whose heartbeats migrate: places go up the tree with them, and subscriptions are compared by sums.

b1 has the parent b2, the children b3 and b4, and the client s1, node 101.
"""

from __future__ import annotations

import pytest

from roambus.python_protocol.actions import Send
from roambus.python_protocol.brokers.broker import Filters
from roambus.python_protocol.filters import Filter
from roambus.python_protocol.mft.messages import Beat, Below, Bmig, Bquery, Bsub, Known, Sub, Timestamp, sum_of
from roambus.python_protocol.mft.parameters import MftParameters
from roambus.python_protocol.mft.spreading import BeatingBroker
from roambus.python_protocol.parts.election import NO_LEADERSHIP, Heartbeat
from roambus.python_protocol.vocabulary import NodeId
from tests.python_protocol.brokers.actions import asked, sends, told
from tests.python_protocol.mft.network import event, topic

PARENT, CHILD, OTHER = 2, 3, 4
S1, S2 = 101, 102


@pytest.fixture
def b1() -> BeatingBroker:
    made = BeatingBroker(1, MftParameters(profile="tuned"))
    made.migrate(PARENT)
    made.neighbour_appeared(CHILD)
    made.neighbour_appeared(OTHER)
    made.client_appeared(S1)
    knows(made, S1, S1, topic(1))
    knows(made, S2, PARENT, topic(2))
    made.take()
    return made


def knows(broker: BeatingBroker, subscriber: NodeId, via: NodeId, *filters: Filter) -> None:
    route = broker.table.update(subscriber, via, Timestamp(1, 2))
    route.filters = dict.fromkeys(filters)


def beat(parent: NodeId | None, *below: tuple[NodeId, int], about: int = 0) -> Beat:
    return Beat(Heartbeat(NO_LEADERSHIP, 1, 1, parent, True), about, tuple(Below(*one) for one in below))


def test_its_heartbeat_tells_who_is_below() -> None:
    """Those behind children and its clients, if they want anything; not those where the leader is."""
    made = BeatingBroker(1, MftParameters(profile="tuned"))
    made.migrate(PARENT)
    made.neighbour_appeared(CHILD)
    for subscriber, via, filters in ((S1, CHILD, [topic(1)]), (S2, PARENT, [topic(1)]), (103, CHILD, [])):
        knows(made, subscriber, via, *filters)
    own = made.make_beat(Heartbeat(NO_LEADERSHIP, 1, 1, PARENT, True))
    assert own.below == (Below(S1, 0),)
    assert own.about == sum_of([(S1, [topic(1)]), (S2, [topic(1)])])


def test_a_child_tells_who_is_below_it(b1: BeatingBroker) -> None:
    """From then on the way is there, and what is stored goes that way; if it is not told again, it is lost."""
    b1.perform(b1.storage.put(S2, event(1)))
    b1.take()
    b1.take_beat(CHILD, beat(1, (S2, 3)))
    assert b1.table.way(S2) == CHILD
    assert [destination for destination, _ in sends(b1.take())] == [CHILD]
    b1.take_beat(CHILD, beat(1))
    assert b1.table.way(S2) == PARENT


def test_an_older_place_is_not_believed(b1: BeatingBroker) -> None:
    """A child that has lost a subscriber without knowing tells a migration that is over."""
    b1.take_beat(CHILD, beat(1, (S2, 3)))
    b1.take_beat(OTHER, beat(1, (S2, 2)))
    assert b1.table.way(S2) == CHILD
    b1.take_beat(OTHER, beat(1, (S2, 4)))
    assert b1.table.way(S2) == OTHER


def test_its_own_client_is_left_to_others_for_a_later_migration_only(b1: BeatingBroker) -> None:
    """At the same number it is here."""
    b1.take_beat(CHILD, beat(1, (S1, 0)))
    assert b1.table.way(S1) == S1
    b1.take_beat(CHILD, beat(1, (S1, 1)))
    assert b1.table.way(S1) == CHILD


def test_who_is_behind_a_lost_child_is_where_the_leader_is(b1: BeatingBroker) -> None:
    """As is a client that has gone; where there is no way to the leader there is none to it."""
    b1.take_beat(CHILD, beat(1, (S2, 3)))
    b1.gone(CHILD, moved=True)
    b1.gone(S1, moved=False)
    assert (b1.table.way(S2), b1.table.way(S1)) == (PARENT, PARENT)
    b1.gone(PARENT, moved=True)
    assert (b1.table.way(S2), b1.table.way(S1)) == (None, None)


def test_another_parent_is_the_way_to_whoever_is_not_below(b1: BeatingBroker) -> None:
    """No message is needed."""
    b1.gone(PARENT, moved=True)
    assert sends(asked(b1.migrate, OTHER)) == []
    assert (b1.table.way(S2), b1.table.way(S1)) == (OTHER, S1)


def test_a_parent_that_knows_something_else_for_a_round_is_told_everything(b1: BeatingBroker) -> None:
    """Not at once, for it may be under way."""
    b1.take_beat(PARENT, beat(None, about=5))
    assert b1.take() == []
    b1.take_beat(PARENT, beat(None, about=5))
    everything = (Known(S1, 1, 2), Known(S2, 1, 2))
    assert sends(b1.take()) == [(PARENT, Bmig(0, (), everything))]
    b1.take_beat(PARENT, beat(None, about=6))
    assert b1.take() == []


def test_a_parent_that_knows_the_same_is_told_nothing(b1: BeatingBroker) -> None:
    """However often it beats."""
    same = sum_of([(S1, [topic(1)]), (S2, [topic(2)])])
    for _ in range(3):
        b1.take_beat(PARENT, beat(None, about=same))
    assert b1.take() == []


def test_a_client_that_wants_something_else_for_a_round_is_sent_filters(b1: BeatingBroker) -> None:
    """It mends what is wrong in them."""
    b1.take_beat(S1, beat(1, (S1, 0), about=5))
    assert b1.take() == []
    b1.take_beat(S1, beat(1, (S1, 0), about=5))
    assert b1.take() == [Send(S1, Filters((topic(1),)))]


def test_what_a_neighbour_tells_is_compared(b1: BeatingBroker) -> None:
    """It is asked for what is newer there, and told what is newer here, or unknown there."""
    told_all = Bmig(0, (), (Known(S1, 2, 1), Known(103, 1, 1)))
    answers = sends(told(b1, CHILD, told_all))
    assert answers == [
        (CHILD, Bquery(S1, Timestamp(1, 2))),
        (CHILD, Bquery(103, Timestamp(0, 255))),
        (CHILD, Bsub(S2, Timestamp(1, 2), 0, (topic(2),))),
    ]


def test_news_of_subscriptions_are_taken_and_passed_on_and_say_nothing_of_ways(b1: BeatingBroker) -> None:
    """Only of a subscriber that was unknown they do."""
    passed = sends(told(b1, CHILD, Bsub(S2, Timestamp(2, 1), 0, (topic(3),))))
    assert b1.table.filters(S2) == (topic(3),)
    assert b1.table.way(S2) == PARENT
    assert [destination for destination, _ in passed] == [PARENT, OTHER]
    told(b1, CHILD, Bsub(103, Timestamp(1, 1), 0, (topic(3),)))
    assert b1.table.way(103) == CHILD


def test_who_tells_something_old_is_told_what_is_known(b1: BeatingBroker) -> None:
    """What is the same is no news."""
    assert sends(told(b1, CHILD, Bsub(S2, Timestamp(0, 1), 0, ()))) == [
        (CHILD, Bsub(S2, Timestamp(1, 2), 0, (topic(2),)))
    ]
    assert sends(told(b1, CHILD, Bsub(S2, Timestamp(1, 1), 0, (topic(2),)))) == []


def test_a_subscription_is_flooded_as_ever(b1: BeatingBroker) -> None:
    """Algorithm 4.1, lines 1 to 6."""
    flooded = sends(told(b1, CHILD, Sub(S2, 2, 1, topic(3))))
    assert [destination for destination, _ in flooded] == [PARENT, OTHER]
