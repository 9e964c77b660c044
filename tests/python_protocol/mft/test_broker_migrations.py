"""A broker, rule by rule: brokers that migrate, algorithms 4.2 and 4.3 of the thesis."""

from __future__ import annotations

import pytest

from roambus.python_protocol.brokers.broker import Pub
from roambus.python_protocol.mft.broker import Broker
from roambus.python_protocol.mft.messages import Bmig, Bquery, Bsub, Known, MftParameters, Rep, Timestamp
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.trace_rows import STORE
from tests.python_protocol.brokers.actions import asked, receive
from tests.python_protocol.mft.network import event, topic
from tests.python_protocol.mft.one_broker import S1, S2, S3, knows, make_broker, notes, sends, stored


def test_a_broker_that_migrates_tells_its_children_and_the_others(b1: Broker) -> None:
    """Algorithm 4.2, lines 2 to 10: O had the old parent as next hop, and gets the new one."""
    asked(b1.migrate, 2)
    knows(b1, S1, S1, Timestamp(3, 1), topic(1))
    knows(b1, S2, 2, Timestamp(4, 2), topic(2))
    asked(b1.gone, 2, moved=False)
    assert sends(asked(b1.migrate, 5)) == [(5, Bmig(0, (Known(S1, 3, 1),), (Known(S2, 4, 2),)))]
    assert (b1.table.next_hop(S1), b1.table.next_hop(S2)) == (S1, 5)


def test_subscribers_without_filters_are_announced_among_the_others(b1: Broker) -> None:
    """Else an unsubscription could not spread from partition to partition."""
    knows(b1, S1, S1, Timestamp(3, 1))
    assert sends(asked(b1.migrate, 2)) == [(2, Bmig(0, (), (Known(S1, 3, 1),)))]


def test_what_is_stored_for_the_others_goes_to_the_new_parent(b1: Broker) -> None:
    """Algorithm 4.2, lines 11 and 12; what is for a child stays."""
    asked(b1.migrate, 2)
    knows(b1, S1, 3, Timestamp(3, 2), topic(1))
    knows(b1, S2, 2, Timestamp(4, 2), topic(2))
    b1.storage.put(S1, event(1, 6))
    b1.storage.put(S2, event(2, 7))
    asked(b1.gone, 2, moved=False)
    assert sends(asked(b1.migrate, 5))[1:] == [(5, Rep(S2, 1, (event(2, 7),)))]
    assert stored(b1, S1) == [6]


def test_bmig_with_newer_children_is_believed_and_asked_for_more(b1: Broker) -> None:
    """Algorithm 4.3, lines 4 to 7, 31 and 33: T stays until the BSUB comes; passed on are our t and their h_j."""
    knows(b1, S1, 3, Timestamp(5, 2), topic(1))
    actions = receive(b1, 2, Bmig(1, (Known(S1, 6, 4),), ()))
    assert sends(actions) == [(2, Bquery(S1, Timestamp(5, 2))), (3, Bmig(2, (Known(S1, 5, 4),), ()))]
    assert (b1.table.next_hop(S1), b1.table.timestamp(S1)) == (2, Timestamp(5, 2))


def test_bmig_with_older_children_is_corrected(b1: Broker) -> None:
    """Algorithm 4.3, lines 8 to 10: the sender is receive, and nobody else."""
    knows(b1, S1, 3, Timestamp(5, 2), topic(1))
    actions = receive(b1, 2, Bmig(1, (Known(S1, 4, 1),), ()))
    assert sends(actions) == [(2, Bsub(S1, Timestamp(5, 2), 0, (topic(1),)))]
    assert b1.table.next_hop(S1) == 3


@pytest.mark.parametrize("declared", [1, 2])
def test_bmig_with_children_as_near_is_believed(b1: Broker, declared: int) -> None:
    """Algorithm 4.3, lines 11 to 15 and 28 to 33: h_j is compared, a tie goes to the sender, T gets h + h_j + 1."""
    knows(b1, S1, 3, Timestamp(5, 2), topic(1))
    actions = receive(b1, 2, Bmig(3, (Known(S1, 5, declared),), ()))
    assert sends(actions) == [(3, Bmig(4, (Known(S1, 5, declared),), ()))]
    assert (b1.table.next_hop(S1), b1.table.timestamp(S1)) == (2, Timestamp(5, 3 + declared + 1))


def test_bmig_with_children_farther_away_is_corrected(as_published: Broker) -> None:
    """Algorithm 4.3, lines 16 to 18."""
    knows(as_published, S1, 3, Timestamp(5, 2), topic(1))
    actions = receive(as_published, 2, Bmig(1, (Known(S1, 5, 3),), ()))
    assert sends(actions) == [(2, Bsub(S1, Timestamp(5, 2), 0, (topic(1),)))]
    assert as_published.table.next_hop(S1) == 3


def test_bmig_with_children_farther_away_goes_on_along_the_old_way(b1: Broker) -> None:
    """`home_decides`: fewer hops prove nothing, only the subscriber's own broker contradicts."""
    knows(b1, S1, 3, Timestamp(5, 2), topic(1))
    actions = receive(b1, 2, Bmig(1, (Known(S1, 5, 7),), ()))
    assert sends(actions) == [(3, Bmig(2, (Known(S1, 5, 7),), ()))]
    assert (b1.table.next_hop(S1), b1.table.timestamp(S1)) == (2, Timestamp(5, 9))


def test_the_subscribers_own_broker_yields_to_nobody(b1: Broker) -> None:
    """Both say one hop: a broker that has the subscriber as its client knows better than a tie."""
    knows(b1, S1, S1, Timestamp(5, 1), topic(1))
    b1.clients.add(S1)
    assert sends(receive(b1, 2, Bmig(1, (Known(S1, 5, 1),), ()))) == [(2, Bsub(S1, Timestamp(5, 1), 0, (topic(1),)))]
    assert b1.table.next_hop(S1) == S1


def test_a_sender_that_is_the_way_already_is_believed(b1: Broker) -> None:
    """However far it says that the subscriber is: nobody else is known to be nearer."""
    knows(b1, S1, 2, Timestamp(5, 2), topic(1))
    assert sends(receive(b1, 2, Bmig(1, (Known(S1, 5, 6),), ()))) == []
    assert b1.table.timestamp(S1) == Timestamp(5, 8)


def test_of_the_others_only_the_counter_matters(b1: Broker) -> None:
    """Algorithm 4.3, lines 19 to 23: newer there is asked for, newer here is receive, hops are of no account."""
    for subscriber in (S1, S2, S3):
        knows(b1, subscriber, 3, Timestamp(5, 2), topic(1))
    actions = receive(b1, 2, Bmig(1, (), (Known(S1, 6, 9), Known(S2, 4, 1), Known(S3, 5, 1))))
    assert sends(actions) == [
        (2, Bquery(S1, Timestamp(5, 2))),
        (2, Bsub(S2, Timestamp(5, 2), 0, (topic(1),))),
    ]
    assert b1.table.next_hop(S1) == b1.table.next_hop(S3) == 3


def test_the_sender_is_no_way_to_the_others(b1: Broker) -> None:
    """It thinks that they are behind us: were they behind it as well, notifications would go neither way."""
    knows(b1, S1, 2, Timestamp(5, 2), topic(1))
    assert sends(receive(b1, 2, Bmig(0, (), (Known(S1, 5, 3),)))) == []
    assert b1.table.next_hop(S1) is None
    assert notes(receive(b1, 2, Pub(1, event(1, 7))), STORE) == [("99.7", S1)]


@pytest.mark.parametrize(("h", "missing"), [(0, [S3]), (1, [])])
def test_only_the_first_receiver_of_a_bmig_tells_what_it_lacks(b1: Broker, h: int, missing: list[NodeId]) -> None:
    """Algorithm 4.3, lines 24 to 26: of subscribers in neither C nor O, if h = 0."""
    for subscriber in (S1, S2, S3):
        knows(b1, subscriber, 3, Timestamp(5, 2), topic(1))
    knows(b1, 104, 3, Timestamp(5, 2))
    actions = receive(b1, 2, Bmig(h, (Known(S1, 5, 1),), (Known(S2, 5, 1),)))
    assert [message.subscriber for _, message in sends(actions) if isinstance(message, Bsub)] == missing


def test_bmig_goes_once_to_each_old_next_hop_with_all_that_is_believed(b1: Broker) -> None:
    """Algorithm 4.3, lines 27 to 33: X is a set, C_i goes to each of it, and never back nor to a client."""
    knows(b1, S1, 3, Timestamp(5, 3), topic(1))
    knows(b1, S2, 4, Timestamp(5, 3), topic(1))
    knows(b1, S3, 3, Timestamp(5, 3), topic(1))
    knows(b1, 104, 104, Timestamp(5, 3), topic(1))
    children = tuple(Known(subscriber, 5, 1) for subscriber in (S1, S2, S3, 104))
    actions = receive(b1, 2, Bmig(1, children, ()))
    assert sends(actions) == [(3, Bmig(2, children, ())), (4, Bmig(2, children, ()))]


def test_bmig_sends_what_is_stored_for_those_believed(b1: Broker) -> None:
    """Algorithm 4.3, lines 34 and 35; what is for the others stays."""
    for subscriber in (S1, S2):
        knows(b1, subscriber, 3, Timestamp(5, 2), topic(1))
        b1.storage.put(subscriber, event(1, subscriber))
    actions = receive(b1, 2, Bmig(1, (Known(S1, 5, 1), Known(S2, 4, 1)), ()))
    assert (2, Rep(S1, 1, (event(1, S1),))) in sends(actions)
    assert stored(b1, S2) == [S2]


def test_bmig_in_circles_ends() -> None:
    """After more hops than there can be brokers it is passed on no more."""
    limited = make_broker(MftParameters(max_hops=6))
    for hops, passed_on in ((5, True), (6, False)):
        knows(limited, S1, 3, Timestamp(5, 2), topic(1))
        assert bool(sends(receive(limited, 2, Bmig(hops, (Known(S1, 5, 1),), ())))) == passed_on
