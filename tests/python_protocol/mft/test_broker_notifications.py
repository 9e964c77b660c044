"""A broker, rule by rule: PUB and REP, what is stored, and what is replayed."""

from __future__ import annotations

from roambus.python_protocol.brokers.broker import Pub
from roambus.python_protocol.mft.broker import Broker
from roambus.python_protocol.mft.messages import Bsub, MftParameters, Mig, Rep, Sub, Timestamp
from roambus.python_protocol.trace_rows import REPLAY, ROUTE, STORE
from tests.python_protocol.brokers.actions import asked, receive
from tests.python_protocol.mft.network import event, topic
from tests.python_protocol.mft.one_broker import S1, S2, S3, STRANGER, knows, make_broker, notes, sends


def test_pub_goes_to_each_interface_once_and_never_back(b1: Broker) -> None:
    """Algorithm 3.1, lines 11 to 18: two subscribers behind b3, one behind b4, one where it comes from."""
    for subscriber, via in ((S1, 3), (S2, 3), (S3, 4), (104, 2)):
        knows(b1, subscriber, via, Timestamp(1, 2), topic(1))
    assert sends(receive(b1, 2, Pub(3, event(1, 7)))) == [(3, Pub(4, event(1, 7))), (4, Pub(4, event(1, 7)))]


def test_pub_goes_only_to_whom_it_matches(b1: Broker) -> None:
    """Algorithm 3.1, line 12."""
    knows(b1, S1, 3, Timestamp(1, 2), topic(1))
    knows(b1, S2, 4, Timestamp(1, 2), topic(2))
    assert sends(receive(b1, 2, Pub(3, event(2, 7)))) == [(4, Pub(4, event(2, 7)))]


def test_pub_to_the_client_on_this_node_makes_no_hop(b1: Broker) -> None:
    """It does not go on the air."""
    knows(b1, 1, 1, Timestamp(1, 1), topic(1))
    assert sends(receive(b1, 2, Pub(3, event(1, 7)))) == [(1, Pub(3, event(1, 7)))]


def test_a_client_that_wants_what_it_publishes_gets_it(b1: Broker) -> None:
    """Never back is said of brokers."""
    knows(b1, S1, S1, Timestamp(1, 1), topic(1))
    b1.clients.add(S1)
    assert sends(receive(b1, S1, Pub(1, event(1, 7)))) == [(S1, Pub(2, event(1, 7)))]


def test_a_second_copy_of_a_pub_is_not_passed_on(b1: Broker) -> None:
    """A link can repeat a notification that it had given up; the trace hears of it once."""
    knows(b1, S1, 3, Timestamp(1, 2), topic(1))
    assert notes(receive(b1, 2, Pub(1, event(1, 7))), ROUTE) == [("99.7", None)]
    assert receive(b1, 2, Pub(1, event(1, 7))) == []
    assert receive(b1, 4, Pub(1, event(1, 7))) == []


def test_a_second_copy_serves_who_was_not_known_before(b1: Broker) -> None:
    """Once for a subscriber, not once in all."""
    knows(b1, S1, 3, Timestamp(1, 2), topic(1))
    receive(b1, 2, Pub(1, event(1, 7)))
    knows(b1, S2, 4, Timestamp(1, 2), topic(1))
    assert sends(receive(b1, 2, Pub(1, event(1, 7)))) == [(4, Pub(2, event(1, 7)))]


def test_only_so_many_notifications_are_remembered() -> None:
    """The oldest is forgotten first; its copy would be passed on again."""
    limited = make_broker(MftParameters(remembered=2))
    knows(limited, S1, 3, Timestamp(1, 2), topic(1))
    for sequence in (1, 2, 3):
        receive(limited, 2, Pub(1, event(1, sequence)))
    assert receive(limited, 2, Pub(1, event(1, 3))) == []
    assert sends(receive(limited, 2, Pub(1, event(1, 1)))) == [(3, Pub(2, event(1, 1)))]


def test_what_cannot_go_on_is_stored_for_each_subscriber(b1: Broker) -> None:
    """Algorithm 3.1, lines 19 to 21: the interface is gone."""
    for subscriber in (S1, S2):
        knows(b1, subscriber, 3, Timestamp(1, 2), topic(1))
    asked(b1.gone, 3, moved=False)
    actions = receive(b1, 2, Pub(1, event(1, 7)))
    assert sends(actions) == []
    assert notes(actions, STORE) == [("99.7", S1), ("99.7", S2)]


def test_a_replay_counts_its_hops_anew(b1: Broker) -> None:
    """Hops of a stored notification begin where it is replayed; each broker on the way adds one."""
    knows(b1, S1, 3, Timestamp(1, 2), topic(1))
    asked(b1.gone, 3, moved=False)
    receive(b1, 2, Pub(30, event(1, 7)))
    assert sends(receive(b1, 4, Mig(S1, 9, 2, 0))) == [(4, Rep(S1, 1, (event(1, 7),)))]
    assert sends(receive(b1, 2, Rep(S1, 1, (event(1, 8),)))) == [(4, Rep(S1, 2, (event(1, 8),)))]


def test_rep_that_cannot_go_on_is_stored(b1: Broker) -> None:
    """Not known, gone, or the way is back where it comes from."""
    knows(b1, S2, 2, Timestamp(1, 2), topic(1))
    knows(b1, S3, STRANGER, Timestamp(1, 2), topic(1))
    for subscriber in (S1, S2, S3):
        actions = receive(b1, 2, Rep(subscriber, 1, (event(1, 7), event(1, 8))))
        assert notes(actions, STORE) == [("99.7", subscriber), ("99.8", subscriber)]
        assert sends(actions) == []


def test_rep_in_circles_is_stored() -> None:
    """After more hops than there can be brokers it waits for better knowledge."""
    limited = make_broker(MftParameters(max_hops=6))
    knows(limited, S1, 3, Timestamp(1, 2), topic(1))
    assert len(sends(receive(limited, 2, Rep(S1, 6, (event(1, 7),))))) == 1
    assert notes(receive(limited, 2, Rep(S1, 7, (event(1, 7),))), STORE) == [("99.7", S1)]


def test_replays_go_one_by_one_as_the_link_has_room() -> None:
    """One REP of so many bytes when the way is found, the next each time the link is idle."""
    small = make_broker(MftParameters(replay_bytes=1))
    for sequence in (1, 2, 3):
        small.storage.put(S1, event(1, sequence))
    first = receive(small, 2, Bsub(S1, Timestamp(1, 1), 0, (topic(1),)))
    replays = [first, *(asked(small.idle, 2) for _ in range(3))]
    assert [notes(actions, REPLAY) for actions in replays] == [[("99.1", S1)], [("99.2", S1)], [("99.3", S1)], []]


def test_an_idle_link_carries_only_what_goes_its_way(b1: Broker) -> None:
    """Something for a subscriber elsewhere waits, and does not hold up others."""
    knows(b1, S1, STRANGER, Timestamp(1, 2), topic(1))
    knows(b1, S2, 3, Timestamp(1, 2), topic(1))
    for subscriber in (S1, S2):
        b1.storage.put(subscriber, event(1, 7))
    assert asked(b1.idle, 4) == []
    assert sends(asked(b1.idle, 3)) == [(3, Rep(S2, 1, (event(1, 7),)))]


def test_a_subscriber_without_room_in_a_full_storage_holds_up_nobody() -> None:
    """The replay passes over whom everything was dropped for, and comes to the next."""
    small = make_broker(MftParameters(storage_limit=1))
    for subscriber in (S1, S2):
        knows(small, subscriber, 3, Timestamp(1, 2), topic(1))
    small.storage.put(S3, event(1, 1))
    small.storage.put(S1, event(1, 2))
    small.storage.take(S3)
    small.storage.put(S2, event(1, 3))
    assert sends(asked(small.idle, 3)) == [(3, Rep(S2, 1, (event(1, 3),)))]


def test_a_sub_brings_what_is_stored(b1: Broker, as_published: Broker) -> None:
    """`replay_always`: it shows a way as a MIG does; as published it does not."""
    replayed = (2, Rep(S1, 1, (event(1, 7),)))
    for broker, is_replayed in ((b1, True), (as_published, False)):
        broker.storage.put(S1, event(1, 7))
        assert (replayed in sends(receive(broker, 2, Sub(S1, 1, 1, topic(1))))) == is_replayed


def test_a_rep_follows_a_subscriber_without_filters(b1: Broker, as_published: Broker) -> None:
    """`replay_always`: it may be about to mend them; as published there is no entry to follow."""
    for broker in (b1, as_published):
        knows(broker, S1, 2, Timestamp(5, 2))
    assert sends(receive(b1, 3, Rep(S1, 1, (event(1, 7),)))) == [(2, Rep(S1, 2, (event(1, 7),)))]
    assert notes(receive(as_published, 3, Rep(S1, 1, (event(1, 7),))), STORE) == [("99.7", S1)]


def test_over_bare_links_everything_stored_is_replayed_at_once() -> None:
    """Nothing tells when such a link is idle: one REP after the other, each of the allowed size."""
    bare = make_broker(MftParameters(link_layer=False, replay_bytes=1))
    for number in range(3):
        bare.storage.put(S1, event(1, number))
    actions = sends(receive(bare, 2, Bsub(S1, Timestamp(6, 1), 0, (topic(1),))))
    assert [message for _, message in actions[-3:]] == [Rep(S1, 1, (event(1, number),)) for number in range(3)]


def test_notifications_from_outside_the_neighbours_are_taken(b1: Broker) -> None:
    """A notification is worth having wherever it comes from."""
    knows(b1, S1, 3, Timestamp(1, 2), topic(1))
    assert sends(receive(b1, STRANGER, Pub(1, event(1, 7)))) == [(3, Pub(2, event(1, 7)))]
    assert sends(receive(b1, STRANGER, Rep(S1, 1, (event(1, 8),)))) == [(3, Rep(S1, 2, (event(1, 8),)))]


def test_a_repeated_notification_is_taken_on_once(b1: Broker) -> None:
    """Even for those that lie behind its sender, to whom nothing is sent from here."""
    knows(b1, S1, 2, Timestamp(5, 2), topic(1))
    assert notes(receive(b1, 2, Pub(1, event(1, 7))), ROUTE) == [("99.7", None)]
    assert receive(b1, 2, Pub(1, event(1, 7))) == []
