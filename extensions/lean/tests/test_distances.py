"""Distances: links rated against the radio's own edge, and rows of levels."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roambus.extensions.lean.distances import (
    FARTHEST,
    LEVEL,
    LONGEST_ROW,
    UNKNOWN,
    Distances,
    pack_levels,
    unpack_levels,
)
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import MILLISECOND, SECOND, SimTime

ME, NEAR, WEAK, FAR = 1, 2, 3, 9
levels = st.dictionaries(st.integers(0, 3 * LONGEST_ROW), st.integers(0, UNKNOWN - 1))


def hearing(offset_db: float = 0.0, until: SimTime = 60 * SECOND) -> Distances:
    """A node that hears a strong and a weak neighbour ten times a second, each by signals that vary."""
    random = Random(3)
    made = Distances(ME, SECOND)
    for now in range(0, until, 100 * MILLISECOND):
        made.hear(NEAR, random.gauss(-70, 2) + offset_db, now)
        if (weak := random.gauss(-92, 3)) > -95:
            made.hear(WEAK, weak + offset_db, now)
    return made


def test_a_node_is_at_itself_and_far_from_those_of_whom_nothing_is_known() -> None:
    """The ends of the scale."""
    made = Distances(ME, SECOND)
    assert made.of(ME, 0) == 0
    assert made.of(FAR, 0) == FARTHEST


def test_a_strong_link_takes_one_transmission_and_a_weak_one_more() -> None:
    """By the mean of what is heard, compared with the weakest that the radio hears."""
    made = hearing()
    assert made.of(NEAR, 60 * SECOND) == pytest.approx(1, abs=0.05)
    assert 1.3 < made.of(WEAK, 60 * SECOND) <= 6


@pytest.mark.parametrize("offset_db", [-5, 5])
def test_a_radio_that_reads_wrongly_rates_links_alike(offset_db: float) -> None:
    """Because its edge is wrong by as much."""
    now = 60 * SECOND
    assert hearing(offset_db).of(WEAK, now) == pytest.approx(hearing().of(WEAK, now), rel=0.25)


def test_links_are_good_where_only_strong_ones_are_heard() -> None:
    """A radio whose neighbours are all near does not take the weakest of them for its edge."""
    made = Distances(ME, SECOND)
    for number in range(5000):
        made.hear(NEAR, -50, number * 10 * MILLISECOND)
    assert made.of(NEAR, 50 * SECOND) == pytest.approx(1)


def test_silence_and_answers_that_do_not_come_make_a_link_longer() -> None:
    """And in the end it is forgotten."""
    now = 60 * SECOND
    made, other = hearing(), hearing()
    assert made.of(WEAK, now + SECOND) > made.of(WEAK, now)
    other.disappoint(WEAK)
    assert other.of(WEAK, now) > made.of(WEAK, now)
    made.forget_silent(now + 4 * SECOND)
    assert made.of(NEAR, now + 4 * SECOND) == FARTHEST


def test_a_distance_is_that_of_the_best_neighbour_and_the_link_to_it() -> None:
    """Whatever others tell."""
    made = hearing()
    now = 60 * SECOND
    made.learn(NEAR, [(FAR, 3)])
    made.learn(WEAK, [(FAR, 3)])
    assert made.of(FAR, now) == pytest.approx(3 * LEVEL + 1, abs=0.05)
    made.learn(NEAR, [(FAR, UNKNOWN)])
    assert made.of(FAR, now) == pytest.approx(3 * LEVEL + made.of(WEAK, now))


@given(levels)
def test_levels_announced_in_turns_are_those_known(known: dict[NodeId, int]) -> None:
    """Each row fits into half of a frame; a few of them have everybody, and nobody else has a level."""
    begin, unpacked = 0, dict[NodeId, int]()
    for _ in range(4):
        first, row = pack_levels(known, begin)
        assert len(row) <= LONGEST_ROW / 2
        unpacked.update(unpack_levels(first, row))
        begin = first + 2 * len(row)
    assert {node: level for node, level in unpacked.items() if level < UNKNOWN} == known
