"""What is found wrong: shortest transcripts, which repeat what was found."""

import signal
from pathlib import Path

import pytest

from roambus.bridge.system.errors import UserError
from roambus.bridge.transcript.document import parse_document
from roambus.bridge.transcript.transcript import Overrides, follow
from roambus.extensions.exploring.checker import Bounds
from roambus.extensions.exploring.exploration import Exploration
from roambus.extensions.exploring.scenario_file import parse_question, read_question
from roambus.extensions.exploring.tests.exploring import AGENTS, explored
from roambus.extensions.exploring.verdicts import Counterexample

QUESTIONS = Path(__file__).parents[3] / "benchmarks" / "explorations"
SCENARIOS = Path(__file__).parent / "scenarios"


@pytest.mark.parametrize(
    ("question", "parameter", "name", "steps"),
    [
        ("mft_crossing", "correct_old", "no phantoms", 7),
        pytest.param("mft_parting", "home_decides", "probes arrive", 8, marks=pytest.mark.slow),
        ("mft_turning", "forget_ways", "nothing lost", 8),
        pytest.param("mft_star", "tell_turns", "probes arrive", 11, marks=pytest.mark.slow),
    ],
)
def test_each_mend_of_mft_is_missed_when_it_is_off(question: str, parameter: str, name: str, steps: int) -> None:
    """A breadth-first search finds the shortest way, and so the same number of steps each time."""
    wrong = _wrong(question, {parameter: "false"})
    assert [(counterexample.name, counterexample.steps) for counterexample in wrong] == [(name, steps)]


@pytest.mark.slow  # a hundred thousand states
def test_two_moves_leave_no_broker_of_mft_without_a_way() -> None:
    """With all mends on, every order of two changes of a star of four brokers is explored, and holds."""
    exploration = Exploration(read_question(QUESTIONS / "mft_star.txt"), Overrides())
    exploration.run(Bounds())
    assert (exploration.checker.figures.ended_by, exploration.counterexamples) == (None, [])


@pytest.mark.parametrize(
    ("question", "parameter", "name", "steps"),
    [
        ("first_approach_returning", "filters_again", "no phantoms", 12),
        ("first_approach_crossing", "keep_connected", "probes arrive", 7),
        ("first_approach_crossing", "answer_late", "probes arrive", 6),
    ],
)
def test_each_mend_of_the_first_approach_is_missed_when_it_is_off(
    question: str, parameter: str, name: str, steps: int
) -> None:
    """As with MFT-PubSub, in as few steps as there can be."""
    wrong = _wrong(question, {parameter: "false"})
    assert [(counterexample.name, counterexample.steps) for counterexample in wrong] == [(name, steps)]


@pytest.mark.slow  # ten thousand states
@pytest.mark.parametrize("question", ["first_approach_returning", "first_approach_crossing"])
def test_with_its_mends_the_first_approach_holds(question: str) -> None:
    """Everything is explored."""
    assert _wrong(question, {}) == []


@pytest.mark.parametrize(("name", "steps"), [("nothing twice", 6), ("everything delivered", 7), ("order kept", 7)])
def test_published_phoenix_loses_doubles_and_overtakes(name: str, steps: int) -> None:
    """The thesis, algorithm 2.3."""
    wrong = _wrong("phoenix_moves", {"number_migrations": "false"}, keep_on=True)
    assert (name, steps) in [(counterexample.name, counterexample.steps) for counterexample in wrong]


@pytest.mark.slow  # with the tests of what is missed without the mend
def test_phoenix_with_its_mend_has_none_of_this() -> None:
    """Everything that can happen within the same bounds is explored."""
    exploration = Exploration(read_question(QUESTIONS / "phoenix_moves.txt"), Overrides())
    exploration.run(Bounds())
    assert exploration.checker.figures.ended_by is None
    assert not exploration.counterexamples


def test_labels_that_are_not_checked_send_a_node_to_and_fro() -> None:
    """The skip ring's livelock: two neighbours delegate a third to each other, and no other message ends it."""
    exploration = Exploration(read_question(QUESTIONS / "skip_ring_check_labels.txt"), Overrides())
    exploration.run(Bounds(depth=7))
    assert [(counterexample.name, counterexample.steps) for counterexample in exploration.counterexamples] == [
        ("eventually quiet", 6)
    ]


def test_a_transcript_is_repeated_line_by_line() -> None:
    """What `roambus trace` makes of its commands is what stands below them."""
    (wrong,) = _wrong("first_approach_returning", {"filters_again": "false"})
    assert "by hand" in wrong.transcript.splitlines()
    assert follow(parse_document(Path("found.txt"), wrong.transcript)) == wrong.transcript


def test_an_error_of_an_agent_is_found_with_the_way_to_it() -> None:
    """The second word raises it, which takes two commands and two arrivals."""
    text = f"agent {AGENTS}:Careless\nlinks n1-n2\nmay 2 times n1 publishes e1\nmust no loops"
    exploration = explored(text)
    assert [(counterexample.name, counterexample.steps) for counterexample in exploration.counterexamples] == [
        ("agents raise no errors", 4)
    ]
    assert "two words are too many" in exploration.counterexamples[0].text


@pytest.mark.slow
def test_what_never_ends_at_one_instant_is_found() -> None:
    """Nobody waits for it."""
    exploration = explored(f"agent {AGENTS}:Stubborn\nlinks n1-n2\nlinks n3-n2\nmay n1 publishes e1\nmust no loops")
    assert [(counterexample.name, counterexample.steps) for counterexample in exploration.counterexamples] == [
        ("agents raise no errors", 1)
    ]
    assert exploration.counterexamples[0].text == "it sends again and again, at one instant, over a link that is gone"


def test_a_state_that_cannot_be_copied_is_named() -> None:
    """The attribute of the agent is in the message."""
    text = f"agent {AGENTS}:Reader\nlinks n1-n2\nmay n1 publishes e1\nmust no loops"
    with pytest.raises(UserError, match=r"self.numbers is a generator, which cannot be copied"):
        explored(text)


def test_an_agent_that_goes_by_the_clock_is_named() -> None:
    """What it does at a time cannot be what it does at any time."""
    with pytest.raises(UserError, match=r"OClock cannot be explored .*divides a moment, which depends on the clock"):
        explored(f"agent {AGENTS}:OClock\nrelative time\nlinks n1-n2\nmust no loops")


def test_an_agent_that_moves_its_node_is_named() -> None:
    """An exploration has no places for its states."""
    text = f"agent {AGENTS}:Wanderer\nlinks n1-n2\nmay n1 publishes e1\nmust no loops"
    with pytest.raises(UserError, match=r"Wanderer cannot be explored: it moves its node, and an exploration has no"):
        explored(text)


def test_messages_that_never_end_are_a_livelock() -> None:
    """A word is said, and heard by all; then it goes to and fro between the two, which takes two steps more."""
    exploration = explored(f"agent {AGENTS}:Echo\nlinks n1-n2\nmay n1 publishes e1\nmust eventually quiet")
    (wrong,) = exploration.counterexamples
    assert (wrong.name, wrong.steps) == ("eventually quiet", 4)


def _wrong(question: str, parameters: dict[str, str], *, keep_on: bool = False) -> list[Counterexample]:
    overrides = Overrides(parameters=parameters)
    exploration = Exploration(read_question(QUESTIONS / f"{question}.txt"), overrides, keep_on=keep_on)
    exploration.run(Bounds())
    return exploration.counterexamples


def test_ctrl_c_ends_a_search_in_good_order() -> None:
    """It says so, and goes on when it is run again, to what it would have found without."""
    text = f"agent {AGENTS}:Announcing\nlinks n1-n2\nmay 3 times n1 publishes e1\nmust eventually quiet"
    exploration = Exploration(parse_question(Path("question.txt"), text), Overrides())
    heard = iter(range(100))
    exploration.run(Bounds(), lambda _: signal.raise_signal(signal.SIGINT) if next(heard) == 0 else None)
    ends = [exploration.checker.figures.ended_by]
    (verdict,) = exploration.report("words").verdicts.values()
    assert verdict == "not decided: the search was cut at Ctrl-C: run it again"
    exploration.run(Bounds())
    assert exploration.report("words").verdicts == {"eventually quiet": "holds in all 10 states"}
    assert [*ends, exploration.checker.figures.ended_by] == ["Ctrl-C", None]
    assert (exploration.checker.figures.states, exploration.checker.figures.transitions) == (10, 12)


def test_a_transcript_can_be_played() -> None:
    """The film has what the transcript says, and goes on by hand."""
    session = pytest.importorskip("roambus.extensions.viewer.play").Session(
        SCENARIOS / "explored_mft_forget_ways.txt", Overrides()
    )
    assert "> b2 -> b3 arrives" in session.transcript().splitlines()
    session.do(1000.0, "b3 is cut off")
    last, follows = session.transcript().splitlines()[-2:]
    assert (last.endswith("s b3 is cut off"), follows) == (True, "(nothing)")


def test_links_that_lose_are_explored_as_they_are_run() -> None:
    """Any message may get lost on the way that loses, and on no other, however often."""
    head = "agent flooding\nlinks n1-n2\nloss n1->n2 0.1\nsetup\n  n1 subscribes f2\n  n2 subscribes f1\n"
    for lines, wrong in (("may 2 times n1 publishes e1", True), ("may 2 times n2 publishes e2", False)):
        exploration = explored(f"{head}{lines}\nmust everything delivered\n")
        assert bool(exploration.counterexamples) is wrong
    (lost,) = explored(f"{head}may n1 publishes e1\nmust everything delivered\n").counterexamples
    assert "> n1 -> n2 is lost" in lost.transcript


def test_a_link_goes_down_one_way_in_an_exploration_too() -> None:
    """Nothing is due to whom no way leads, and what goes the other way arrives."""
    head = "agent flooding\nlinks n1-n2\nsetup\n  n1 subscribes f2\n  n2 subscribes f1\n  link n1->n2 down\n"
    lines = "may n1 publishes e1\nmay n2 publishes e2\nmay link n1->n2 up\nmust everything delivered\n"
    exploration = explored(head + lines)
    assert (exploration.checker.figures.ended_by, exploration.counterexamples) == (None, [])
    found = explored(f"{head}may n1 publishes e1\nmust everything delivered in the end\n")
    assert not found.counterexamples
