"""BuildRing alone makes the sorted ring of any weakly connected start (the skip ring's paper, lemma of section 2.2)."""

from __future__ import annotations

from random import Random

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.lone_rings import main
from roambus.extensions.skip_ring.tests.rings import (
    Network,
    Start,
    Stored,
    draw_delay,
    draw_start,
    with_false_labels,
    wound,
)
from roambus.python_protocol.simtime import MILLISECOND

SIX = ["001", "01", "011", "1", "101", "11"]


@given(st.integers(0, 10**6), st.booleans())
@settings(max_examples=60)
def test_any_weakly_connected_start_becomes_the_sorted_ring(seed: int, false_labels: bool) -> None:
    """Labels may be known falsely; messages take up to two seconds, and overtake each other."""
    random = Random(seed)
    start = draw_start(random, most=8)
    if false_labels:
        start = with_false_labels(random, start)
    assert Network(start, random, draw_delay(random)).rounds_to_settle() is not None


def test_what_is_in_ring_is_delegated_like_any_other_node() -> None:
    """Otherwise the first of the three never hears of the second."""
    start = Start((Stored("001", None, 2, 2), Stored("0111", None, 2, None), Stored("101", 1, None, 0)))
    assert Network(start, Random(0), 10 * MILLISECOND, probe_ends=False).rounds_to_settle() is not None


def test_of_two_ends_the_farther_is_told_of_the_nearer() -> None:
    """Two lists whose only connection is the `ring` of the first and of the last of all."""
    start = Start(
        (
            Stored("001111", None, 1, 4),
            Stored("011", 0, 2, None),
            Stored("10001", 1, None, 1),
            Stored("11011", None, 4, 4),
            Stored("11111", 3, None, 0),
        )
    )
    assert Network(start, Random(0), 10 * MILLISECOND, probe_ends=False).rounds_to_settle() is not None


def test_an_end_beyond_which_a_neighbour_lies_is_none() -> None:
    """Two lists of two, the ends of each known to the other's."""
    start = Start(
        (
            Stored("000101", None, 1, 3),
            Stored("1011", 0, None, 2),
            Stored("01001", None, 3, 1),
            Stored("101", 2, None, 0),
        )
    )
    assert Network(start, Random(0), 10 * MILLISECOND, probe_ends=False).rounds_to_settle() is not None


@pytest.mark.parametrize("times", [2, 3])
def test_a_ring_that_winds_about_the_circle_opens_if_ends_are_probed(times: int) -> None:
    """Without probes it looks right to everybody, and stays."""
    start = wound([*SIX, "0001", "111", "1111"], times)
    assert Network(start, Random(0), 10 * MILLISECOND).rounds_to_settle() is not None
    assert Network(start, Random(0), 10 * MILLISECOND, probe_ends=False).rounds_to_settle(within=20) is None


def test_the_search_counts_the_starts_without_a_ring() -> None:
    """Its exit code says whether there are any."""
    passed = CliRunner().invoke(main, ["--runs", "5"])
    assert (passed.exit_code, passed.output[:33]) == (0, "no sorted ring: 0 of 5 starts; th")
    failed = CliRunner().invoke(main, ["--runs", "2", "--wound", "--no-probes"])
    assert failed.exit_code == 1
