"""A broker, rule by rule: subscriptions that are told and asked for, algorithm 4.4 of the thesis."""

from __future__ import annotations

from roambus.python_protocol.brokers.broker import Pub
from roambus.python_protocol.mft.broker import Broker
from roambus.python_protocol.mft.messages import UNKNOWN, Bmig, Bquery, Bsub, Known, MftParameters, Rep, Timestamp
from roambus.python_protocol.trace_rows import STORE
from tests.python_protocol.brokers.actions import receive
from tests.python_protocol.mft.network import event, topic
from tests.python_protocol.mft.one_broker import S1, S2, STRANGER, knows, make_broker, notes, sends


def test_bsub_replaces_all_filters_and_is_passed_on(b1: Broker) -> None:
    """Algorithm 4.4, lines 1 to 8: T gets T_j(s).h + h + 1; passed on is T_j(s) as it came, with h + 1."""
    knows(b1, S1, 3, Timestamp(5, 2), topic(1), topic(2))
    actions = receive(b1, 2, Bsub(S1, Timestamp(6, 1), 2, (topic(3),)))
    passed_on = Bsub(S1, Timestamp(6, 1), 3, (topic(3),))
    assert sends(actions) == [(3, passed_on), (4, passed_on)]
    assert (b1.table.filters(S1), b1.table.next_hop(S1)) == ((topic(3),), 2)
    assert b1.table.timestamp(S1) == Timestamp(6, 4)


def test_bsub_sends_what_is_stored(b1: Broker) -> None:
    """Algorithm 4.4, line 9."""
    b1.storage.put(S1, event(1, 7))
    actions = receive(b1, 2, Bsub(S1, Timestamp(6, 1), 0, (topic(1),)))
    assert sends(actions)[-1] == (2, Rep(S1, 1, (event(1, 7),)))


def test_bsub_without_filters_ends_all_subscriptions(b1: Broker) -> None:
    """Section 4.1: "a higher number but no active subscriptions" is an unsubscription."""
    knows(b1, S1, 3, Timestamp(5, 2), topic(1))
    receive(b1, 2, Bsub(S1, Timestamp(6, 1), 0, ()))
    assert (b1.table.filters(S1), b1.table.next_hop(S1), b1.table.timestamp(S1)) == ((), None, Timestamp(6, 2))


def test_bsub_that_is_no_newer_changes_nothing(as_published: Broker) -> None:
    """Algorithm 4.4, line 1: T_j(s) > T_i(s)."""
    knows(as_published, S1, 3, Timestamp(5, 2), topic(1))
    for known in (Timestamp(5, 2), Timestamp(5, 3), Timestamp(4, 1)):
        assert receive(as_published, 2, Bsub(S1, known, 0, (topic(9),))) == []
    assert (as_published.table.filters(S1), as_published.table.next_hop(S1)) == ((topic(1),), 3)


def test_bsub_of_the_same_timestamp_turns_the_way_and_goes_on_along_the_old_one(b1: Broker) -> None:
    """`home_decides`: nobody else need hear of it, and filters and T are as new here."""
    knows(b1, S1, 3, Timestamp(5, 2), topic(1))
    b1.storage.put(S1, event(1, 7))
    claim = Bsub(S1, Timestamp(5, 2), 4, (topic(1),))
    passed_on = Bsub(S1, Timestamp(5, 2), 5, (topic(1),))
    assert sends(receive(b1, 2, claim)) == [(3, passed_on), (2, Rep(S1, 1, (event(1, 7),)))]
    assert (b1.table.next_hop(S1), b1.table.timestamp(S1)) == (2, Timestamp(5, 2))
    assert receive(b1, 2, claim) == []


def test_bsub_of_the_same_timestamp_about_nothing_known_is_ignored(b1: Broker) -> None:
    """`home_decides`: there is no way to turn, and no old one to go on along, if it is over a lost link."""
    knows(b1, S1, 3, Timestamp(5, 2))
    knows(b1, S2, STRANGER, Timestamp(5, 2), topic(1))
    assert receive(b1, 2, Bsub(S1, Timestamp(5, 2), 0, ())) == []
    assert receive(b1, 2, Bsub(S2, Timestamp(5, 2), 0, (topic(1),))) == []
    assert b1.table.next_hop(S2) == 2


def test_old_bsub_is_corrected(b1: Broker) -> None:
    """An older counter is answered; so is one as old that claims the subscriber of its own broker."""
    knows(b1, S1, 3, Timestamp(5, 2), topic(1))
    knows(b1, S2, S2, Timestamp(5, 1), topic(2))
    assert sends(receive(b1, 2, Bsub(S1, Timestamp(4, 1), 0, ()))) == [(2, Bsub(S1, Timestamp(5, 2), 0, (topic(1),)))]
    assert sends(receive(b1, 2, Bsub(S2, Timestamp(5, 2), 0, ()))) == [(2, Bsub(S2, Timestamp(5, 1), 0, (topic(2),)))]


def test_bsub_in_circles_ends() -> None:
    """After more hops than there can be brokers it is passed on no more."""
    limited = make_broker(MftParameters(max_hops=6))
    assert sends(receive(limited, 2, Bsub(S1, Timestamp(1, 1), 6, (topic(1),)))) == []
    assert limited.table.next_hop(S1) == 2


def test_bquery_is_answered_with_what_is_newer(b1: Broker) -> None:
    """Algorithm 4.4, lines 10 to 16: all filters, T as it is here, h = 0."""
    knows(b1, S1, 3, Timestamp(5, 2), topic(1), topic(2))
    answer = [(2, Bsub(S1, Timestamp(5, 2), 0, (topic(1), topic(2))))]
    for known in (UNKNOWN, Timestamp(4, 1), Timestamp(5, 3)):
        assert sends(receive(b1, 2, Bquery(S1, known))) == answer


def test_bquery_is_not_answered_with_what_is_not_newer(b1: Broker) -> None:
    """Algorithm 4.4, line 10: (t, h) < T_i(s)."""
    knows(b1, S1, 3, Timestamp(5, 2), topic(1))
    for known in (Timestamp(5, 2), Timestamp(5, 1), Timestamp(6, 9)):
        assert receive(b1, 2, Bquery(S1, known)) == []
    assert receive(b1, 2, Bquery(S2, UNKNOWN)) == []


def test_who_is_told_the_subscriptions_is_not_the_way(b1: Broker) -> None:
    """A BSUB says that the way is here: were it there as well, the two would point at each other."""
    knows(b1, S1, 2, Timestamp(5, 2), topic(1))
    receive(b1, 2, Bquery(S1, UNKNOWN))
    assert b1.table.next_hop(S1) is None
    assert notes(receive(b1, 3, Pub(1, event(1, 7))), STORE) == [("99.7", S1)]


def test_as_published_two_brokers_can_point_at_each_other(as_published: Broker) -> None:
    """Neither a BSUB nor O makes a broker forget its way; see `forget_ways`."""
    knows(as_published, S1, 2, Timestamp(5, 2), topic(1))
    receive(as_published, 2, Bmig(0, (), (Known(S1, 5, 3),)))
    receive(as_published, 2, Bquery(S1, UNKNOWN))
    assert as_published.table.next_hop(S1) == 2
