"""A broker, rule by rule: links that break, and neighbours that are lost, back, or none."""

from __future__ import annotations

from roambus.python_protocol.brokers.broker import Filters, Pub
from roambus.python_protocol.mft.broker import Broker
from roambus.python_protocol.mft.messages import UNKNOWN, Bmig, Bquery, Bsub, Known, Mig, Rep, Sub, Timestamp, Uns
from roambus.python_protocol.trace_rows import STORE
from tests.python_protocol.brokers.actions import asked, receive
from tests.python_protocol.mft.network import event, topic
from tests.python_protocol.mft.one_broker import S1, S2, S3, STRANGER, knows, notes, sends


def test_a_broken_link_stores_what_was_under_way(b1: Broker) -> None:
    """PUB for whom it was sent there, REP for its subscriber; control messages are mended by the next BMIG."""
    for subscriber in (S1, S2):
        knows(b1, subscriber, 3, Timestamp(1, 2), topic(1))
    knows(b1, S3, 4, Timestamp(1, 2), topic(1))
    receive(b1, 2, Pub(1, event(1, 7)))
    lost = [Pub(2, event(1, 7)), Rep(S1, 1, (event(1, 8),)), Sub(S3, 1, 2, topic(1))]
    actions = asked(b1.link_broken, 3, lost)
    assert sends(actions) == []
    assert notes(actions, STORE) == [("99.7", S1), ("99.7", S2), ("99.8", S1)]
    assert 3 not in b1.neighbours


def test_a_broken_link_sends_again_by_a_way_found_meanwhile(b1: Broker) -> None:
    """S1 has another next hop since the notification was sent."""
    knows(b1, S1, 3, Timestamp(1, 2), topic(1))
    receive(b1, 2, Pub(1, event(1, 7)))
    receive(b1, 4, Mig(S1, 9, 2, 1))
    assert sends(asked(b1.link_broken, 3, [Pub(2, event(1, 7))])) == [(4, Rep(S1, 1, (event(1, 7),)))]


def test_filters_that_did_not_arrive_are_sent_when_the_client_is_back(b1: Broker) -> None:
    """Once, with what is known then."""
    receive(b1, S1, Mig(S1, 9, 1, 0))
    asked(b1.link_broken, S1, [Filters(())])
    knows(b1, S1, S1, Timestamp(1, 1), topic(1))
    assert sends(asked(b1.client_appeared, S1)) == [(S1, Filters((topic(1),)))]
    assert sends(asked(b1.client_appeared, S1)) == []


def test_a_client_that_is_back_gets_what_is_stored(b1: Broker) -> None:
    """It need not have moved: its broker was only out of reach."""
    knows(b1, S1, S1, Timestamp(1, 1), topic(1))
    asked(b1.client_appeared, S1)
    asked(b1.gone, S1, moved=False)
    receive(b1, 2, Pub(1, event(1, 7)))
    assert sends(asked(b1.client_appeared, S1)) == [(S1, Rep(S1, 1, (event(1, 7),)))]


def test_a_neighbour_that_was_lost_and_is_back_is_told_what_we_know(b1: Broker) -> None:
    """`greet_back`: as if we had migrated to it, but O says nothing of ways, and ours do not change."""
    knows(b1, S1, 3, Timestamp(5, 2), topic(1))
    knows(b1, S2, 2, Timestamp(4, 2), topic(1))
    asked(b1.gone, 3, moved=False)
    assert sends(asked(b1.neighbour_appeared, 3)) == [(3, Bmig(0, (Known(S2, 4, 2),), (Known(S1, 5, 255),)))]
    assert 3 in b1.neighbours
    assert b1.table.next_hop(S1) == 3


def test_a_greeting_takes_no_way_away(b1: Broker) -> None:
    """`greet_back`: infinite hops in O say that the sender has no way either, or thinks so still."""
    knows(b1, S1, 2, Timestamp(5, 2), topic(1))
    assert sends(receive(b1, 2, Bmig(0, (), (Known(S1, 5, 255),)))) == []
    assert b1.table.next_hop(S1) == 2


def test_as_published_nobody_is_greeted_back(as_published: Broker) -> None:
    """Only a migration makes a BMIG."""
    knows(as_published, S1, 2, Timestamp(5, 2), topic(1))
    asked(as_published.gone, 3, moved=False)
    assert asked(as_published.neighbour_appeared, 3) == []


def test_a_neighbour_that_moved_and_is_back_tells_of_itself(b1: Broker) -> None:
    """Its own BMIG says it all; so does that of a new one."""
    asked(b1.gone, 3, moved=True)
    assert asked(b1.neighbour_appeared, 3) == []
    assert asked(b1.neighbour_appeared, 5) == []
    assert {3, 5} <= set(b1.neighbours)


def test_control_messages_from_outside_the_neighbours_are_ignored(b1: Broker) -> None:
    """Half links are not used."""
    for message in (
        Sub(S1, 1, 1, topic(1)),
        Uns(S1, 1, 1, topic(1)),
        Mig(S1, 2, 1, 1),
        Bmig(1, (Known(S1, 1, 1),), ()),
        Bquery(S1, UNKNOWN),
        Bsub(S1, Timestamp(1, 1), 0, (topic(1),)),
    ):
        assert receive(b1, STRANGER, message) == []
    assert b1.table.get(S1) is None


def test_a_bmig_that_begins_at_its_sender_makes_it_a_neighbour(b1: Broker) -> None:
    """It may come before the heartbeat that says so."""
    receive(b1, STRANGER, Bmig(0, (Known(S1, 1, 1),), ()))
    assert STRANGER in b1.neighbours
