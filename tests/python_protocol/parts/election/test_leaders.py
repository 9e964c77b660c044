"""Leader election, one node's rules, heartbeat by heartbeat: who leads, and who is followed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roambus.python_protocol.actions import CancelTimer
from roambus.python_protocol.parts.election import NO_LEADERSHIP, Leadership
from roambus.python_protocol.parts.election.algorithm import ParentChanged
from roambus.python_protocol.simtime import SECOND
from tests.python_protocol.parts.election.one_node import (
    CHOOSE,
    LEAD,
    LEADER,
    ME,
    NOTHING,
    PARAMETERS,
    RELAY,
    STRONG,
    TIME_OUT,
    copy,
    election,
    fire,
    hear,
    one_round,
    pause,
    sent,
    start,
)

leaderships = st.builds(Leadership, st.integers(0, 2**32 - 1), st.integers(0, 65533))


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
