"""A broker of the first approach, rule by rule: algorithms 3.1 to 3.3 of the thesis.

b1 has the neighbours b2, b3 and b4; s1 is node 101, s2 is node 102.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from roambus.extensions.first_approach.agent import (
    Bmig,
    Broker,
    Btab,
    FirstApproachParameters,
    Fmig,
    Mig,
    Rep,
    Row,
)
from roambus.python_protocol.brokers.broker import Filters, Pub
from roambus.python_protocol.brokers.routing import Entry, Sub, Uns
from roambus.python_protocol.filters import Filter
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.trace_rows import DROP, REPLAY, ROUTE, STORE
from tests.python_protocol.brokers.actions import asked, notes, receive, sends
from tests.python_protocol.brokers.network import event, topic

S1, S2, S3 = 101, 102, 103
STRANGER = 9


AS_PUBLISHED = FirstApproachParameters(
    link_layer=False, sub_redirects=False, connected_only=False, follow_table=False, tell_late=False
)
MENDED = FirstApproachParameters(link_layer=False)


@pytest.fixture
def b1() -> Broker:
    """Knows its neighbours, and no subscriber; the algorithms as published."""
    return make_broker()


@pytest.fixture
def mended() -> Broker:
    """The same, with every mend."""
    return make_broker(MENDED)


def make_broker(
    parameters: FirstApproachParameters = AS_PUBLISHED,
    *,
    link_layer: bool = False,
    storage_limit: int = 100,
    pass_back: bool = False,
) -> Broker:
    changed = replace(parameters, link_layer=link_layer, storage_limit=storage_limit, pass_back=pass_back)
    made = Broker(1, changed)
    for neighbour in (2, 3, 4):
        made.meet(neighbour)
    return made


def knows(broker: Broker, *entries: tuple[Filter, NodeId, NodeId]) -> None:
    """Puts (f, z, s) in the table."""
    for entry in entries:
        broker.table.add(*entry)


def stored(broker: Broker, subscriber: NodeId) -> list[int]:
    """The sequence numbers of what is stored for a subscriber; takes them out."""
    return [notification.id.sequence for notification in broker.storage.take(subscriber)]


def test_what_is_for_a_client_is_ignored(b1: Broker) -> None:
    """A broker is taken for a client until it has told of itself."""
    assert receive(b1, 2, Filters((topic(1),))) == []


# Algorithm 3.1


def test_sub_is_entered_and_passed_on_to_all_but_its_sender(b1: Broker) -> None:
    """Algorithm 3.1, lines 1 to 5."""
    assert sends(receive(b1, 2, Sub(S1, topic(1)))) == [(3, Sub(S1, topic(1))), (4, Sub(S1, topic(1)))]
    assert list(b1.table) == [Entry(topic(1), 2, S1)]


def test_sub_that_is_known_is_passed_on_and_changes_nothing(b1: Broker) -> None:
    """Algorithm 3.1, lines 2 and 3: whatever the interface."""
    knows(b1, (topic(1), 3, S1))
    assert [to for to, _ in sends(receive(b1, 2, Sub(S1, topic(1))))] == [3, 4]
    assert list(b1.table) == [Entry(topic(1), 3, S1)]


def test_uns_is_removed_and_passed_on_to_all_but_its_sender(b1: Broker) -> None:
    """Algorithm 3.1, lines 6 to 10: whatever the interface, known or not."""
    knows(b1, (topic(1), 3, S1), (topic(2), 3, S1))
    for _ in range(2):
        assert sends(receive(b1, 2, Uns(S1, topic(1)))) == [(3, Uns(S1, topic(1))), (4, Uns(S1, topic(1)))]
        assert list(b1.table) == [Entry(topic(2), 3, S1)]


def test_pub_goes_once_to_each_interface_that_matches_but_not_back(b1: Broker) -> None:
    """Algorithm 3.1, lines 11 to 16 and 21."""
    asked(b1.client_appeared, S3)
    knows(b1, (topic(1), 2, S1), (Filter(), 3, S2), (topic(1), 3, 104), (topic(1), S3, S3), (topic(2), 4, 105))
    actions = receive(b1, 2, Pub(4, event(1, 7)))
    assert sends(actions) == [(3, Pub(5, event(1, 7))), (S3, Pub(5, event(1, 7)))]
    assert notes(actions, ROUTE) == [("99.7", None)]


def test_a_client_gets_what_it_publishes_itself(b1: Broker) -> None:
    """A subscriber and the publisher on its node have one interface; y != z is meant for brokers."""
    receive(b1, S1, Sub(S1, topic(1)))
    assert sends(receive(b1, S1, Pub(1, event(1)))) == [(S1, Pub(2, event(1)))]
    receive(b1, 1, Sub(1, topic(1)))
    assert (1, Pub(0, event(1))) in sends(receive(b1, 1, Pub(0, event(1))))


def test_pub_for_whom_is_out_of_reach_is_queued_for_each_subscriber(b1: Broker) -> None:
    """Algorithm 3.1, lines 17 to 19: y is not in I_i."""
    knows(b1, (topic(1), 3, S1), (Filter(), 3, S2), (topic(2), 3, S3))
    b1.gone(3, moved=False)
    actions = receive(b1, 2, Pub(1, event(1, 7)))
    assert sends(actions) == []
    assert notes(actions, STORE) == [("99.7", S1), ("99.7", S2)]
    assert (stored(b1, S1), stored(b1, S2), stored(b1, S3)) == ([7], [7], [])


def test_a_full_storage_drops() -> None:
    """The bound on what is stored is a parameter, and the trace tells of overflow."""
    small = make_broker(storage_limit=1)
    knows(small, (topic(1), STRANGER, S1))
    receive(small, 2, Pub(1, event(1, 7)))
    assert notes(receive(small, 2, Pub(1, event(1, 8))), DROP) == [("99.8", S1)]


def test_a_pub_that_did_not_arrive_is_stored(b1: Broker) -> None:
    """Section 3.3: "if an error occurs, the broker will store the message as undelivered"."""
    knows(b1, (topic(1), 3, S1), (topic(1), 2, S2))
    actions = asked(b1.link_broken, 3, [Sub(S3, topic(2)), Pub(2, event(1, 7)), Pub(2, event(1, 8))])
    assert 3 not in b1.neighbours
    assert notes(actions, STORE) == [("99.7", S1), ("99.8", S1)]


def test_a_rep_that_did_not_arrive_goes_another_way_or_is_stored(b1: Broker) -> None:
    """Algorithm 3.2, lines 22 to 27, once more."""
    knows(b1, (topic(1), 3, S1), (topic(2), 2, S2))
    actions = asked(b1.link_broken, 3, [Rep(S1, 1, event(1, 7)), Rep(S2, 1, event(2, 8))])
    assert notes(actions, STORE) == [("99.7", S1)]
    assert sends(actions) == [(2, Rep(S2, 2, event(2, 8)))]


# Algorithm 3.2


def test_mig_of_a_client_is_answered_with_its_filters(b1: Broker) -> None:
    """Algorithm 3.2, lines 2 to 6: everything the broker has of it, nothing perhaps."""
    knows(b1, (topic(1), 2, S1), (topic(2), 2, S1), (topic(3), 2, S2))
    assert sends(receive(b1, S1, Mig(S1, 2)))[0] == (S1, Filters((topic(1), topic(2))))
    assert sends(receive(b1, S3, Mig(S3, 2))) == [(S3, Filters(()))]
    assert b1.clients == {S1, S3}


def test_mig_from_a_broker_is_not_answered(b1: Broker) -> None:
    """Algorithm 3.2, line 2: z is not s, even if the client on z's node is meant."""
    assert sends(receive(b1, 2, Mig(S1, STRANGER))) == []
    assert sends(receive(b1, 2, Mig(2, STRANGER))) == []


def test_mig_follows_the_old_next_hop_and_turns_it(b1: Broker) -> None:
    """Algorithm 3.2, lines 7 to 12: the old next hop is read before it is replaced."""
    knows(b1, (topic(1), 3, S1), (topic(2), 3, S1))
    assert sends(receive(b1, 2, Mig(S1, STRANGER))) == [(3, Mig(S1, STRANGER))]
    assert b1.table.interfaces(S1) == [2]


def test_mig_ends_at_the_broker_that_the_client_has_left(b1: Broker) -> None:
    """Algorithm 3.2, line 7: b = b_i; coming back to it is a special case (the paper on the first approach)."""
    knows(b1, (topic(1), 3, S1))
    assert sends(receive(b1, 2, Mig(S1, 1))) == []
    assert b1.table.interfaces(S1) == [2]
    assert sends(receive(b1, S1, Mig(S1, 1))) == [(S1, Filters((topic(1),)))]
    assert b1.table.interfaces(S1) == [S1]


def test_mig_of_an_unknown_subscriber_is_not_passed_on(b1: Broker) -> None:
    """Algorithm 3.2, line 8."""
    assert sends(receive(b1, 2, Mig(S1, STRANGER))) == []


def test_mig_sends_what_is_queued(b1: Broker) -> None:
    """Algorithm 3.2, lines 13 to 21: all of it, in its order."""
    knows(b1, (topic(1), STRANGER, S1))
    for sequence in (7, 8):
        receive(b1, 3, Pub(3, event(1, sequence)))
    actions = receive(b1, 2, Mig(S1, STRANGER))
    assert sends(actions) == [(2, Rep(S1, 1, event(1, 7))), (2, Rep(S1, 1, event(1, 8)))]
    assert notes(actions, REPLAY) == [("99.7", S1), ("99.8", S1)]
    assert stored(b1, S1) == []


def test_over_the_link_layer_one_rep_waits_for_the_other() -> None:
    """Its queue is short: the next goes when it has nothing left to do."""
    b1 = make_broker(link_layer=True)
    knows(b1, (topic(1), STRANGER, S1))
    for sequence in (7, 8):
        receive(b1, 3, Pub(3, event(1, sequence)))
    assert sends(receive(b1, 2, Mig(S1, STRANGER))) == [(2, Rep(S1, 1, event(1, 7)))]
    assert sends(asked(b1.idle, 3)) == []
    assert sends(asked(b1.idle, 2)) == [(2, Rep(S1, 1, event(1, 8)))]
    assert sends(asked(b1.idle, 2)) == []


def test_what_is_queued_stays_while_there_is_no_way(b1: Broker) -> None:
    """Algorithm 3.2, lines 17 to 19: a BTAB may name a way that has broken since."""
    knows(b1, (topic(1), STRANGER, S1))
    receive(b1, 3, Pub(3, event(1, 7)))
    b1.gone(2, moved=False)
    assert sends(receive(b1, 2, Btab((Row(5, S1, topic(1)),)))) == [(3, Fmig()), (4, Fmig())]
    assert stored(b1, S1) == [7]


def test_what_is_queued_goes_when_the_way_is_back(b1: Broker) -> None:
    """A link can be lost to one side alone, and then nobody migrates."""
    knows(b1, (topic(1), STRANGER, S1), (topic(1), S2, S2))
    receive(b1, 3, Pub(3, event(1, 7)))
    assert sends(asked(b1.neighbour_appeared, STRANGER)) == [(STRANGER, Rep(S1, 1, event(1, 7)))]
    assert sends(asked(b1.client_appeared, S2)) == [(S2, Rep(S2, 1, event(1, 7)))]


def test_rep_goes_on_or_is_queued(b1: Broker) -> None:
    """Algorithm 3.2, lines 22 to 27: to a broker, to the subscriber, or into the queue."""
    knows(b1, (topic(1), 3, S1), (topic(2), S2, S2), (topic(3), STRANGER, S3))
    asked(b1.client_appeared, S2)
    assert sends(receive(b1, 2, Rep(S1, 4, event(1, 7)))) == [(3, Rep(S1, 5, event(1, 7)))]
    assert sends(receive(b1, 2, Rep(S2, 4, event(2, 8)))) == [(S2, Rep(S2, 5, event(2, 8)))]
    assert sends(receive(b1, 2, Rep(S3, 4, event(3, 9)))) == []
    assert stored(b1, S3) == [9]


def test_a_rep_to_a_subscriber_without_entries_is_queued(b1: Broker) -> None:
    """Algorithm 3.2, line 24: there is no y at all."""
    receive(b1, 2, Rep(S1, 4, event(1, 7)))
    assert stored(b1, S1) == [7]


def test_nothing_is_passed_back(b1: Broker) -> None:
    """Two brokers that point at each other would send a REP to and fro for ever, and a MIG past its end."""
    knows(b1, (topic(1), 2, S1))
    assert sends(receive(b1, 2, Rep(S1, 4, event(1, 7)))) == []
    assert stored(b1, S1) == [7]
    assert sends(receive(b1, 2, Mig(S1, STRANGER))) == []


def test_as_published_a_rep_and_a_mig_are_passed_back() -> None:
    """Algorithm 3.2, lines 10 and 27 do not ask where the message comes from."""
    b1 = make_broker(pass_back=True)
    knows(b1, (topic(1), 2, S1))
    assert sends(receive(b1, 2, Rep(S1, 4, event(1, 7)))) == [(2, Rep(S1, 5, event(1, 7)))]
    assert sends(receive(b1, 2, Mig(S1, STRANGER))) == [(2, Mig(S1, STRANGER))]


# Algorithm 3.3


def test_a_broker_that_migrates_tells_of_its_local_subscribers(b1: Broker) -> None:
    """Section 3.3: C_i are those whose interface is themselves; a broker's own client is local to it alone."""
    knows(b1, (topic(1), S1, S1), (topic(1), 2, S2), (topic(1), 1, 1), (topic(1), 3, 3), (topic(2), S1, S1))
    assert sends(asked(b1.migrate, 5)) == [(5, Bmig(1, (S1, 1)))]
    assert 5 in b1.neighbours


def test_bmig_turns_its_subscribers_and_goes_to_their_old_next_hops(b1: Broker) -> None:
    """Algorithm 3.3, lines 2 to 8: once to each, with all subscribers, but not back."""
    knows(b1, (topic(1), 3, S1), (topic(2), 3, S2), (topic(3), 2, S3), (topic(4), 4, 104), (topic(5), STRANGER, 105))
    message = Bmig(STRANGER, (S1, S2, S3, 105))
    assert sends(receive(b1, 2, message)) == [(3, message)]
    assert [b1.table.interfaces(s) for s in (S1, S2, S3, 104, 105)] == [[2], [2], [2], [4], [2]]


def test_bmig_of_its_sender_is_answered_with_the_table(b1: Broker) -> None:
    """Algorithm 3.3, lines 9 and 10: the first broker to receive it; its sender is a neighbour now."""
    knows(b1, (topic(1), 3, S1), (topic(2), S2, S2))
    message = Bmig(5, (S1,))
    assert sends(receive(b1, 5, message)) == [
        (3, message),
        (5, Btab((Row(5, S1, topic(1)), Row(S2, S2, topic(2))))),
    ]
    assert 5 in b1.neighbours


def test_bmig_sends_what_is_queued_for_its_subscribers(b1: Broker) -> None:
    """Algorithm 3.3, lines 11 and 12."""
    knows(b1, (topic(1), STRANGER, S1), (topic(1), STRANGER, S2))
    receive(b1, 3, Pub(3, event(1, 7)))
    assert sends(receive(b1, 2, Bmig(5, (S1,)))) == [(2, Rep(S1, 1, event(1, 7)))]
    assert stored(b1, S2) == [7]


def test_btab_replaces_everything_but_the_local_subscribers(b1: Broker) -> None:
    """Algorithm 3.3, lines 13 to 17."""
    knows(b1, (topic(1), S1, S1), (topic(2), 3, S2), (topic(3), 4, S3))
    receive(b1, 2, Btab((Row(5, S1, topic(1)), Row(5, S2, topic(4)), Row(2, 2, topic(5)))))
    assert list(b1.table) == [Entry(topic(1), S1, S1), Entry(topic(4), 2, S2), Entry(topic(5), 2, 2)]


def test_btab_is_mended_where_it_is_wrong_about_local_subscribers(b1: Broker) -> None:
    """Algorithm 3.3, lines 18 to 21: SUB for R_i - R_j, UNS for R_j - R_i, interfaces left aside."""
    knows(b1, (topic(1), S1, S1), (topic(2), S1, S1), (topic(3), 3, S2))
    actions = receive(b1, 2, Btab((Row(7, S1, topic(2)), Row(7, S1, topic(4)), Row(7, S2, topic(5)))))
    assert sends(actions)[:2] == [(2, Sub(S1, topic(1))), (2, Uns(S1, topic(4)))]
    assert not [message for _, message in sends(actions)[2:] if isinstance(message, Sub | Uns)]


def test_btab_forces_the_migration_of_the_other_neighbours(b1: Broker) -> None:
    """Algorithm 3.3, lines 22 and 23."""
    assert sends(receive(b1, 2, Btab(()))) == [(3, Fmig()), (4, Fmig())]


def test_btab_sends_what_is_queued_for_all_but_local_subscribers(b1: Broker) -> None:
    """Algorithm 3.3, lines 24 and 25."""
    knows(b1, (topic(1), S1, S1), (topic(1), STRANGER, S2))
    receive(b1, 3, Pub(3, event(1, 7)))
    actions = receive(b1, 2, Btab((Row(5, S1, topic(1)), Row(5, S2, topic(1)))))
    assert sends(actions)[2:] == [(2, Rep(S2, 1, event(1, 7)))]
    assert stored(b1, S1) == [7]


def test_fmig_makes_a_broker_migrate_to_its_sender(b1: Broker) -> None:
    """Algorithm 3.3, lines 26 and 27."""
    knows(b1, (topic(1), S1, S1), (topic(2), 3, S2))
    assert sends(receive(b1, 2, Fmig())) == [(2, Bmig(1, (S1,)))]


# The mends


def test_a_known_sub_shows_the_way_and_brings_what_is_stored(mended: Broker) -> None:
    """`sub_redirects`: all entries of the subscriber turn to where the SUB came from."""
    knows(mended, (topic(1), 3, S1), (topic(2), 3, S1))
    mended.storage.put(S1, event(1, 7))
    actions = sends(receive(mended, 2, Sub(S1, topic(1))))
    assert mended.table.interfaces(S1) == [2]
    assert actions[-1] == (2, Rep(S1, 1, event(1, 7)))


def test_no_sub_of_others_takes_a_connected_subscriber_away(mended: Broker) -> None:
    """`sub_redirects`: it is older than what the subscriber itself has said; one that has left can be elsewhere."""
    receive(mended, S1, Sub(S1, topic(1)))
    receive(mended, 2, Sub(S1, topic(1)))
    assert mended.table.interfaces(S1) == [S1]
    mended.gone(S1, moved=False)
    receive(mended, 2, Sub(S1, topic(1)))
    assert mended.table.interfaces(S1) == [2]


def test_only_connected_subscribers_are_claimed(mended: Broker) -> None:
    """`connected_only`: one that has left in silence is not in C_i."""
    receive(mended, S1, Sub(S1, topic(1)))
    receive(mended, S2, Sub(S2, topic(1)))
    mended.gone(S1, moved=False)
    assert mended.local_subscribers() == (S2,)
    assert sends(receive(mended, 2, Fmig())) == [(2, Bmig(1, (S2,)))]


def test_mig_goes_on_past_the_last_broker_if_its_table_leads_on(mended: Broker) -> None:
    """`follow_table`: b itself has been told of another place since."""
    knows(mended, (topic(1), 3, S1))
    assert sends(receive(mended, 2, Mig(S1, 1))) == [(3, Mig(S1, 1))]


def test_a_broker_announces_who_has_come_since_the_bmig_in_another(mended: Broker) -> None:
    """`tell_late`: when the BTAB comes; whoever was told already is not told again."""
    receive(mended, S1, Sub(S1, topic(1)))
    asked(mended.migrate, 2)
    assert (2, Bmig(1, (S1,))) not in sends(receive(mended, 2, Btab((Row(1, S1, topic(1)),))))
    receive(mended, S2, Mig(S2, 9))
    receive(mended, S2, Sub(S2, topic(1)))
    assert (2, Bmig(1, (S1, S2))) in sends(receive(mended, 2, Btab((Row(1, S1, topic(1)),))))
