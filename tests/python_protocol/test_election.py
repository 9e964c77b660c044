"""Leader election: one node's rules, heartbeat by heartbeat."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roambus.python_protocol.actions import Action, CancelTimer, Send, SetTimer
from roambus.python_protocol.events import Received, Started, TimerFired
from roambus.python_protocol.messages.message import MessageSet
from roambus.python_protocol.parts.election import (
    NO_LEADERSHIP,
    Election,
    ElectionParameters,
    ElectionTimer,
    Heartbeat,
    Leadership,
    settling_rounds,
)
from roambus.python_protocol.parts.overlay import Change, NeighbourAppeared, NeighbourGone, ParentChanged
from roambus.python_protocol.roles import BROADCAST, NodeId
from roambus.python_protocol.simtime import MILLISECOND, SECOND, SimTime

ME = 1
LEADER = Leadership(1000, 9)
STRONG, WEAK = -50.0, -90.0
LEAD, RELAY, CHOOSE, TIME_OUT = map(ElectionTimer, ("lead", "relay", "choose", "time-out"))
PARAMETERS = ElectionParameters()
Outcome = tuple[list[Action], list[Change]]
NOTHING: Outcome = ([], [])

nodes = st.integers(0, 65533)
leaderships = st.builds(Leadership, st.integers(0, 2**32 - 1), nodes)
heartbeats = st.builds(
    Heartbeat, leaderships, st.integers(0, 2**32 - 1), st.integers(0, 255), st.none() | nodes, st.booleans()
)


def election(*, is_broker: bool = True, sticky_parent: bool = True) -> Election:
    return Election(ME, is_broker, ElectionParameters(sticky_parent=sticky_parent), Random(0))


def outcome(made: Election) -> Outcome:
    """What it has asked for, and what has changed in the tree."""
    return made.take(), made.take_changes()


def start(made: Election, now: SimTime) -> Outcome:
    made.tell(Started(), now)
    return outcome(made)


def hear(made: Election, sender: NodeId, message: Heartbeat, rssi_dbm: float, now: SimTime) -> Outcome:
    made.tell(Received(sender, message, rssi_dbm, 50.0), now)
    return outcome(made)


def fire(made: Election, key: ElectionTimer, now: SimTime) -> Outcome:
    made.tell(TimerFired(key), now)
    return outcome(made)


def give_up(made: Election, neighbour: NodeId, now: SimTime) -> Outcome:
    made.give_up(neighbour, now)
    return outcome(made)


def copy(
    number: int,
    hops: int,
    *,
    leadership: Leadership = LEADER,
    parent: NodeId | None = None,
    is_broker: bool = True,
) -> Heartbeat:
    """A copy of the round `number`."""
    return Heartbeat(leadership, number, hops, parent, is_broker)


def one_round(made: Election, number: int, *copies: tuple[NodeId, int, float]) -> list[Change]:
    """Copies (sender, hops, RSSI) of a round in their order, and the choice after them; rounds are a second apart."""
    now = number * SECOND
    changes = [
        change for sender, hops, rssi in copies for change in hear(made, sender, copy(number, hops), rssi, now)[1]
    ]
    return [*changes, *fire(made, CHOOSE, now + PARAMETERS.parent_window)[1]]


def pause(actions: Sequence[Action], key: ElectionTimer) -> SimTime:
    """The time to which a timer is set."""
    (after,) = [action.after for action in actions if isinstance(action, SetTimer) and action.key == key]
    return after


def sent(outcome: Outcome) -> list[Heartbeat]:
    found = []
    for action in outcome[0]:
        if isinstance(action, Send):
            assert action.destination == BROADCAST
            assert isinstance(action.message, Heartbeat)
            found.append(action.message)
    return found


@given(heartbeats)
def test_a_heartbeat_decodes_to_itself(heartbeat: Heartbeat) -> None:
    """The fifteen bytes hold every field."""
    assert len(heartbeat.encode()) == 15
    assert MessageSet((Heartbeat,)).decode(heartbeat.encode()) == heartbeat


# Leaders


def test_rounds_come_at_equal_times_unless_they_have_jitter() -> None:
    """With it each begins earlier, by a time drawn anew up to `round_jitter`, and never before the one before."""
    interval, jitter = PARAMETERS.heartbeat_interval, PARAMETERS.heartbeat_interval // 10
    made = Election(ME, True, ElectionParameters(round_jitter=jitter), Random(0))
    fire(made, TIME_OUT, 0)
    pauses = [pause(fire(made, LEAD, number)[0], LEAD) for number in range(40)]
    assert interval - jitter <= min(pauses) < interval - jitter * 3 // 4
    assert interval - jitter // 4 < max(pauses) <= interval
    restless = Election(ME, True, ElectionParameters(round_jitter=4 * interval), Random(0))
    assert all(pause(fire(restless, LEAD, number)[0], LEAD) >= 1 for number in range(40))


def test_a_lone_broker_leads_after_the_time_out() -> None:
    """It listens first; then it broadcasts round after round."""
    made = election()
    actions, changes = start(made, 0)
    assert PARAMETERS.leader_time_out_min <= pause(actions, TIME_OUT) <= PARAMETERS.leader_time_out_min * 5 // 4
    assert (changes, made.is_leader) == ([], False)
    first = fire(made, TIME_OUT, 3 * SECOND)
    assert sent(first) == [copy(1, 0, leadership=Leadership(3000, ME))]
    assert pause(first[0], LEAD) == PARAMETERS.heartbeat_interval
    assert sent(fire(made, LEAD, 4 * SECOND)) == [copy(2, 0, leadership=Leadership(3000, ME))]
    assert made.is_leader


def test_a_client_never_leads() -> None:
    """It waits until it hears of a leader, again and again."""
    made = election(is_broker=False)
    for number in (1, 10, 20):
        assert sent(fire(made, TIME_OUT, number * SECOND)) == []
        assert (made.is_leader, made.leadership, made.parent) == (False, NO_LEADERSHIP, None)
        assert one_round(made, number + 1, (2, 0, STRONG)) == [ParentChanged(2)]


def test_the_older_leadership_wins() -> None:
    """A leader that hears of an older leadership follows it and stops leading; of a younger one it makes nothing."""
    made = election()
    fire(made, TIME_OUT, 3 * SECOND)
    assert hear(made, 2, copy(7, 0, leadership=Leadership(3001, 0)), STRONG, 4 * SECOND) == NOTHING
    assert made.is_leader
    actions, changes = hear(made, 2, copy(7, 0, leadership=Leadership(2999, 9)), STRONG, 4 * SECOND)
    assert CancelTimer(LEAD) in actions
    assert changes == [ParentChanged(2)]
    assert made.leadership == Leadership(2999, 9)


def test_a_tie_goes_to_the_smaller_id() -> None:
    """Leaderships that started in the same millisecond."""
    made = election()
    fire(made, TIME_OUT, 3 * SECOND)
    assert hear(made, 2, copy(7, 0, leadership=Leadership(3000, ME + 1)), STRONG, 4 * SECOND) == NOTHING
    hear(made, 2, copy(7, 0, leadership=Leadership(3000, ME - 1)), STRONG, 4 * SECOND)
    assert made.leadership.leader == ME - 1


@given(leaderships)
def test_any_leadership_is_better_than_none(leadership: Leadership) -> None:
    """Whoever follows nobody follows the first that it hears of."""
    assert leadership < NO_LEADERSHIP


def test_without_the_leader_another_one_that_was_heard_is_followed() -> None:
    """No leadership of its own is needed, if the other was heard just before."""
    younger = Leadership(2000, 8)
    for heard, follows in ((9 * SECOND, True), (10 * SECOND - PARAMETERS.leader_time_out_min, False)):
        made = election()
        one_round(made, 1, (2, 0, STRONG))
        hear(made, 3, copy(4, 1, leadership=younger), STRONG, heard)
        _, changes = fire(made, TIME_OUT, 10 * SECOND)
        assert (made.leadership == younger) == follows
        assert made.is_leader == (not follows)
        assert changes == [ParentChanged(None)] + [ParentChanged(3)] * follows


def test_another_leader_heard_before_is_followed_without_passing_on_its_old_round() -> None:
    """That leader may be lost as well: its next round is passed on, if there is one."""
    made = election()
    one_round(made, 1, (2, 0, STRONG))
    younger = Leadership(2000, 8)
    hear(made, 3, copy(4, 1, leadership=younger), STRONG, 3 * SECOND)
    actions, _ = fire(made, TIME_OUT, 4 * SECOND)
    assert actions[-1] == CancelTimer(RELAY)
    assert pause(actions, TIME_OUT) >= PARAMETERS.leader_time_out_min
    hear(made, 3, copy(5, 1, leadership=younger), STRONG, 4 * SECOND)
    assert sent(fire(made, RELAY, 4 * SECOND)) == [copy(5, 2, leadership=younger, parent=3)]


@pytest.mark.parametrize("number", [6, 7, 8])
def test_a_leader_that_was_lost_is_followed_again_only_for_a_new_round(number: int) -> None:
    """A copy of a round heard before is an echo: passed on again and again it could circulate for ever."""
    made = election()
    one_round(made, 7, (2, 0, STRONG))
    fire(made, TIME_OUT, 10 * SECOND)
    hear(made, 3, copy(number, 1), STRONG, 11 * SECOND)
    assert (made.leadership == LEADER) == (number > 7)


def test_a_leader_that_was_left_is_followed_again_only_for_a_new_round() -> None:
    """Also if it was left for an older one, and that one was lost."""
    made = election()
    one_round(made, 7, (2, 0, STRONG))
    hear(made, 3, copy(1, 1, leadership=Leadership(999, 8)), STRONG, 8 * SECOND)
    hear(made, 2, copy(7, 0), STRONG, 9 * SECOND)
    fire(made, TIME_OUT, 10 * SECOND)
    assert hear(made, 2, copy(7, 0), STRONG, 11 * SECOND) == NOTHING
    assert made.is_leader


def test_a_leader_that_was_down_does_not_follow_itself() -> None:
    """Its neighbours may still pass on what it said before it crashed."""
    made = election()
    start(made, 5 * SECOND)
    assert hear(made, 2, copy(9, 1, leadership=Leadership(1000, ME)), STRONG, 6 * SECOND) == NOTHING
    assert made.leadership == NO_LEADERSHIP


def test_old_rounds_are_not_followed() -> None:
    """A copy that comes late says nothing of the way now."""
    made = election()
    one_round(made, 5, (2, 1, STRONG))
    assert hear(made, 3, copy(4, 0), STRONG, 6 * SECOND) == NOTHING
    assert fire(made, CHOOSE, 6 * SECOND) == NOTHING
    assert made.parent == 2


# Passing a round on


def test_a_round_is_passed_on_once_with_one_hop_more() -> None:
    """After a delay of up to the jitter; it tells our parent and role."""
    made = election(is_broker=False)
    actions, _ = hear(made, 2, copy(1, 3), STRONG, 0)
    assert 0 <= pause(actions, RELAY) <= PARAMETERS.relay_jitter
    assert hear(made, 3, copy(1, 3), STRONG, 0) == NOTHING
    assert sent(fire(made, RELAY, 0)) == [copy(1, 4, parent=2, is_broker=False)]


def test_a_round_waits_for_the_parents_copy() -> None:
    """So that the hops told are those of the place in the tree; if it does not come in time the best copy counts."""
    made = election()
    one_round(made, 1, (2, 2, STRONG))
    actions, _ = hear(made, 3, copy(2, 3), STRONG, 2 * SECOND)
    assert 3 * PARAMETERS.relay_jitter <= pause(actions, RELAY) <= 4 * PARAMETERS.relay_jitter
    actions, _ = hear(made, 2, copy(2, 2), STRONG, 2 * SECOND)
    assert pause(actions, RELAY) <= PARAMETERS.relay_jitter
    assert sent(fire(made, RELAY, 2 * SECOND)) == [copy(2, 3, parent=2)]
    hear(made, 3, copy(3, 3), STRONG, 3 * SECOND)
    assert sent(fire(made, RELAY, 3 * SECOND)) == [copy(3, 4, parent=2)]


@pytest.mark.parametrize(("hops", "jitters"), [(0, 1), (1, 1), (2, 2), (5, 5), (6, 5)])
def test_the_wait_for_the_parents_copy_grows_with_the_hops(hops: int, jitters: int) -> None:
    """On its way that copy may have been late by the jitter of each hop; after `parent_window` it is too late."""
    made = election()
    one_round(made, 1, (2, hops, STRONG))
    actions, _ = hear(made, 3, copy(2, hops), STRONG, 2 * SECOND)
    assert 0 <= pause(actions, RELAY) - jitters * PARAMETERS.relay_jitter <= PARAMETERS.relay_jitter


def test_who_has_no_parent_waits_for_none() -> None:
    """Its parent was given up; the first copy of the next round is passed on within a jitter."""
    made = election()
    one_round(made, 1, (2, 5, STRONG))
    give_up(made, 2, SECOND)
    assert pause(hear(made, 3, copy(2, 5), STRONG, 2 * SECOND)[0], RELAY) <= PARAMETERS.relay_jitter


def test_another_leader_is_told_of_without_waiting() -> None:
    """The parent's copy is worth waiting for only in the rounds of its leader."""
    made = election()
    one_round(made, 1, (2, 5, STRONG))
    actions, _ = hear(made, 3, copy(7, 5, leadership=Leadership(500, 8)), STRONG, 2 * SECOND)
    assert pause(actions, RELAY) <= PARAMETERS.relay_jitter
    assert sent(fire(made, RELAY, 2 * SECOND)) == [copy(7, 6, leadership=Leadership(500, 8), parent=3)]


def test_hops_do_not_overflow() -> None:
    """What a heartbeat cannot tell is cut to what it can."""
    made = election()
    hear(made, 2, copy(1, 255), STRONG, 0)
    assert sent(fire(made, RELAY, 0)) == [copy(1, 255, parent=2)]


# The parent


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


def test_the_letter_of_the_thesis_takes_each_rounds_first_sender() -> None:
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


# Children


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


# The time-out


def heard_at(times: Sequence[SimTime]) -> SimTime:
    """The time-out set after rounds that were heard at these times."""
    made = election()
    for number, now in enumerate(times, start=1):
        actions, _ = hear(made, 2, copy(number, 1), STRONG, now)
    return pause(actions, TIME_OUT)


def test_the_time_out_is_short_while_rounds_come_regularly() -> None:
    """The lower bound, and a random quarter so that not all brokers become leaders at once."""
    after = heard_at([number * SECOND for number in range(20)])
    assert PARAMETERS.leader_time_out_min <= after <= PARAMETERS.leader_time_out_min * 5 // 4


def test_time_outs_are_spread_over_a_quarter() -> None:
    """Brokers that start together do not all become leaders together."""
    starts = [start(Election(ME, True, PARAMETERS, Random(seed)), 0)[0] for seed in range(100)]
    time_outs = sorted(pause(actions, TIME_OUT) / PARAMETERS.leader_time_out_min for actions in starts)
    assert 1 <= time_outs[0] < 1.05
    assert 1.2 < time_outs[-1] <= 1.25


def test_the_time_out_grows_when_rounds_are_lost() -> None:
    """Gaps of one and three seconds in turn: only the upper bound is beyond both."""
    times = [2 * number * SECOND + (number % 2) * SECOND for number in range(20)]
    assert heard_at(times) > PARAMETERS.leader_time_out_min * 5 // 4


@given(st.lists(st.integers(0, 60 * SECOND), min_size=1, max_size=20))
def test_the_time_out_stays_within_its_bounds(gaps: list[SimTime]) -> None:
    """Whatever the gaps between rounds were."""
    times = [sum(gaps[:number]) for number in range(len(gaps) + 1)]
    assert PARAMETERS.leader_time_out_min <= heard_at(times) <= PARAMETERS.leader_time_out_max * 5 // 4


def test_the_time_between_two_leaders_is_no_gap_between_rounds() -> None:
    """A partition of a minute does not make the next leader's loss noticed later."""
    made = election()
    hear(made, 2, copy(1, 1), STRONG, SECOND)
    actions, _ = hear(made, 2, copy(7, 1, leadership=Leadership(1, 8)), STRONG, 60 * SECOND)
    assert pause(actions, TIME_OUT) <= PARAMETERS.leader_time_out_min * 5 // 4
    fire(made, TIME_OUT, 70 * SECOND)
    actions, _ = hear(made, 2, copy(8, 1, leadership=Leadership(0, 8)), STRONG, 130 * SECOND)
    assert pause(actions, TIME_OUT) <= PARAMETERS.leader_time_out_min * 5 // 4


def test_a_heartbeat_is_broadcast_on_within_milliseconds_of_its_time() -> None:
    """The relay's delay is drawn uniformly: over many rounds it fills the jitter's range."""
    made = election()
    pauses = [pause(hear(made, 2, copy(number, 1), STRONG, number * SECOND)[0], RELAY) for number in range(1, 200)]
    assert min(pauses) < 10 * MILLISECOND
    assert max(pauses) > PARAMETERS.relay_jitter - 10 * MILLISECOND
    assert max(pauses) <= PARAMETERS.relay_jitter


# The bound

SLOW = ElectionParameters(
    heartbeat_interval=2 * SECOND,
    relay_jitter=50 * MILLISECOND,
    parent_window=400 * MILLISECOND,
    allowed_heartbeat_loss=1,
    leader_time_out_min=6 * SECOND,
    leader_time_out_max=8 * SECOND,
)


@pytest.mark.parametrize(
    ("parameters", "depth", "rounds"),
    [(PARAMETERS, 0, 9 + 1 + 4), (PARAMETERS, 3, 16 + 1 + 7), (SLOW, 4, 11 + 1 + 7)],
)
def test_the_bound_follows_from_the_parameters(parameters: ElectionParameters, depth: int, rounds: int) -> None:
    """By hand: floods and time-outs of 8.75 s, 15.05 s and 22 s, a round of the leader that is left, and the tree."""
    assert settling_rounds(parameters, depth) == rounds
