"""Leader election, one node's rules, heartbeat by heartbeat: the parent and the children."""

from __future__ import annotations

import pytest

from roambus.python_protocol.parts.election import NO_LEADERSHIP, Leadership
from roambus.python_protocol.parts.election.algorithm import NeighbourAppeared, NeighbourGone, ParentChanged
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SECOND
from tests.python_protocol.parts.election.one_node import (
    CHOOSE,
    LEAD,
    ME,
    NOTHING,
    PARAMETERS,
    RELAY,
    STRONG,
    TIME_OUT,
    WEAK,
    copy,
    election,
    fire,
    give_up,
    hear,
    one_round,
    pause,
    sent,
)


def test_the_sender_of_the_first_copy_is_the_parent_of_who_has_none() -> None:
    """Figure 2.4: at once, without waiting for the round's other copies."""
    made = election()
    assert hear(made, 2, copy(1, 3), STRONG, 0)[1] == [ParentChanged(2)]


def test_a_nearer_sender_in_the_same_round_takes_its_place() -> None:
    """When the round's copies are all there."""
    made = election()
    assert one_round(made, 1, (2, 3, STRONG), (3, 2, STRONG)) == [ParentChanged(2), ParentChanged(3)]
    give_up(made, 3, SECOND)
    assert one_round(made, 2, (4, 3, STRONG), (5, 2, STRONG)) == [ParentChanged(4), ParentChanged(5)]


def test_a_clients_copy_makes_no_parent() -> None:
    """Brokers make the tree, clients hang on it."""
    made = election()
    assert hear(made, 2, copy(1, 0, is_broker=False), STRONG, 0) == NOTHING
    assert (made.parent, made.leadership) == (None, NO_LEADERSHIP)


def test_a_sticky_parent_is_kept_while_none_is_nearer() -> None:
    """Whoever's copy comes first; a nearer one is taken when the round's copies are all there."""
    made = election()
    one_round(made, 1, (2, 2, STRONG))
    assert one_round(made, 2, (3, 2, STRONG), (2, 2, STRONG)) == []
    assert one_round(made, 3, (3, 3, STRONG), (2, 2, STRONG)) == []
    assert one_round(made, 4, (2, 2, STRONG), (3, 1, STRONG)) == [ParentChanged(3)]


def test_the_published_election_takes_each_rounds_first_sender() -> None:
    """Section 2.5, with `sticky_parent` false: however far it is, and nobody that comes later."""
    made = election(sticky_parent=False)
    assert one_round(made, 1, (2, 2, STRONG)) == [ParentChanged(2)]
    assert one_round(made, 2, (3, 4, STRONG), (2, 1, STRONG)) == [ParentChanged(3)]
    assert one_round(made, 3, (3, 4, STRONG), (2, 1, STRONG)) == []


def test_a_weak_copy_makes_no_parent_where_there_is_a_strong_one() -> None:
    """Though it comes first and with fewer hops."""
    made = election()
    assert one_round(made, 1, (2, 1, WEAK), (3, 4, STRONG), (4, 2, WEAK)) == [ParentChanged(3)]
    assert one_round(made, 2, (2, 1, WEAK), (3, 4, STRONG)) == []


def test_a_copy_at_the_limit_is_not_weak() -> None:
    """Neither the round's first nor a later one."""
    made = election()
    limit = PARAMETERS.weak_signal_dbm
    assert hear(made, 2, copy(1, 3), limit, SECOND)[1] == [ParentChanged(2)]
    assert one_round(made, 2, (2, 3, STRONG), (3, 2, limit), (4, 1, WEAK)) == [ParentChanged(3)]


def test_a_weak_copy_makes_a_parent_where_there_is_no_other() -> None:
    """When the round's copies are all there; and it is passed on late."""
    made = election()
    actions, changes = hear(made, 2, copy(1, 1), WEAK, SECOND)
    assert changes == []
    assert PARAMETERS.relay_jitter <= pause(actions, RELAY) <= 2 * PARAMETERS.relay_jitter
    assert fire(made, CHOOSE, 2 * SECOND)[1] == [ParentChanged(2)]


@pytest.mark.parametrize(("first", "second"), [(2, 3), (3, 2)])
def test_of_copies_that_are_alike_the_first_makes_the_parent(first: NodeId, second: NodeId) -> None:
    """As figure 2.4 has it, whatever the nodes' ids."""
    assert one_round(election(), 1, (first, 3, WEAK), (second, 3, WEAK)) == [ParentChanged(first)]


def test_a_weak_copy_of_another_leadership_makes_no_parent_where_there_is_a_strong_one() -> None:
    """The way to the old leader is none to the new one."""
    made = election()
    one_round(made, 1, (2, 1, STRONG))
    older = Leadership(500, 8)
    changes = [
        *hear(made, 3, copy(7, 1, leadership=older), WEAK, 2 * SECOND)[1],
        *hear(made, 4, copy(7, 3, leadership=older), STRONG, 2 * SECOND)[1],
        *fire(made, CHOOSE, 3 * SECOND)[1],
    ]
    assert changes == [ParentChanged(None), ParentChanged(4)]


def test_a_parent_that_grows_weaker_is_kept() -> None:
    """While its copies come with no more hops than the best, and through a change of the leader."""
    made = election()
    one_round(made, 1, (2, 2, STRONG))
    assert one_round(made, 2, (2, 2, WEAK), (3, 2, STRONG)) == []
    assert hear(made, 2, copy(9, 2, leadership=Leadership(500, 8)), WEAK, 3 * SECOND)[1] == []
    assert made.parent == 2


def test_a_parent_may_miss_some_rounds() -> None:
    """After one more than `allowed_heartbeat_loss` in a row, the best other takes its place."""
    made = election()
    one_round(made, 1, (2, 1, STRONG))
    for number in (2, 3):
        assert one_round(made, number, (3, 2, STRONG)) == []
    assert one_round(made, 4, (3, 2, STRONG), (2, 1, STRONG)) == []
    for number in (5, 6):
        assert one_round(made, number, (3, 2, STRONG)) == []
    assert one_round(made, 7, (4, 3, STRONG), (3, 2, STRONG)) == [ParentChanged(3)]
    for number in (8, 9):
        assert one_round(made, number, (4, 3, STRONG)) == []
    assert one_round(made, 10, (4, 3, STRONG)) == [ParentChanged(4)]


def test_nobody_as_far_away_as_told_becomes_the_parent() -> None:
    """Its hops may well be our own, come round: then the two would be each other's parent."""
    made = election()
    hear(made, 2, copy(1, 1), STRONG, SECOND)
    fire(made, RELAY, SECOND)
    give_up(made, 2, SECOND)
    hear(made, 3, copy(1, 2), STRONG, SECOND)
    assert fire(made, CHOOSE, SECOND) == NOTHING
    assert made.parent is None
    hear(made, 4, copy(1, 1), STRONG, SECOND)
    assert fire(made, CHOOSE, SECOND)[1] == [ParentChanged(4)]


def test_a_neighbour_given_up_is_no_parent_for_a_time() -> None:
    """Not the first copy, nor the best; after `exclusion` it counts again."""
    made = election()
    one_round(made, 1, (2, 1, STRONG))
    assert give_up(made, 2, SECOND) == ([], [ParentChanged(None)])
    assert one_round(made, 2, (2, 1, STRONG)) == []
    assert one_round(made, 3, (2, 1, STRONG), (3, 2, STRONG)) == [ParentChanged(3)]
    assert one_round(made, 4, (2, 1, STRONG), (3, 2, STRONG)) == [ParentChanged(2)]


def test_a_round_that_came_only_from_neighbours_given_up_is_not_passed_on() -> None:
    """There is no way here to tell of."""
    made = election()
    give_up(made, 2, 0)
    hear(made, 2, copy(1, 1), STRONG, SECOND)
    assert sent(fire(made, RELAY, SECOND)) == []


def test_children_appear_with_their_role_and_go_when_they_move() -> None:
    """Each copy tells its sender's parent; of a copy more there is nothing to say."""
    made = election()
    assert hear(made, 2, copy(1, 1, parent=ME, is_broker=False), STRONG, 0)[1] == [NeighbourAppeared(2, False)]
    assert hear(made, 2, copy(2, 1, parent=ME, is_broker=False), STRONG, 0)[1] == []
    assert list(made.children) == [2]
    assert hear(made, 2, copy(3, 1, parent=7, is_broker=False), STRONG, 0)[1] == [NeighbourGone(2, moved=True)]
    assert list(made.children) == []


def test_a_silent_child_is_gone() -> None:
    """After one round more than `allowed_heartbeat_loss`, and some jitter; our next broadcast shows it."""
    made = election()
    fire(made, TIME_OUT, 0)
    hear(made, 2, copy(1, 1, leadership=Leadership(0, ME), parent=ME), STRONG, 0)
    assert fire(made, LEAD, 3 * SECOND + PARAMETERS.parent_window)[1] == []
    assert fire(made, LEAD, 3 * SECOND + PARAMETERS.parent_window + 1)[1] == [NeighbourGone(2, moved=False)]
    assert fire(made, LEAD, 4 * SECOND)[1] == []


def test_a_child_that_is_heard_stays() -> None:
    """However long ago it appeared."""
    made = election()
    for number in (1, 4, 7):
        hear(made, 2, copy(number, 1, parent=ME), STRONG, number * SECOND)
        assert fire(made, RELAY, (number + 3) * SECOND)[1] == []


def test_a_follower_notices_silent_children_too() -> None:
    """When it passes a round on."""
    made = election()
    hear(made, 2, copy(1, 1, parent=ME), STRONG, 0)
    hear(made, 3, copy(5, 1), STRONG, 5 * SECOND)
    assert fire(made, RELAY, 5 * SECOND)[1] == [NeighbourGone(2, moved=False)]


def test_an_adopted_child_is_one_like_any_other() -> None:
    """Its own heartbeat says nothing new; its silence does."""
    made = election()
    made.adopt(2, SECOND)
    assert hear(made, 2, copy(1, 1, parent=ME, is_broker=False), STRONG, 2 * SECOND)[1] == []
    assert fire(made, RELAY, 6 * SECOND)[1] == [NeighbourGone(2, moved=False)]


def test_a_child_given_up_is_none() -> None:
    """Until it says again that it is one."""
    made = election()
    hear(made, 2, copy(1, 1, parent=ME, is_broker=False), STRONG, 0)
    assert give_up(made, 2, SECOND) == NOTHING
    assert list(made.children) == []
    assert hear(made, 2, copy(2, 1, parent=ME, is_broker=False), STRONG, 2 * SECOND)[1] == [NeighbourAppeared(2, False)]
