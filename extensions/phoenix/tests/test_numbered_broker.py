"""A broker of Phoenix with numbered migrations, where it differs from the published one.

b1 has the neighbours b2, b3 and b4; s1 is node 101.
"""

from __future__ import annotations

import pytest

from roambus.extensions.phoenix.broker import NEVER, Mig, PhoenixParameters, Pub, Rep, Stamp, Turn
from roambus.extensions.phoenix.numbered import NumberedBroker
from roambus.python_protocol.brokers.routing import Sub, Uns
from roambus.python_protocol.trace_rows import DROP, REPLAY
from tests.python_protocol.brokers.actions import asked, notes, receive, sends
from tests.python_protocol.brokers.network import event, topic

S1, S2 = 101, 102
OLD_BROKER = 9


@pytest.fixture
def b1() -> NumberedBroker:
    """Knows its neighbours, and no subscriber."""
    made = NumberedBroker(1, PhoenixParameters())
    for neighbour in (2, 3, 4):
        asked(made.neighbour_appeared, neighbour)
    return made


def mig(stay: int, last: Stamp = NEVER) -> Mig:
    """Of s1."""
    return Mig(S1, OLD_BROKER, last, stay)


def pub(sequence: int = 0, *subscribers: int, stamp: Stamp = NEVER, hops: int = 1) -> Pub:
    """Of a notification that f1 matches."""
    return Pub(stamp, hops, subscribers, event(1, sequence))


def rep(sequence: int, stay: int, tick: int, hops: int = 1) -> Rep:
    """To s1."""
    return Rep(S1, Stamp(stay, tick), hops, event(1, sequence))


def end(stay: int, tick: int, following: int) -> Turn:
    """To s1: the stay is over."""
    return Turn(S1, Stamp(stay, tick), following, over=True)


def test_ticks_count_for_each_subscriber(b1: NumberedBroker) -> None:
    """From 1, within the stay."""
    for subscriber in (S1, S2):
        receive(b1, subscriber, Sub(subscriber, topic(1)))
    for tick in (1, 2):
        assert sends(receive(b1, 2, pub(tick, S1, S2))) == [
            (S1, pub(tick, stamp=Stamp(0, tick), hops=2)),
            (S2, pub(tick, stamp=Stamp(0, tick), hops=2)),
        ]
    receive(b1, S1, mig(3))
    assert (S1, pub(3, stamp=Stamp(3, 1), hops=2)) in sends(receive(b1, 2, pub(3, S1)))


def test_a_pub_names_those_for_whom_it_goes_that_way(b1: NumberedBroker) -> None:
    """A publisher's is for all that match."""
    for sender, subscriber in ((2, S1), (2, S2), (3, 103)):
        receive(b1, sender, Sub(subscriber, topic(1)))
    assert sends(receive(b1, 1, pub(7, hops=0))) == [(2, pub(7, S1, S2)), (3, pub(7, 103))]


def test_a_pub_is_not_for_those_whom_it_does_not_name(b1: NumberedBroker) -> None:
    """Their MIG crosses it, and its sender has served them."""
    for sender, subscriber in ((2, S1), (3, S2)):
        receive(b1, sender, Sub(subscriber, topic(1)))
    assert sends(receive(b1, 4, pub(7, S2))) == [(3, pub(7, S2, hops=2))]


def test_a_stay_ends_with_a_turn_after_what_is_replayed(b1: NumberedBroker) -> None:
    """Its last tick, and the stay whose MIG has ended it."""
    receive(b1, S1, Sub(S1, topic(1)))
    for sequence in (7, 8):
        receive(b1, 3, pub(sequence, S1))
    actions = receive(b1, 2, mig(4, Stamp(0, 1)))
    assert sends(actions) == [(2, rep(8, 0, 2)), (2, end(0, 3, 4))]
    assert notes(actions, REPLAY) == [("99.8", S1)]
    assert list(b1.local) == []


def test_coming_back_ends_one_stay_and_begins_another(b1: NumberedBroker) -> None:
    """What is replayed stays in the queue: the subscriber may go before it gets it."""
    receive(b1, S1, Sub(S1, topic(1)))
    receive(b1, 3, pub(7, S1))
    assert sends(receive(b1, S1, mig(1))) == [(S1, rep(7, 0, 1)), (S1, end(0, 2, 1))]
    assert list(b1.local) == [S1]
    receive(b1, 3, pub(8, S1))
    replayed = [(2, rep(7, 0, 1)), (2, end(0, 2, 1)), (2, rep(8, 1, 1)), (2, end(1, 2, 2))]
    assert sends(receive(b1, 2, mig(2))) == replayed


def test_an_older_mig_is_answered_with_the_newer_and_turns_nothing(b1: NumberedBroker) -> None:
    """And the subscriber is receive, the newer MIG's way, that the older stay exists."""
    receive(b1, 2, Sub(S1, topic(1)))
    receive(b1, 3, mig(5))
    turn = Turn(S1, NEVER, 4, over=False)
    assert sends(receive(b1, 4, mig(4))) == [(4, mig(5)), (3, turn)]
    assert b1.table.interfaces(S1) == [3]
    assert sends(receive(b1, 2, mig(5))) == []


def test_a_turn_gets_its_ts_where_the_subscriber_is(b1: NumberedBroker) -> None:
    """And is in the queue like everything else; one that has a ts keeps it."""
    receive(b1, S1, mig(5))
    turn = Turn(S1, NEVER, 4, over=False)
    assert sends(receive(b1, 2, turn)) == [(S1, Turn(S1, Stamp(5, 1), 4, over=False))]
    assert sends(receive(b1, 2, end(4, 3, 5))) == [(S1, end(4, 3, 5))]
    queued = [message for _, message in sends(receive(b1, 2, mig(6)))]
    assert queued == [Turn(S1, Stamp(5, 1), 4, over=False), end(4, 3, 5), end(5, 2, 6)]


def test_a_rep_keeps_its_ts(b1: NumberedBroker) -> None:
    """Also where the subscriber is local (algorithm 2.3, line 22), so that it knows its place."""
    receive(b1, S1, mig(5))
    assert sends(receive(b1, 2, rep(7, 3, 9, hops=4))) == [(S1, rep(7, 3, 9, hops=5))]


def test_rep_and_turn_need_no_entries(b1: NumberedBroker) -> None:
    """An UNS has removed them meanwhile."""
    receive(b1, 3, Sub(S1, topic(1)))
    receive(b1, 2, mig(5))
    receive(b1, 2, Uns(S1, topic(1)))
    assert sends(receive(b1, 3, rep(7, 0, 1))) == [(2, rep(7, 0, 1, hops=2))]
    assert sends(receive(b1, 3, end(0, 2, 5))) == [(2, end(0, 2, 5))]


def test_a_broker_that_has_crashed_knows_no_way(b1: NumberedBroker) -> None:
    """The trace tells what is lost so."""
    assert notes(receive(b1, 3, rep(7, 0, 1)), DROP) == [("99.7", S1)]
    assert receive(b1, 3, end(0, 2, 5)) == []


def test_uns_does_not_end_a_stay(b1: NumberedBroker) -> None:
    """Who subscribes again goes on in it."""
    receive(b1, S1, Sub(S1, topic(1)))
    receive(b1, 2, pub(7, S1))
    assert [to for to, _ in sends(receive(b1, S1, Uns(S1, topic(1))))] == [2, 3, 4]
    receive(b1, S1, Sub(S1, topic(1)))
    assert sends(receive(b1, 2, pub(8, S1))) == [(S1, pub(8, stamp=Stamp(0, 2), hops=2))]


def test_a_sub_behind_its_subscribers_mig_gets_the_migs_way(b1: NumberedBroker) -> None:
    """And shows the MIG where to go; a SUB from the MIG's own way is an ordinary one."""
    receive(b1, 2, mig(1))
    assert sends(receive(b1, 3, Sub(S1, topic(1)))) == [(2, Sub(S1, topic(1))), (4, Sub(S1, topic(1))), (3, mig(1))]
    assert b1.table.interfaces(S1) == [2]
    assert [to for to, _ in sends(receive(b1, 2, Sub(S1, topic(2))))] == [3, 4]


def test_a_subscriber_that_is_here_itself_is_believed_whatever_mig_is_known(b1: NumberedBroker) -> None:
    """Its own MIG is behind its SUB, or was lost: it is local, and gets no MIG in answer."""
    receive(b1, 2, mig(1))
    assert sends(receive(b1, S1, Sub(S1, topic(1)))) == [(neighbour, Sub(S1, topic(1))) for neighbour in (2, 3, 4)]
    assert b1.table.interfaces(S1) == [S1]
    assert list(b1.local) == [S1]


def test_a_pub_for_a_subscriber_that_was_never_heard_of_is_dropped(b1: NumberedBroker) -> None:
    """After a reboot the broker knows nobody; one that has given up its filters is known, and misses nothing."""
    receive(b1, 2, Sub(S2, topic(1)))
    receive(b1, 2, Uns(S2, topic(1)))
    assert notes(receive(b1, 3, pub(7, S1, S2)), DROP) == [(str(event(1, 7).id), S1)]


def test_an_uns_that_is_older_than_the_mig_does_not_end_what_was_subscribed_to_after_it(b1: NumberedBroker) -> None:
    """It is told to nobody; one of another filter is."""
    receive(b1, 2, Sub(S1, topic(1)))
    receive(b1, 2, Sub(S1, topic(2)))
    receive(b1, 3, mig(1))
    receive(b1, 3, Sub(S1, topic(1)))
    assert sends(receive(b1, 2, Uns(S1, topic(1)))) == []
    assert b1.table.filters(S1) == (topic(1), topic(2))
    assert sends(receive(b1, 2, Uns(S1, topic(2)))) == [(3, Uns(S1, topic(2))), (4, Uns(S1, topic(2)))]
    assert b1.table.filters(S1) == (topic(1),)


def test_a_sub_that_is_older_than_the_mig_does_not_bring_back_what_was_given_up_after_it(b1: NumberedBroker) -> None:
    """But where it comes from has to hear of the MIG."""
    receive(b1, 3, mig(1))
    receive(b1, 3, Uns(S1, topic(1)))
    assert sends(receive(b1, 2, Sub(S1, topic(1)))) == [(2, mig(1))]
    assert b1.table.filters(S1) == ()


def test_a_mig_goes_to_where_the_last_uns_came_from(b1: NumberedBroker) -> None:
    """No entry is left, but the subscriber was there."""
    receive(b1, 2, Sub(S1, topic(1)))
    receive(b1, 2, Uns(S1, topic(1)))
    assert sends(receive(b1, 3, mig(1))) == [(2, mig(1))]
    assert sends(receive(b1, 4, mig(2))) == [(3, mig(2))]


def test_a_mig_of_whom_nothing_is_known_goes_everywhere(b1: NumberedBroker) -> None:
    """Its first SUB is under way, and what it says next must not come there before the MIG."""
    assert sends(receive(b1, 3, mig(1))) == [(2, mig(1)), (4, mig(1))]
