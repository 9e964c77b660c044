"""Leader election, one node's rules, heartbeat by heartbeat: the time-out, and the bound that follows from it."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roambus.python_protocol.parts.election import Election, ElectionParameters, Leadership
from roambus.python_protocol.simtime import MILLISECOND, SECOND, SimTime
from tests.python_protocol.parts.election.one_node import (
    ME,
    PARAMETERS,
    STRONG,
    TIME_OUT,
    copy,
    election,
    fire,
    hear,
    pause,
    start,
)
from tests.support.settling import settling_rounds

SLOW = ElectionParameters(
    heartbeat_interval=2 * SECOND,
    relay_jitter=50 * MILLISECOND,
    parent_window=400 * MILLISECOND,
    allowed_heartbeat_loss=1,
    leader_time_out_min=6 * SECOND,
    leader_time_out_max=8 * SECOND,
)


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


@pytest.mark.parametrize(
    ("parameters", "depth", "rounds"),
    [(PARAMETERS, 0, 9 + 1 + 4), (PARAMETERS, 3, 16 + 1 + 7), (SLOW, 4, 11 + 1 + 7)],
)
def test_the_bound_follows_from_the_parameters(parameters: ElectionParameters, depth: int, rounds: int) -> None:
    """By hand: floods and time-outs of 8.75 s, 15.05 s and 22 s, a round of the leader that is left, and the tree."""
    assert settling_rounds(parameters, depth) == rounds
