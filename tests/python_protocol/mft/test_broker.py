"""A broker, rule by rule: algorithms 4.1 to 4.4 of the thesis, and what the module settles beyond them.

b1 has the neighbours b2, b3 and b4; s1 is node 101, s2 is node 102.
"""

import pytest

from roambus.python_protocol.actions import Action, Note, Send
from roambus.python_protocol.brokers.messages import Filters, Pub
from roambus.python_protocol.filters import Filter
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.mft.broker import Broker
from roambus.python_protocol.mft.messages import Bmig, Bquery, Bsub, Known, Mig, Rep, Sub, Uns
from roambus.python_protocol.mft.parameters import MftParameters
from roambus.python_protocol.mft.timestamps import UNKNOWN, Timestamp
from roambus.python_protocol.notes import REPLAY, ROUTE, STORE
from roambus.python_protocol.roles import NodeId
from tests.python_protocol.brokers.actions import asked, told
from tests.python_protocol.mft.network import event, topic

S1, S2, S3 = 101, 102, 103
STRANGER = 9


@pytest.fixture
def b1() -> Broker:
    """Knows its neighbours, and no subscriber."""
    return make_broker()


@pytest.fixture
def letter() -> Broker:
    """The same, with the algorithms to the letter."""
    return make_broker(
        MftParameters(home_decides=False, correct_old=False, forget_ways=False, replay_always=False, greet_back=False)
    )


def make_broker(parameters: MftParameters | None = None) -> Broker:
    made = Broker(1, parameters or MftParameters())
    made.neighbours = dict.fromkeys((2, 3, 4))
    return made


def knows(broker: Broker, subscriber: NodeId, via: NodeId, timestamp: Timestamp, *filters: Filter) -> None:
    """Puts (f, via, subscriber) and T in the table."""
    route = broker.table.update(subscriber, via, timestamp)
    route.filters = dict.fromkeys(filters)


def sends(actions: list[Action]) -> list[tuple[NodeId, Message]]:
    return [(action.destination, action.message) for action in actions if isinstance(action, Send)]


def notes(actions: list[Action], name: str) -> list[tuple[str | None, NodeId | None]]:
    return [(one.notification_id, one.peer) for one in actions if isinstance(one, Note) and one.name == name]


def stored(broker: Broker, subscriber: NodeId) -> list[int]:
    """The sequence numbers of what is stored for a subscriber; takes them out."""
    return [notification.id.sequence for notification in broker.storage.take(subscriber)]


# Algorithm 4.1


def test_sub_is_entered_and_passed_on_to_all_but_its_sender(b1: Broker) -> None:
    """Algorithm 4.1, lines 1 to 6."""
    actions = told(b1, 2, Sub(S1, 5, 1, topic(1)))
    assert sends(actions) == [(3, Sub(S1, 5, 2, topic(1))), (4, Sub(S1, 5, 2, topic(1)))]
    assert (b1.table.next_hop(S1), b1.table.filters(S1)) == (2, (topic(1),))
    assert b1.table.timestamp(S1) == Timestamp(5, 2)


def test_sub_of_a_client_makes_its_broker_one_hop_away(b1: Broker) -> None:
    """Algorithm 4.1, line 2: h + 1, and h = 0 where the message begins."""
    told(b1, S1, Sub(S1, 1, 0, topic(1)))
    assert b1.table.timestamp(S1) == Timestamp(1, 1)
    assert b1.table.next_hop(S1) == S1


def test_uns_is_removed_and_passed_on_to_all_but_its_sender(b1: Broker) -> None:
    """Algorithm 4.1, lines 7 to 12; T stays when the last filter goes."""
    knows(b1, S1, 2, Timestamp(5, 2), topic(1), topic(2))
    actions = told(b1, 2, Uns(S1, 6, 1, topic(1)))
    assert sends(actions) == [(3, Uns(S1, 6, 2, topic(1))), (4, Uns(S1, 6, 2, topic(1)))]
    assert b1.table.filters(S1) == (topic(2),)
    told(b1, 2, Uns(S1, 7, 1, topic(2)))
    assert (b1.table.filters(S1), b1.table.timestamp(S1)) == ((), Timestamp(7, 2))


def test_uns_of_what_is_not_known_is_passed_on_all_the_same(b1: Broker) -> None:
    """Algorithm 4.1, lines 8, 11 and 12 do not depend on line 9."""
    actions = told(b1, 2, Uns(S1, 5, 0, topic(1)))
    assert [destination for destination, _ in sends(actions)] == [3, 4]
    assert b1.table.timestamp(S1) == Timestamp(5, 1)


@pytest.mark.parametrize(("t", "h"), [(5, 2), (5, 3), (4, 0)])
def test_what_is_not_newer_is_ignored(letter: Broker, t: int, h: int) -> None:
    """Algorithm 4.1, lines 1, 7 and 13: only (t, h) > T_i(s)."""
    knows(letter, S1, 2, Timestamp(5, 2), topic(1))
    for message in (Sub(S1, t, h, topic(2)), Uns(S1, t, h, topic(1)), Mig(S1, 9, t, h)):
        assert told(letter, 3, message) == []
    assert (letter.table.next_hop(S1), letter.table.filters(S1)) == (2, (topic(1),))
    assert letter.table.timestamp(S1) == Timestamp(5, 2)


def test_a_neighbour_that_tells_something_old_is_corrected(b1: Broker) -> None:
    """`correct_old`: it gets a BSUB; a client does not, nor does who only repeats what is known."""
    knows(b1, S1, 2, Timestamp(5, 2), topic(1))
    for message in (Sub(S1, 4, 1, topic(2)), Uns(S1, 4, 1, topic(1)), Mig(S1, 9, 4, 1)):
        assert sends(told(b1, 3, message)) == [(3, Bsub(S1, Timestamp(5, 2), 0, (topic(1),)))]
    assert told(b1, 3, Sub(S1, 5, 2, topic(2))) == []
    assert told(b1, S1, Mig(S1, 9, 4, 0)) == []
    assert (b1.table.next_hop(S1), b1.table.filters(S1)) == (2, (topic(1),))


@pytest.mark.parametrize(("t", "h"), [(5, 1), (6, 200)])
def test_what_is_newer_or_from_nearer_counts(b1: Broker, t: int, h: int) -> None:
    """Algorithm 4.1, lines 1, 7 and 13: a newer counter, or the same one with fewer hops."""
    for message in (Sub(S1, t, h, topic(2)), Uns(S1, t, h, topic(1)), Mig(S1, 9, t, h)):
        knows(b1, S1, 2, Timestamp(5, 2), topic(1))
        told(b1, 3, message)
        assert b1.table.timestamp(S1) == Timestamp(t, h + 1)


def test_a_subscriber_not_known_is_older_than_anything(b1: Broker) -> None:
    """Section 4.3: T = (0, infinity), so that its first message is newer."""
    assert b1.table.timestamp(S1) == UNKNOWN == Timestamp(0, 255)
    assert sends(told(b1, 2, Bmig(1, (), (Known(S1, 1, 9),)))) == [(2, Bquery(S1, UNKNOWN))]


def test_mig_of_a_client_is_answered_with_its_filters(b1: Broker) -> None:
    """Algorithm 4.1, lines 15 to 19: everything the broker has of it."""
    knows(b1, S1, 2, Timestamp(5, 2), topic(1), topic(2))
    assert (S1, Filters((topic(1), topic(2)))) in sends(told(b1, S1, Mig(S1, 2, 6, 0)))


def test_mig_of_an_unknown_client_is_answered_with_no_filters(b1: Broker) -> None:
    """Algorithm 4.1, line 19 alone: there is no old next hop to tell."""
    assert sends(told(b1, S1, Mig(S1, 9, 1, 0))) == [(S1, Filters(()))]
    assert S1 in b1.clients


def test_mig_from_a_broker_is_not_answered(b1: Broker) -> None:
    """Algorithm 4.1, line 15: z is not s."""
    knows(b1, S1, 3, Timestamp(5, 2), topic(1))
    assert sends(told(b1, 2, Mig(S1, 9, 6, 0))) == [(3, Mig(S1, 9, 6, 1))]


def test_mig_follows_the_old_next_hop_and_turns_it(b1: Broker) -> None:
    """Algorithm 4.1, lines 14 and 20 to 25."""
    knows(b1, S1, 3, Timestamp(5, 2), topic(1))
    assert sends(told(b1, 2, Mig(S1, 9, 6, 4))) == [(3, Mig(S1, 9, 6, 5))]
    assert (b1.table.next_hop(S1), b1.table.timestamp(S1)) == (2, Timestamp(6, 5))


def test_mig_is_not_passed_back(b1: Broker) -> None:
    """The old next hop can be where it comes from."""
    knows(b1, S1, 2, Timestamp(5, 2), topic(1))
    assert sends(told(b1, 2, Mig(S1, 9, 6, 4))) == []


def test_mig_follows_the_next_hops_even_past_the_old_broker(b1: Broker) -> None:
    """Algorithm 4.1, line 20, is weaker here: b has meanwhile learnt of another place."""
    knows(b1, S1, 3, Timestamp(5, 2), topic(1))
    assert sends(told(b1, 2, Mig(S1, 1, 6, 4))) == [(3, Mig(S1, 1, 6, 5))]


def test_mig_ends_at_the_broker_that_the_client_has_left(b1: Broker) -> None:
    """Algorithm 4.1, lines 20 to 23: the old next hop is the client itself, which is no broker."""
    knows(b1, S1, S1, Timestamp(5, 1), topic(1))
    b1.clients.add(S1)
    assert sends(told(b1, 2, Mig(S1, 1, 6, 1))) == []
    assert b1.table.next_hop(S1) == 2


def test_mig_sends_what_is_stored(b1: Broker) -> None:
    """Algorithm 4.1, line 26."""
    knows(b1, S1, 3, Timestamp(5, 2), topic(1))
    b1.storage.put(S1, event(1, 7))
    assert (2, Rep(S1, 1, (event(1, 7),))) in sends(told(b1, 2, Mig(S1, 9, 6, 0)))


# Algorithm 4.2


def test_a_broker_that_migrates_tells_its_children_and_the_others(b1: Broker) -> None:
    """Algorithm 4.2, lines 2 to 10: O had the old parent as next hop, and gets the new one."""
    asked(b1.migrate, 2)
    knows(b1, S1, S1, Timestamp(3, 1), topic(1))
    knows(b1, S2, 2, Timestamp(4, 2), topic(2))
    asked(b1.gone, 2, moved=False)
    assert sends(asked(b1.migrate, 5)) == [(5, Bmig(0, (Known(S1, 3, 1),), (Known(S2, 4, 2),)))]
    assert (b1.table.next_hop(S1), b1.table.next_hop(S2)) == (S1, 5)


def test_subscribers_without_filters_are_told_among_the_others(b1: Broker) -> None:
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


# Algorithm 4.3


def test_bmig_with_newer_children_is_believed_and_asked_for_more(b1: Broker) -> None:
    """Algorithm 4.3, lines 4 to 7, 31 and 33: T stays until the BSUB comes; passed on are our t and their h_j."""
    knows(b1, S1, 3, Timestamp(5, 2), topic(1))
    actions = told(b1, 2, Bmig(1, (Known(S1, 6, 4),), ()))
    assert sends(actions) == [(2, Bquery(S1, Timestamp(5, 2))), (3, Bmig(2, (Known(S1, 5, 4),), ()))]
    assert (b1.table.next_hop(S1), b1.table.timestamp(S1)) == (2, Timestamp(5, 2))


def test_bmig_with_older_children_is_corrected(b1: Broker) -> None:
    """Algorithm 4.3, lines 8 to 10: the sender is told, and nobody else."""
    knows(b1, S1, 3, Timestamp(5, 2), topic(1))
    actions = told(b1, 2, Bmig(1, (Known(S1, 4, 1),), ()))
    assert sends(actions) == [(2, Bsub(S1, Timestamp(5, 2), 0, (topic(1),)))]
    assert b1.table.next_hop(S1) == 3


@pytest.mark.parametrize("declared", [1, 2])
def test_bmig_with_children_as_near_is_believed(b1: Broker, declared: int) -> None:
    """Algorithm 4.3, lines 11 to 15 and 28 to 33: h_j is compared, a tie goes to the sender, T gets h + h_j + 1."""
    knows(b1, S1, 3, Timestamp(5, 2), topic(1))
    actions = told(b1, 2, Bmig(3, (Known(S1, 5, declared),), ()))
    assert sends(actions) == [(3, Bmig(4, (Known(S1, 5, declared),), ()))]
    assert (b1.table.next_hop(S1), b1.table.timestamp(S1)) == (2, Timestamp(5, 3 + declared + 1))


def test_bmig_with_children_farther_away_is_corrected(letter: Broker) -> None:
    """Algorithm 4.3, lines 16 to 18."""
    knows(letter, S1, 3, Timestamp(5, 2), topic(1))
    actions = told(letter, 2, Bmig(1, (Known(S1, 5, 3),), ()))
    assert sends(actions) == [(2, Bsub(S1, Timestamp(5, 2), 0, (topic(1),)))]
    assert letter.table.next_hop(S1) == 3


def test_bmig_with_children_farther_away_goes_on_along_the_old_way(b1: Broker) -> None:
    """`home_decides`: fewer hops prove nothing, only the subscriber's own broker contradicts."""
    knows(b1, S1, 3, Timestamp(5, 2), topic(1))
    actions = told(b1, 2, Bmig(1, (Known(S1, 5, 7),), ()))
    assert sends(actions) == [(3, Bmig(2, (Known(S1, 5, 7),), ()))]
    assert (b1.table.next_hop(S1), b1.table.timestamp(S1)) == (2, Timestamp(5, 9))


def test_the_subscribers_own_broker_yields_to_nobody(b1: Broker) -> None:
    """Both say one hop: a broker that has the subscriber as its client knows better than a tie."""
    knows(b1, S1, S1, Timestamp(5, 1), topic(1))
    b1.clients.add(S1)
    assert sends(told(b1, 2, Bmig(1, (Known(S1, 5, 1),), ()))) == [(2, Bsub(S1, Timestamp(5, 1), 0, (topic(1),)))]
    assert b1.table.next_hop(S1) == S1


def test_a_sender_that_is_the_way_already_is_believed(b1: Broker) -> None:
    """However far it says that the subscriber is: nobody else is known to be nearer."""
    knows(b1, S1, 2, Timestamp(5, 2), topic(1))
    assert sends(told(b1, 2, Bmig(1, (Known(S1, 5, 6),), ()))) == []
    assert b1.table.timestamp(S1) == Timestamp(5, 8)


def test_of_the_others_only_the_counter_matters(b1: Broker) -> None:
    """Algorithm 4.3, lines 19 to 23: newer there is asked for, newer here is told, hops are of no account."""
    for subscriber in (S1, S2, S3):
        knows(b1, subscriber, 3, Timestamp(5, 2), topic(1))
    actions = told(b1, 2, Bmig(1, (), (Known(S1, 6, 9), Known(S2, 4, 1), Known(S3, 5, 1))))
    assert sends(actions) == [
        (2, Bquery(S1, Timestamp(5, 2))),
        (2, Bsub(S2, Timestamp(5, 2), 0, (topic(1),))),
    ]
    assert b1.table.next_hop(S1) == b1.table.next_hop(S3) == 3


def test_the_sender_is_no_way_to_the_others(b1: Broker) -> None:
    """It thinks that they are behind us: were they behind it as well, notifications would go neither way."""
    knows(b1, S1, 2, Timestamp(5, 2), topic(1))
    assert sends(told(b1, 2, Bmig(0, (), (Known(S1, 5, 3),)))) == []
    assert b1.table.next_hop(S1) is None
    assert notes(told(b1, 2, Pub(1, event(1, 7))), STORE) == [("99.7", S1)]


@pytest.mark.parametrize(("h", "missing"), [(0, [S3]), (1, [])])
def test_only_the_first_receiver_of_a_bmig_tells_what_it_lacks(b1: Broker, h: int, missing: list[NodeId]) -> None:
    """Algorithm 4.3, lines 24 to 26: of subscribers in neither C nor O, if h = 0."""
    for subscriber in (S1, S2, S3):
        knows(b1, subscriber, 3, Timestamp(5, 2), topic(1))
    knows(b1, 104, 3, Timestamp(5, 2))
    actions = told(b1, 2, Bmig(h, (Known(S1, 5, 1),), (Known(S2, 5, 1),)))
    assert [message.subscriber for _, message in sends(actions) if isinstance(message, Bsub)] == missing


def test_bmig_goes_once_to_each_old_next_hop_with_all_that_is_believed(b1: Broker) -> None:
    """Algorithm 4.3, lines 27 to 33: X is a set, C_i goes to each of it, and never back nor to a client."""
    knows(b1, S1, 3, Timestamp(5, 3), topic(1))
    knows(b1, S2, 4, Timestamp(5, 3), topic(1))
    knows(b1, S3, 3, Timestamp(5, 3), topic(1))
    knows(b1, 104, 104, Timestamp(5, 3), topic(1))
    children = tuple(Known(subscriber, 5, 1) for subscriber in (S1, S2, S3, 104))
    actions = told(b1, 2, Bmig(1, children, ()))
    assert sends(actions) == [(3, Bmig(2, children, ())), (4, Bmig(2, children, ()))]


def test_bmig_sends_what_is_stored_for_those_believed(b1: Broker) -> None:
    """Algorithm 4.3, lines 34 and 35; what is for the others stays."""
    for subscriber in (S1, S2):
        knows(b1, subscriber, 3, Timestamp(5, 2), topic(1))
        b1.storage.put(subscriber, event(1, subscriber))
    actions = told(b1, 2, Bmig(1, (Known(S1, 5, 1), Known(S2, 4, 1)), ()))
    assert (2, Rep(S1, 1, (event(1, S1),))) in sends(actions)
    assert stored(b1, S2) == [S2]


def test_bmig_in_circles_ends() -> None:
    """After more hops than there can be brokers it is passed on no more."""
    limited = make_broker(MftParameters(max_hops=6))
    for hops, passed_on in ((5, True), (6, False)):
        knows(limited, S1, 3, Timestamp(5, 2), topic(1))
        assert bool(sends(told(limited, 2, Bmig(hops, (Known(S1, 5, 1),), ())))) == passed_on


# Algorithm 4.4


def test_bsub_replaces_all_filters_and_is_passed_on(b1: Broker) -> None:
    """Algorithm 4.4, lines 1 to 8: T gets T_j(s).h + h + 1; passed on is T_j(s) as it came, with h + 1."""
    knows(b1, S1, 3, Timestamp(5, 2), topic(1), topic(2))
    actions = told(b1, 2, Bsub(S1, Timestamp(6, 1), 2, (topic(3),)))
    passed_on = Bsub(S1, Timestamp(6, 1), 3, (topic(3),))
    assert sends(actions) == [(3, passed_on), (4, passed_on)]
    assert (b1.table.filters(S1), b1.table.next_hop(S1)) == ((topic(3),), 2)
    assert b1.table.timestamp(S1) == Timestamp(6, 4)


def test_bsub_sends_what_is_stored(b1: Broker) -> None:
    """Algorithm 4.4, line 9."""
    b1.storage.put(S1, event(1, 7))
    actions = told(b1, 2, Bsub(S1, Timestamp(6, 1), 0, (topic(1),)))
    assert sends(actions)[-1] == (2, Rep(S1, 1, (event(1, 7),)))


def test_bsub_without_filters_ends_all_subscriptions(b1: Broker) -> None:
    """Section 4.1: "a higher number but no active subscriptions" is an unsubscription."""
    knows(b1, S1, 3, Timestamp(5, 2), topic(1))
    told(b1, 2, Bsub(S1, Timestamp(6, 1), 0, ()))
    assert (b1.table.filters(S1), b1.table.next_hop(S1), b1.table.timestamp(S1)) == ((), None, Timestamp(6, 2))


def test_bsub_that_is_no_newer_changes_nothing(letter: Broker) -> None:
    """Algorithm 4.4, line 1: T_j(s) > T_i(s)."""
    knows(letter, S1, 3, Timestamp(5, 2), topic(1))
    for known in (Timestamp(5, 2), Timestamp(5, 3), Timestamp(4, 1)):
        assert told(letter, 2, Bsub(S1, known, 0, (topic(9),))) == []
    assert (letter.table.filters(S1), letter.table.next_hop(S1)) == ((topic(1),), 3)


def test_bsub_of_the_same_timestamp_turns_the_way_and_goes_on_along_the_old_one(b1: Broker) -> None:
    """`home_decides`: nobody else need hear of it, and filters and T are as new here."""
    knows(b1, S1, 3, Timestamp(5, 2), topic(1))
    b1.storage.put(S1, event(1, 7))
    claim = Bsub(S1, Timestamp(5, 2), 4, (topic(1),))
    passed_on = Bsub(S1, Timestamp(5, 2), 5, (topic(1),))
    assert sends(told(b1, 2, claim)) == [(3, passed_on), (2, Rep(S1, 1, (event(1, 7),)))]
    assert (b1.table.next_hop(S1), b1.table.timestamp(S1)) == (2, Timestamp(5, 2))
    assert told(b1, 2, claim) == []


def test_bsub_of_the_same_timestamp_about_nothing_known_is_ignored(b1: Broker) -> None:
    """`home_decides`: there is no way to turn, and no old one to go on along, if it is over a lost link."""
    knows(b1, S1, 3, Timestamp(5, 2))
    knows(b1, S2, STRANGER, Timestamp(5, 2), topic(1))
    assert told(b1, 2, Bsub(S1, Timestamp(5, 2), 0, ())) == []
    assert told(b1, 2, Bsub(S2, Timestamp(5, 2), 0, (topic(1),))) == []
    assert b1.table.next_hop(S2) == 2


def test_old_bsub_is_corrected(b1: Broker) -> None:
    """An older counter is answered; so is one as old that claims the subscriber of its own broker."""
    knows(b1, S1, 3, Timestamp(5, 2), topic(1))
    knows(b1, S2, S2, Timestamp(5, 1), topic(2))
    assert sends(told(b1, 2, Bsub(S1, Timestamp(4, 1), 0, ()))) == [(2, Bsub(S1, Timestamp(5, 2), 0, (topic(1),)))]
    assert sends(told(b1, 2, Bsub(S2, Timestamp(5, 2), 0, ()))) == [(2, Bsub(S2, Timestamp(5, 1), 0, (topic(2),)))]


def test_bsub_in_circles_ends() -> None:
    """After more hops than there can be brokers it is passed on no more."""
    limited = make_broker(MftParameters(max_hops=6))
    assert sends(told(limited, 2, Bsub(S1, Timestamp(1, 1), 6, (topic(1),)))) == []
    assert limited.table.next_hop(S1) == 2


def test_bquery_is_answered_with_what_is_newer(b1: Broker) -> None:
    """Algorithm 4.4, lines 10 to 16: all filters, T as it is here, h = 0."""
    knows(b1, S1, 3, Timestamp(5, 2), topic(1), topic(2))
    answer = [(2, Bsub(S1, Timestamp(5, 2), 0, (topic(1), topic(2))))]
    for known in (UNKNOWN, Timestamp(4, 1), Timestamp(5, 3)):
        assert sends(told(b1, 2, Bquery(S1, known))) == answer


def test_bquery_is_not_answered_with_what_is_not_newer(b1: Broker) -> None:
    """Algorithm 4.4, line 10: (t, h) < T_i(s)."""
    knows(b1, S1, 3, Timestamp(5, 2), topic(1))
    for known in (Timestamp(5, 2), Timestamp(5, 1), Timestamp(6, 9)):
        assert told(b1, 2, Bquery(S1, known)) == []
    assert told(b1, 2, Bquery(S2, UNKNOWN)) == []


def test_who_is_told_the_subscriptions_is_not_the_way(b1: Broker) -> None:
    """A BSUB says that the way is here: were it there as well, the two would point at each other."""
    knows(b1, S1, 2, Timestamp(5, 2), topic(1))
    told(b1, 2, Bquery(S1, UNKNOWN))
    assert b1.table.next_hop(S1) is None
    assert notes(told(b1, 3, Pub(1, event(1, 7))), STORE) == [("99.7", S1)]


# PUB and REP


def test_pub_goes_to_each_interface_once_and_never_back(b1: Broker) -> None:
    """Algorithm 3.1, lines 11 to 18: two subscribers behind b3, one behind b4, one where it comes from."""
    for subscriber, via in ((S1, 3), (S2, 3), (S3, 4), (104, 2)):
        knows(b1, subscriber, via, Timestamp(1, 2), topic(1))
    assert sends(told(b1, 2, Pub(3, event(1, 7)))) == [(3, Pub(4, event(1, 7))), (4, Pub(4, event(1, 7)))]


def test_pub_goes_only_to_whom_it_matches(b1: Broker) -> None:
    """Algorithm 3.1, line 12."""
    knows(b1, S1, 3, Timestamp(1, 2), topic(1))
    knows(b1, S2, 4, Timestamp(1, 2), topic(2))
    assert sends(told(b1, 2, Pub(3, event(2, 7)))) == [(4, Pub(4, event(2, 7)))]


def test_pub_to_the_client_on_this_node_makes_no_hop(b1: Broker) -> None:
    """It does not go on the air."""
    knows(b1, 1, 1, Timestamp(1, 1), topic(1))
    assert sends(told(b1, 2, Pub(3, event(1, 7)))) == [(1, Pub(3, event(1, 7)))]


def test_a_client_that_wants_what_it_publishes_gets_it(b1: Broker) -> None:
    """Never back is said of brokers."""
    knows(b1, S1, S1, Timestamp(1, 1), topic(1))
    b1.clients.add(S1)
    assert sends(told(b1, S1, Pub(1, event(1, 7)))) == [(S1, Pub(2, event(1, 7)))]


def test_a_second_copy_of_a_pub_is_not_passed_on(b1: Broker) -> None:
    """A link can repeat a notification that it had given up; the trace hears of it once."""
    knows(b1, S1, 3, Timestamp(1, 2), topic(1))
    assert notes(told(b1, 2, Pub(1, event(1, 7))), ROUTE) == [("99.7", None)]
    assert told(b1, 2, Pub(1, event(1, 7))) == []
    assert told(b1, 4, Pub(1, event(1, 7))) == []


def test_a_second_copy_serves_who_was_not_known_before(b1: Broker) -> None:
    """Once for a subscriber, not once in all."""
    knows(b1, S1, 3, Timestamp(1, 2), topic(1))
    told(b1, 2, Pub(1, event(1, 7)))
    knows(b1, S2, 4, Timestamp(1, 2), topic(1))
    assert sends(told(b1, 2, Pub(1, event(1, 7)))) == [(4, Pub(2, event(1, 7)))]


def test_only_so_many_notifications_are_remembered() -> None:
    """The oldest is forgotten first; its copy would be passed on again."""
    limited = make_broker(MftParameters(remembered=2))
    knows(limited, S1, 3, Timestamp(1, 2), topic(1))
    for sequence in (1, 2, 3):
        told(limited, 2, Pub(1, event(1, sequence)))
    assert told(limited, 2, Pub(1, event(1, 3))) == []
    assert sends(told(limited, 2, Pub(1, event(1, 1)))) == [(3, Pub(2, event(1, 1)))]


def test_what_cannot_go_on_is_stored_for_each_subscriber(b1: Broker) -> None:
    """Algorithm 3.1, lines 19 to 21: the interface is gone."""
    for subscriber in (S1, S2):
        knows(b1, subscriber, 3, Timestamp(1, 2), topic(1))
    asked(b1.gone, 3, moved=False)
    actions = told(b1, 2, Pub(1, event(1, 7)))
    assert sends(actions) == []
    assert notes(actions, STORE) == [("99.7", S1), ("99.7", S2)]


def test_a_replay_counts_its_hops_anew(b1: Broker) -> None:
    """Hops of a stored notification begin where it is replayed; each broker on the way adds one."""
    knows(b1, S1, 3, Timestamp(1, 2), topic(1))
    asked(b1.gone, 3, moved=False)
    told(b1, 2, Pub(30, event(1, 7)))
    assert sends(told(b1, 4, Mig(S1, 9, 2, 0))) == [(4, Rep(S1, 1, (event(1, 7),)))]
    assert sends(told(b1, 2, Rep(S1, 1, (event(1, 8),)))) == [(4, Rep(S1, 2, (event(1, 8),)))]


def test_rep_that_cannot_go_on_is_stored(b1: Broker) -> None:
    """Not known, gone, or the way is back where it comes from."""
    knows(b1, S2, 2, Timestamp(1, 2), topic(1))
    knows(b1, S3, STRANGER, Timestamp(1, 2), topic(1))
    for subscriber in (S1, S2, S3):
        actions = told(b1, 2, Rep(subscriber, 1, (event(1, 7), event(1, 8))))
        assert notes(actions, STORE) == [("99.7", subscriber), ("99.8", subscriber)]
        assert sends(actions) == []


def test_rep_in_circles_is_stored() -> None:
    """After more hops than there can be brokers it waits for better knowledge."""
    limited = make_broker(MftParameters(max_hops=6))
    knows(limited, S1, 3, Timestamp(1, 2), topic(1))
    assert len(sends(told(limited, 2, Rep(S1, 6, (event(1, 7),))))) == 1
    assert notes(told(limited, 2, Rep(S1, 7, (event(1, 7),))), STORE) == [("99.7", S1)]


def test_replays_go_one_by_one_as_the_link_has_room() -> None:
    """One REP of so many bytes when the way is found, the next each time the link is idle."""
    small = make_broker(MftParameters(replay_bytes=1))
    for sequence in (1, 2, 3):
        small.storage.put(S1, event(1, sequence))
    first = told(small, 2, Bsub(S1, Timestamp(1, 1), 0, (topic(1),)))
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


# Interfaces


def test_a_broken_link_stores_what_was_under_way(b1: Broker) -> None:
    """PUB for whom it was sent there, REP for its subscriber; control messages are mended by the next BMIG."""
    for subscriber in (S1, S2):
        knows(b1, subscriber, 3, Timestamp(1, 2), topic(1))
    knows(b1, S3, 4, Timestamp(1, 2), topic(1))
    told(b1, 2, Pub(1, event(1, 7)))
    lost = [Pub(2, event(1, 7)), Rep(S1, 1, (event(1, 8),)), Sub(S3, 1, 2, topic(1))]
    actions = asked(b1.link_broken, 3, lost)
    assert sends(actions) == []
    assert notes(actions, STORE) == [("99.7", S1), ("99.7", S2), ("99.8", S1)]
    assert 3 not in b1.neighbours


def test_a_broken_link_sends_again_by_a_way_found_meanwhile(b1: Broker) -> None:
    """S1 has another next hop since the notification was sent."""
    knows(b1, S1, 3, Timestamp(1, 2), topic(1))
    told(b1, 2, Pub(1, event(1, 7)))
    told(b1, 4, Mig(S1, 9, 2, 1))
    assert sends(asked(b1.link_broken, 3, [Pub(2, event(1, 7))])) == [(4, Rep(S1, 1, (event(1, 7),)))]


def test_filters_that_did_not_arrive_are_sent_when_the_client_is_back(b1: Broker) -> None:
    """Once, with what is known then."""
    told(b1, S1, Mig(S1, 9, 1, 0))
    asked(b1.link_broken, S1, [Filters(())])
    knows(b1, S1, S1, Timestamp(1, 1), topic(1))
    assert sends(asked(b1.client_appeared, S1)) == [(S1, Filters((topic(1),)))]
    assert sends(asked(b1.client_appeared, S1)) == []


def test_a_client_that_is_back_gets_what_is_stored(b1: Broker) -> None:
    """It need not have moved: its broker was only out of reach."""
    knows(b1, S1, S1, Timestamp(1, 1), topic(1))
    asked(b1.client_appeared, S1)
    asked(b1.gone, S1, moved=False)
    told(b1, 2, Pub(1, event(1, 7)))
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
    assert sends(told(b1, 2, Bmig(0, (), (Known(S1, 5, 255),)))) == []
    assert b1.table.next_hop(S1) == 2


def test_to_the_letter_nobody_is_greeted_back(letter: Broker) -> None:
    """Only a migration makes a BMIG."""
    knows(letter, S1, 2, Timestamp(5, 2), topic(1))
    asked(letter.gone, 3, moved=False)
    assert asked(letter.neighbour_appeared, 3) == []


def test_to_the_letter_two_brokers_can_point_at_each_other(letter: Broker) -> None:
    """Neither a BSUB nor O makes a broker forget its way; see `forget_ways`."""
    knows(letter, S1, 2, Timestamp(5, 2), topic(1))
    told(letter, 2, Bmig(0, (), (Known(S1, 5, 3),)))
    told(letter, 2, Bquery(S1, UNKNOWN))
    assert letter.table.next_hop(S1) == 2


def test_a_sub_brings_what_is_stored(b1: Broker, letter: Broker) -> None:
    """`replay_always`: it shows a way as a MIG does; to the letter it does not."""
    replayed = (2, Rep(S1, 1, (event(1, 7),)))
    for broker, is_replayed in ((b1, True), (letter, False)):
        broker.storage.put(S1, event(1, 7))
        assert (replayed in sends(told(broker, 2, Sub(S1, 5, 1, topic(1))))) == is_replayed


def test_a_rep_follows_a_subscriber_without_filters(b1: Broker, letter: Broker) -> None:
    """`replay_always`: it may be about to mend them; to the letter there is no entry to follow."""
    for broker in (b1, letter):
        knows(broker, S1, 2, Timestamp(5, 2))
    assert sends(told(b1, 3, Rep(S1, 1, (event(1, 7),)))) == [(2, Rep(S1, 2, (event(1, 7),)))]
    assert notes(told(letter, 3, Rep(S1, 1, (event(1, 7),))), STORE) == [("99.7", S1)]


def test_over_bare_links_everything_stored_is_replayed_at_once() -> None:
    """Nothing tells when such a link is idle: one REP after the other, each of the allowed size."""
    bare = make_broker(MftParameters(link_layer=False, replay_bytes=1))
    for number in range(3):
        bare.storage.put(S1, event(1, number))
    actions = sends(told(bare, 2, Bsub(S1, Timestamp(6, 1), 0, (topic(1),))))
    assert [message for _, message in actions[-3:]] == [Rep(S1, 1, (event(1, number),)) for number in range(3)]


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
        assert told(b1, STRANGER, message) == []
    assert b1.table.get(S1) is None


def test_notifications_from_outside_the_neighbours_are_taken(b1: Broker) -> None:
    """A notification is worth having wherever it comes from."""
    knows(b1, S1, 3, Timestamp(1, 2), topic(1))
    assert sends(told(b1, STRANGER, Pub(1, event(1, 7)))) == [(3, Pub(2, event(1, 7)))]
    assert sends(told(b1, STRANGER, Rep(S1, 1, (event(1, 8),)))) == [(3, Rep(S1, 2, (event(1, 8),)))]


def test_a_bmig_that_begins_at_its_sender_makes_it_a_neighbour(b1: Broker) -> None:
    """It may come before the heartbeat that says so."""
    told(b1, STRANGER, Bmig(0, (Known(S1, 1, 1),), ()))
    assert STRANGER in b1.neighbours


def test_a_repeated_notification_is_taken_on_once(b1: Broker) -> None:
    """Even for those that lie behind its sender, to whom nothing is sent from here."""
    knows(b1, S1, 2, Timestamp(5, 2), topic(1))
    assert notes(told(b1, 2, Pub(1, event(1, 7))), ROUTE) == [("99.7", None)]
    assert told(b1, 2, Pub(1, event(1, 7))) == []
