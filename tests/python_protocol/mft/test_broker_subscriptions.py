"""A broker, rule by rule: subscriptions and clients that migrate, algorithm 4.1 of the thesis."""

from __future__ import annotations

import pytest

from roambus.python_protocol.brokers.broker import Filters
from roambus.python_protocol.mft.broker import Broker
from roambus.python_protocol.mft.messages import UNKNOWN, Bmig, Bquery, Bsub, Known, Mig, Rep, Sub, Timestamp, Uns
from tests.python_protocol.brokers.actions import receive
from tests.python_protocol.mft.network import event, topic
from tests.python_protocol.mft.one_broker import S1, knows, sends


def test_sub_is_entered_and_passed_on_to_all_but_its_sender(b1: Broker) -> None:
    """Algorithm 4.1, lines 1 to 6."""
    actions = receive(b1, 2, Sub(S1, 1, 1, topic(1)))
    assert sends(actions) == [(3, Sub(S1, 1, 2, topic(1))), (4, Sub(S1, 1, 2, topic(1)))]
    assert (b1.table.next_hop(S1), b1.table.filters(S1)) == (2, (topic(1),))
    assert b1.table.timestamp(S1) == Timestamp(1, 2)


def test_sub_of_a_client_makes_its_broker_one_hop_away(b1: Broker) -> None:
    """Algorithm 4.1, line 2: h + 1, and h = 0 where the message begins."""
    receive(b1, S1, Sub(S1, 1, 0, topic(1)))
    assert b1.table.timestamp(S1) == Timestamp(1, 1)
    assert b1.table.next_hop(S1) == S1


def test_uns_is_removed_and_passed_on_to_all_but_its_sender(b1: Broker) -> None:
    """Algorithm 4.1, lines 7 to 12; T stays when the last filter goes."""
    knows(b1, S1, 2, Timestamp(5, 2), topic(1), topic(2))
    actions = receive(b1, 2, Uns(S1, 6, 1, topic(1)))
    assert sends(actions) == [(3, Uns(S1, 6, 2, topic(1))), (4, Uns(S1, 6, 2, topic(1)))]
    assert b1.table.filters(S1) == (topic(2),)
    receive(b1, 2, Uns(S1, 7, 1, topic(2)))
    assert (b1.table.filters(S1), b1.table.timestamp(S1)) == ((), Timestamp(7, 2))


def test_uns_of_what_is_not_known_is_passed_on_all_the_same(b1: Broker) -> None:
    """Algorithm 4.1, lines 8, 11 and 12 do not depend on line 9."""
    actions = receive(b1, 2, Uns(S1, 1, 0, topic(1)))
    assert [destination for destination, _ in sends(actions)] == [3, 4]
    assert b1.table.timestamp(S1) == Timestamp(1, 1)


@pytest.mark.parametrize("late", [Sub(S1, 5, 1, topic(2)), Uns(S1, 5, 1, topic(1)), Mig(S1, 9, 5, 1)])
def test_a_number_that_leaves_a_gap_asks(b1: Broker, as_published: Broker, late: Sub | Uns | Mig) -> None:
    """`ask_gaps`: nothing is carried out or passed on, and T stays, so that the gap can be seen from outside."""
    knows(b1, S1, 2, Timestamp(3, 2), topic(1))
    assert sends(receive(b1, 2, late)) == [(2, Bquery(S1, Timestamp(3, 2)))]
    assert (b1.table.filters(S1), b1.table.timestamp(S1)) == ((topic(1),), Timestamp(3, 2))
    knows(as_published, S1, 2, Timestamp(3, 2), topic(1))
    receive(as_published, 2, late)
    assert as_published.table.timestamp(S1) == Timestamp(5, 2)


def test_the_next_number_and_a_subscriber_itself_leave_no_gap(b1: Broker) -> None:
    """`ask_gaps` is between brokers: what a client has lost it says again by itself, after its FILTERS."""
    knows(b1, S1, 2, Timestamp(3, 2), topic(1))
    receive(b1, 2, Sub(S1, 4, 1, topic(2)))
    receive(b1, S1, Sub(S1, 9, 0, topic(3)))
    assert b1.table.filters(S1) == (topic(1), topic(2), topic(3))


@pytest.mark.parametrize(("t", "h"), [(5, 2), (5, 3), (4, 0)])
def test_what_is_not_newer_is_ignored(as_published: Broker, t: int, h: int) -> None:
    """Algorithm 4.1, lines 1, 7 and 13: only (t, h) > T_i(s)."""
    knows(as_published, S1, 2, Timestamp(5, 2), topic(1))
    for message in (Sub(S1, t, h, topic(2)), Uns(S1, t, h, topic(1)), Mig(S1, 9, t, h)):
        assert receive(as_published, 3, message) == []
    assert (as_published.table.next_hop(S1), as_published.table.filters(S1)) == (2, (topic(1),))
    assert as_published.table.timestamp(S1) == Timestamp(5, 2)


@pytest.mark.parametrize("passed_on", [Sub(S1, 5, 1, topic(1)), Uns(S1, 5, 1, topic(2)), Mig(S1, 9, 5, 1)])
def test_who_was_thought_to_be_the_way_gets_a_bsub(b1: Broker, passed_on: Sub | Uns | Mig) -> None:
    """`tell_turns`: in place of a message that it takes for old, for it has told the same timestamp itself."""
    knows(b1, S1, 3, Timestamp(5, 4), topic(1))
    messages = dict(sends(receive(b1, 2, passed_on)))
    assert messages[3] == Bsub(S1, Timestamp(5, 2), 0, (topic(1),))
    assert b1.table.next_hop(S1) == 2


def test_only_the_way_that_was_gets_a_bsub(b1: Broker) -> None:
    """`tell_turns`: all others get the SUB, and so does the way, if the SUB is news to it."""
    knows(b1, S1, 3, Timestamp(5, 4), topic(1))
    assert dict(sends(receive(b1, 2, Sub(S1, 5, 1, topic(1)))))[4] == Sub(S1, 5, 2, topic(1))
    assert dict(sends(receive(b1, 4, Sub(S1, 6, 1, topic(1)))))[2] == Sub(S1, 6, 2, topic(1))


def test_a_way_that_is_out_of_reach_gets_no_turn(b1: Broker) -> None:
    """`tell_turns`: who was thought to be the way, and has left, gets nothing."""
    knows(b1, S1, 3, Timestamp(5, 4), topic(1))
    b1.gone(3, moved=True)
    assert sends(receive(b1, 2, Sub(S1, 5, 1, topic(1)))) == [(4, Sub(S1, 5, 2, topic(1)))]


def test_a_sub_of_the_same_timestamp_is_passed_on_as_published(as_published: Broker) -> None:
    """Algorithm 4.1, lines 5 and 6: to all but its sender, whoever was thought to be the way."""
    knows(as_published, S1, 3, Timestamp(5, 4), topic(1))
    actions = receive(as_published, 2, Sub(S1, 5, 1, topic(1)))
    assert sends(actions) == [(3, Sub(S1, 5, 2, topic(1))), (4, Sub(S1, 5, 2, topic(1)))]


def test_a_neighbour_that_tells_something_old_is_corrected(b1: Broker) -> None:
    """`correct_old`: it gets a BSUB; a client does not, nor does who only repeats what is known."""
    knows(b1, S1, 2, Timestamp(5, 2), topic(1))
    for message in (Sub(S1, 4, 1, topic(2)), Uns(S1, 4, 1, topic(1)), Mig(S1, 9, 4, 1)):
        assert sends(receive(b1, 3, message)) == [(3, Bsub(S1, Timestamp(5, 2), 0, (topic(1),)))]
    assert receive(b1, 3, Sub(S1, 5, 2, topic(2))) == []
    assert receive(b1, S1, Mig(S1, 9, 4, 0)) == []
    assert (b1.table.next_hop(S1), b1.table.filters(S1)) == (2, (topic(1),))


@pytest.mark.parametrize(("t", "h"), [(5, 1), (6, 200)])
def test_what_is_newer_or_from_nearer_counts(b1: Broker, t: int, h: int) -> None:
    """Algorithm 4.1, lines 1, 7 and 13: a newer counter, or the same one with fewer hops."""
    for message in (Sub(S1, t, h, topic(2)), Uns(S1, t, h, topic(1)), Mig(S1, 9, t, h)):
        knows(b1, S1, 2, Timestamp(5, 2), topic(1))
        receive(b1, 3, message)
        assert b1.table.timestamp(S1) == Timestamp(t, h + 1)


def test_a_subscriber_not_known_is_older_than_anything(b1: Broker) -> None:
    """Section 4.3: T = (0, infinity), so that its first message is newer."""
    assert b1.table.timestamp(S1) == UNKNOWN == Timestamp(0, 255)
    assert sends(receive(b1, 2, Bmig(1, (), (Known(S1, 1, 9),)))) == [(2, Bquery(S1, UNKNOWN))]


def test_mig_of_a_client_is_answered_with_its_filters(b1: Broker) -> None:
    """Algorithm 4.1, lines 15 to 19: everything the broker has of it."""
    knows(b1, S1, 2, Timestamp(5, 2), topic(1), topic(2))
    assert (S1, Filters((topic(1), topic(2)))) in sends(receive(b1, S1, Mig(S1, 2, 6, 0)))


def test_mig_of_an_unknown_client_is_answered_with_no_filters(b1: Broker) -> None:
    """Algorithm 4.1, line 19 alone: there is no old next hop to tell."""
    assert sends(receive(b1, S1, Mig(S1, 9, 1, 0))) == [(S1, Filters(()))]
    assert S1 in b1.clients


def test_mig_from_a_broker_is_not_answered(b1: Broker) -> None:
    """Algorithm 4.1, line 15: z is not s."""
    knows(b1, S1, 3, Timestamp(5, 2), topic(1))
    assert sends(receive(b1, 2, Mig(S1, 9, 6, 0))) == [(3, Mig(S1, 9, 6, 1))]


def test_mig_follows_the_old_next_hop_and_turns_it(b1: Broker) -> None:
    """Algorithm 4.1, lines 14 and 20 to 25."""
    knows(b1, S1, 3, Timestamp(5, 2), topic(1))
    assert sends(receive(b1, 2, Mig(S1, 9, 6, 4))) == [(3, Mig(S1, 9, 6, 5))]
    assert (b1.table.next_hop(S1), b1.table.timestamp(S1)) == (2, Timestamp(6, 5))


def test_mig_is_not_passed_back(b1: Broker) -> None:
    """The old next hop can be where it comes from."""
    knows(b1, S1, 2, Timestamp(5, 2), topic(1))
    assert sends(receive(b1, 2, Mig(S1, 9, 6, 4))) == []


def test_mig_follows_the_next_hops_even_past_the_old_broker(b1: Broker) -> None:
    """Algorithm 4.1, line 20, is weaker here: b has meanwhile learnt of another place."""
    knows(b1, S1, 3, Timestamp(5, 2), topic(1))
    assert sends(receive(b1, 2, Mig(S1, 1, 6, 4))) == [(3, Mig(S1, 1, 6, 5))]


def test_mig_ends_at_the_broker_that_the_client_has_left(b1: Broker) -> None:
    """Algorithm 4.1, lines 20 to 23: the old next hop is the client itself, which is not a broker."""
    knows(b1, S1, S1, Timestamp(5, 1), topic(1))
    b1.clients.add(S1)
    assert sends(receive(b1, 2, Mig(S1, 1, 6, 1))) == []
    assert b1.table.next_hop(S1) == 2


def test_mig_sends_what_is_stored(b1: Broker) -> None:
    """Algorithm 4.1, line 26."""
    knows(b1, S1, 3, Timestamp(5, 2), topic(1))
    b1.storage.put(S1, event(1, 7))
    assert (2, Rep(S1, 1, (event(1, 7),))) in sends(receive(b1, 2, Mig(S1, 9, 6, 0)))
