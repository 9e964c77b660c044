"""A broker of Phoenix, rule by rule: algorithms 2.2 and 2.3 of the thesis, as published.

b1 has the neighbours b2, b3 and b4; s1 is node 101, s2 is node 102.
"""

from __future__ import annotations

import pytest

from roambus.extensions.phoenix.broker import NEVER, Broker, Mig, PhoenixParameters, Pub, Rep, Stamp
from roambus.python_protocol.brokers.routing import Entry, Sub, Uns
from roambus.python_protocol.trace_rows import DROP, REPLAY, ROUTE, STORE
from tests.python_protocol.brokers.actions import asked, notes, receive, sends
from tests.python_protocol.brokers.network import event, topic

S1, S2 = 101, 102
OLD_BROKER = 9


@pytest.fixture
def b1() -> Broker:
    """Knows its neighbours, and no subscriber."""
    return make_broker()


def make_broker(storage_limit: int = 100) -> Broker:
    made = Broker(1, PhoenixParameters(storage_limit=storage_limit))
    for neighbour in (2, 3, 4):
        asked(made.neighbour_appeared, neighbour)
    return made


def pub(sequence: int = 0, hops: int = 1, tick: int = 0) -> Pub:
    """Of a notification that f1 matches."""
    return Pub(Stamp(0, tick), hops, (), event(1, sequence))


def rep(sequence: int = 0, hops: int = 1, tick: int = 0) -> Rep:
    """To s1."""
    return Rep(S1, Stamp(0, tick), hops, event(1, sequence))


def queued(broker: Broker) -> list[tuple[int, int]]:
    """(ts, sequence) of what is in the queue of s1; takes it out."""
    taken = [message for message in broker.queues.take(S1) if isinstance(message, Rep)]
    return [(message.stamp.tick, message.notification.id.sequence) for message in taken]


# Algorithm 2.2


def test_sub_of_a_client_makes_it_local(b1: Broker) -> None:
    """Lines 1 to 7, with z not in N_i."""
    assert sends(receive(b1, S1, Sub(S1, topic(1)))) == [(to, Sub(S1, topic(1))) for to in (2, 3, 4)]
    assert list(b1.table) == [Entry(topic(1), S1, S1)]
    assert list(b1.local) == [S1]


def test_sub_from_a_broker_is_entered_and_passed_on(b1: Broker) -> None:
    """Lines 1 to 7, with z in N_i, even if the subscriber is the client on z's node; entered once."""
    for sender, subscriber in ((2, S1), (3, S1), (2, 2)):
        others = [to for to in (2, 3, 4) if to != sender]
        assert [to for to, _ in sends(receive(b1, sender, Sub(subscriber, topic(1))))] == others
    assert list(b1.table) == [Entry(topic(1), 2, S1), Entry(topic(1), 2, 2)]
    assert list(b1.local) == []


def test_the_client_on_the_brokers_node_is_local(b1: Broker) -> None:
    """Its interface is the broker's own node."""
    receive(b1, 1, Sub(1, topic(1)))
    assert list(b1.local) == [1]


def test_uns_of_the_last_filter_ends_being_local(b1: Broker) -> None:
    """Lines 8 to 14."""
    receive(b1, S1, Sub(S1, topic(1)))
    receive(b1, S1, Sub(S1, topic(2)))
    assert sends(receive(b1, S1, Uns(S1, topic(1)))) == [(to, Uns(S1, topic(1))) for to in (2, 3, 4)]
    assert list(b1.local) == [S1]
    receive(b1, S1, Uns(S1, topic(2)))
    assert (list(b1.local), list(b1.table)) == ([], [])


def test_uns_from_a_broker_is_passed_on(b1: Broker) -> None:
    """Lines 8 to 10, 13 and 14."""
    receive(b1, 2, Sub(S1, topic(1)))
    assert [to for to, _ in sends(receive(b1, 2, Uns(S1, topic(1))))] == [3, 4]
    assert list(b1.table) == []


def test_pub_is_stamped_and_goes_once_to_each_interface_but_not_back(b1: Broker) -> None:
    """Lines 15 to 20, 23 and 24: with the broker's own timestamp, later for what comes later."""
    for sender, subscriber in ((2, S1), (3, S2), (3, 103), (4, 104)):
        receive(b1, sender, Sub(subscriber, topic(1)))
    for tick in (1, 2):
        actions = receive(b1, 2, pub(7, hops=4, tick=77))
        assert sends(actions) == [(3, pub(7, hops=5, tick=tick)), (4, pub(7, hops=5, tick=tick))]
        assert notes(actions, ROUTE) == [("99.7", None)]


def test_pub_for_a_local_subscriber_is_queued_and_sent(b1: Broker) -> None:
    """Lines 21 and 22: delivered or not."""
    receive(b1, S1, Sub(S1, topic(1)))
    assert sends(receive(b1, 2, pub(7))) == [(S1, pub(7, hops=2, tick=1))]
    asked(b1.gone, S1, moved=False)
    actions = receive(b1, 2, pub(8))
    assert (sends(actions), notes(actions, STORE)) == ([], [("99.8", S1)])
    assert queued(b1) == [(1, 7), (2, 8)]


def test_a_client_gets_what_it_publishes_itself(b1: Broker) -> None:
    """Line 18, y != z, is meant for brokers: a subscriber and the publisher on its node have one interface."""
    receive(b1, S1, Sub(S1, topic(1)))
    assert sends(receive(b1, S1, pub(7))) == [(S1, pub(7, hops=2, tick=1))]


def test_a_full_queue_drops_the_oldest() -> None:
    """What has been delivered is in the queues too; the bound is for all of them."""
    b1 = make_broker(storage_limit=2)
    receive(b1, S1, Sub(S1, topic(1)))
    receive(b1, S2, Sub(S2, topic(1)))
    assert notes(receive(b1, 2, pub(7)), DROP) == []
    assert notes(receive(b1, 2, pub(8)), DROP) == [("99.7", S1), ("99.7", S2)]
    assert queued(b1) == [(2, 8)]
    assert notes(receive(b1, S2, Mig(S2, 1, NEVER)), REPLAY) == [("99.8", S2)]
    assert notes(receive(b1, 2, pub(9)), DROP) == []


def test_what_a_link_to_a_broker_loses_is_traced(b1: Broker) -> None:
    """The tree of brokers is static: nothing is kept. What is for a local subscriber is in its queue."""
    receive(b1, 2, Sub(S1, topic(1)))
    assert notes(asked(b1.link_broken, 2, [pub(7), rep(8), Sub(S2, topic(1))]), DROP) == [("99.7", 2), ("99.8", 2)]
    assert notes(receive(b1, 3, pub(9)), DROP) == [("99.9", 2)]
    receive(b1, S2, Sub(S2, topic(1)))
    assert asked(b1.link_broken, S2, [pub(7)]) == []


# Algorithm 2.3


def test_mig_of_a_client_makes_it_local(b1: Broker) -> None:
    """Lines 2 to 8: the old next hop is receive, and read before it is replaced."""
    receive(b1, 2, Sub(S1, topic(1)))
    mig = Mig(S1, OLD_BROKER, Stamp(0, 5))
    assert sends(receive(b1, S1, mig)) == [(2, mig)]
    assert (list(b1.local), b1.table.interfaces(S1)) == ([S1], [S1])


def test_mig_follows_the_old_next_hop_and_turns_it(b1: Broker) -> None:
    """Lines 2 and 5 to 8, at a broker on the way."""
    receive(b1, 2, Sub(S1, topic(1)))
    receive(b1, 2, Sub(S1, topic(2)))
    mig = Mig(S1, OLD_BROKER, Stamp(0, 5))
    assert sends(receive(b1, 3, mig)) == [(2, mig)]
    assert (list(b1.local), b1.table.interfaces(S1)) == ([], [3])


def test_mig_of_an_unknown_subscriber_is_not_passed_on(b1: Broker) -> None:
    """Line 5: there is no next hop."""
    assert sends(receive(b1, S1, Mig(S1, OLD_BROKER, NEVER))) == []
    assert list(b1.local) == [S1]


def test_mig_ends_where_the_subscriber_was_and_what_it_missed_is_replayed(b1: Broker) -> None:
    """Lines 9 to 16: what is newer than ts_last, in its order; the queue is empty afterwards."""
    receive(b1, S1, Sub(S1, topic(1)))
    for sequence in (7, 8, 9):
        receive(b1, 3, pub(sequence))
    actions = receive(b1, 2, Mig(S1, 1, Stamp(0, 1)))
    assert sends(actions) == [(2, rep(8)), (2, rep(9))]
    assert notes(actions, REPLAY) == [("99.8", S1), ("99.9", S1)]
    assert (list(b1.local), b1.table.interfaces(S1), queued(b1)) == ([], [2], [])


def test_rep_follows_the_next_hop(b1: Broker) -> None:
    """Lines 17 to 20; without one it is lost, and the trace says so."""
    receive(b1, 2, Sub(S1, topic(1)))
    assert sends(receive(b1, 3, rep(7, hops=4, tick=9))) == [(2, rep(7, hops=5, tick=9))]
    receive(b1, 2, Uns(S1, topic(1)))
    assert notes(receive(b1, 3, rep(8)), DROP) == [("99.8", S1)]


def test_rep_to_a_local_subscriber_is_stamped_and_queued(b1: Broker) -> None:
    """Lines 21 to 24: it may have migrated again."""
    receive(b1, S1, Sub(S1, topic(1)))
    assert sends(receive(b1, 3, rep(7, hops=4, tick=9))) == [(S1, rep(7, hops=5, tick=1))]
    assert queued(b1) == [(1, 7)]


def test_as_published_a_subscriber_that_comes_back_is_no_longer_local(b1: Broker) -> None:
    """Lines 9 to 16 do not ask whether z = s: it gets what it missed, but from now on nothing is kept for it."""
    receive(b1, S1, Sub(S1, topic(1)))
    asked(b1.gone, S1, moved=False)
    receive(b1, 2, pub(7))
    asked(b1.client_appeared, S1)
    assert sends(receive(b1, S1, Mig(S1, 1, NEVER))) == [(S1, rep(7))]
    assert list(b1.local) == []
    receive(b1, 2, pub(8))
    assert sends(receive(b1, 2, Mig(S1, 1, NEVER))) == []
