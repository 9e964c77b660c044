"""The explorer's own check: protocols whose states are counted by hand."""

from math import comb
from pathlib import Path

import pytest

from roambus.extensions.exploring.checker import Bounds, Figures
from roambus.extensions.exploring.scenario_file import parse_question, variants
from roambus.extensions.exploring.tests.exploring import AGENTS
from roambus.extensions.exploring.tests.exploring import explored as explored_whole


def explored(text: str, bounds: Bounds | None = None) -> Figures:
    """The figures of a plain search."""
    return explored_whole(text, bounds).checker.figures


def test_one_word_on_a_star_has_a_state_for_each_set_of_nodes_that_heard_it() -> None:
    """Before it is said there is one state; then each of three neighbours has heard the word or has not: 1 + 2^3.

    Of the states after it, those with k messages under way have k steps: 3 * 2^2 in all, and one step says the word.
    """
    found = explored(f"agent {AGENTS}:Announcing\nlinks n1-n2 n1-n3 n1-n4\nmay n1 publishes e1\nmust no loops")
    assert (found.states, found.transitions, found.depth) == (9, 13, 4)
    assert found.ended_by is None


@pytest.mark.parametrize("words", [1, 2, 3])
def test_words_on_one_link_are_distinguished_by_how_many_were_said_and_heard(words: int) -> None:
    """With w words, each state is a pair: s said and h heard, h <= s <= w, which makes (w + 1)(w + 2) / 2.

    From each one a word can be said if s < w, and one can be heard if h < s: w (w + 1) / 2 steps of each kind.
    """
    found = explored(f"agent {AGENTS}:Announcing\nlinks n1-n2\nmay {words} times n1 publishes e1\nmust no loops")
    assert found.states == comb(words + 2, 2)
    assert found.transitions == words * (words + 1)
    assert found.depth == 2 * words


def test_in_any_order_words_are_distinguished_by_which_are_under_way() -> None:
    """Two different words: none said (1), one said (heard or not: 2), both said (any of four sets heard: 4)."""
    text = f"agent {AGENTS}:Announcing\nlinks n1-n2\norder any\nmay 2 times n1 publishes e1\nmust no loops"
    # Who has heard one word does not know which: with one of two under way there are two states, and not one.
    assert explored(text).states == 1 + 2 + 4


def test_clocks_are_distinguished_by_their_ticks_and_by_what_is_left() -> None:
    """Two clocks that tick together twice, in any order: (0,0) (1,0) (0,1) (1,1) (2,1) (1,2) (2,2), a second apart.

    When the first one began is a moment that both keep, so states differ by how long ago that was, not by the clock.
    """
    found = explored(f"agent {AGENTS}:Clock\nrelative time\nlinks n1-n2\nmust no loops")
    assert (found.states, found.transitions, found.quiet_states) == (7, 8, 1)


def test_chance_takes_every_way() -> None:
    """A throw of three faces leads to three states."""
    found = explored(f"agent {AGENTS}:Dice\nlinks n1-n2\nmay n1 publishes e1\nmust no loops")
    assert (found.states, found.transitions) == (2 + 3, 1 + 3)


def test_a_crash_loses_what_is_under_way_and_what_was_heard() -> None:
    """Said or not, heard or not; or node 2 is down, before the word (never to hear it) or after it."""
    text = f"agent {AGENTS}:Announcing\nlinks n1-n2\nmay n1 publishes e1\nmay n2 crashes\nmust no loops"
    # Up: not said, under way, heard. Down: not said, said. What was heard before the crash is forgotten.
    assert explored(text).states == 3 + 2


def test_a_message_that_may_get_lost_arrives_or_does_not() -> None:
    """Not said; under way; heard; lost."""
    text = f"agent {AGENTS}:Announcing\nlinks n1-n2\nmay n1 publishes e1\nmay 1 loss\nmust no loops"
    assert explored(text).states == 4


def test_either_end_of_a_line_speaks_first() -> None:
    """n1 or n3 speaks: two states each; n2 speaks: four."""
    text = f"agent {AGENTS}:Announcing\nlinks n1-n2 n2-n3\nmay 1 publication of e1\nmust no loops"
    assert explored(text).states == 1 + 2 + 2 + 4


def test_of_alike_nodes_each_shape_counts_once() -> None:
    """Three nodes make a line in three numberings, and a triangle."""
    text = f"agent {AGENTS}:Announcing\ngraphs 3\nmay 1 publication of e1\nmust no loops"
    counts = [len(variants(parse_question(Path("q.txt"), lines))) for lines in (text, f"nodes alike\n{text}")]
    assert counts == [3 + 1, 1 + 1]


def test_the_ping_pong_of_stateright_has_as_many_states_as_there() -> None:
    """Its own tests count 11 with a boundary of five and perfect delivery; here one more is before the first ping."""
    text = f"agent {AGENTS}:PingPong\nlinks n1-n2\nmay n1 publishes e1\nmust no loops"
    assert explored(text, Bounds(depth=11)).states == 1 + 11
