"""From any corrupted state to the skip ring of the definition, and no further (the skip ring's paper, section 5)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roambus.extensions.skip_ring.tests.network import EVERYTHING, Outcome, assert_skip_ring, run

ROUNDS = 90
"""Those from here on are for closure."""
CLOSURE = 30
seeds = st.integers(0, 10**6)


def assert_converged(outcome: Outcome, subscribers: int) -> None:
    """To the skip ring of the definition, some time ago; all are recorded under the labels that they have."""
    found = outcome.subscribers()
    assert_skip_ring(found)
    assert len(found) == subscribers
    assert outcome.last_change_s() < ROUNDS - CLOSURE
    supervisor = outcome.agents[0].supervisor
    assert supervisor is not None
    assert supervisor.database(1).entries == {member.ring.label: node for node, member in found.items()}


@given(st.integers(1, 7), seeds)
@settings(max_examples=10)
def test_any_corrupted_state_becomes_the_skip_ring_and_stays_it(subscribers: int, seed: int) -> None:
    """Labels, edges, database, messages under way and tries are drawn; in the end all tries are equal too."""
    outcome = run(subscribers, rounds=ROUNDS, corruption=EVERYTHING, seed=seed)
    assert_converged(outcome, subscribers)
    tries = list(outcome.publications().values())
    assert all(result == tries[0] for result in tries)


@pytest.mark.parametrize("kind", EVERYTHING.split("+"))
def test_each_kind_of_corruption_alone_is_mended(kind: str) -> None:
    """Of labels, neighbours, shortcuts, database, messages and tries."""
    assert_converged(run(5, rounds=ROUNDS, corruption=kind, seed=1), 5)


@given(seeds)
@settings(max_examples=3)
def test_rings_that_know_nothing_of_each_other_become_one(seed: int) -> None:
    """Only the supervisor joins them, and it has nobody recorded: actions (ii) to (iv)."""
    assert_converged(run(9, rounds=ROUNDS, corruption="islands", seed=seed), 9)


def test_subscribers_that_join_at_once_make_the_skip_ring() -> None:
    """From nothing; sixteen, so that there are all levels of figure 1."""
    assert_converged(run(16, rounds=ROUNDS), 16)


def test_as_published_a_false_label_goes_round_for_ever() -> None:
    """The assumption in the proof of theorem 5 does not hold: this state still changes after 400 rounds, too."""
    kinds = "labels+neighbours+shortcuts+database+messages"
    mends = dict.fromkeys(("check_labels", "ask_first", "doubt_silence"), "false")
    as_published = run(8, rounds=ROUNDS, corruption=kinds, seed=11, parameters=mends)
    assert as_published.last_change_s() > ROUNDS - 2
    assert_converged(run(8, rounds=ROUNDS, corruption=kinds, seed=11), 8)
