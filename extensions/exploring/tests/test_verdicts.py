"""What an exploration says of each property: only what it has seen all of holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from roambus.bridge.system.errors import UserError
from roambus.bridge.transcript.document import parse_document
from roambus.bridge.transcript.transcript import Overrides, follow
from roambus.extensions.exploring.checker import Bounds
from roambus.extensions.exploring.exploration import search
from roambus.extensions.exploring.scenario_file import read_question, variants
from roambus.extensions.exploring.tests.exploring import AGENTS
from roambus.extensions.exploring.verdicts import UNDECIDED, Report

QUESTIONS = Path(__file__).parents[3] / "benchmarks" / "explorations"
OUTCOMES = "64 outcomes of chance for one event"
ALL = "everything was explored"
FOR_EVER = ": the last steps repeat for ever"
PUBLISHED = "links n1-n2\nsetup\n  n1 subscribes f1\n  n2 subscribes f1\nmay n1 publishes e1\n"


MOMENTS = "commands and arrivals at the moments of other events, and commands halfway between them"
PERIODIC = "relative time\nmessages fast\n"
"""Lines with which an agent that beats for ever has few states."""
WITHIN_PERIODS = f"holds within: relative time; {MOMENTS}; messages faster than timers"


def report(path: Path, **options: Any) -> Report:
    """The report on the one network of a question."""
    ((name, question),) = variants(read_question(path))
    return search(question, Overrides(), **options).report(name)


def explored(folder: Path, agent: str, rest: str, **options: Any) -> Report:
    """The report on one network in which an event is published that all want."""
    (folder / "question.txt").write_text(f"agent {AGENTS}:{agent}\n{PUBLISHED}{rest}\n")
    return report(folder / "question.txt", **options)


def undecided(cut: str) -> str:
    """The verdict on a property that was not seen in all states."""
    return f"not decided: the search was cut at {cut}: "


def test_outcomes_of_chance_that_were_not_tried_leave_it_undecided(tmp_path: Path) -> None:
    """Of the 128 outcomes of seven throws the last delivers twice, and 64 are tried."""
    found = explored(tmp_path, "Gambler", "must nothing twice")
    assert found.verdicts == {"nothing twice": undecided(OUTCOMES) + "have it draw from fewer values"}
    assert found.has(UNDECIDED)


def test_exactly_as_many_outcomes_as_are_tried_are_all(tmp_path: Path) -> None:
    """Six throws have 64."""
    found = explored(tmp_path, "CautiousGambler", "must nothing twice")
    assert found.verdicts == {"nothing twice": f"holds in all {found.states} states"}
    assert list(found.lines())[-1].strip() == ALL


@pytest.mark.parametrize(("line", "values"), [("chance least", "least value"), ("chance ends", "ends")])
def test_values_that_stand_for_a_range_are_named(tmp_path: Path, line: str, values: str) -> None:
    """A 1 from 0 to 99 would deliver twice, and is not tried."""
    found = explored(tmp_path, "Drawing", f"{line}\nmust nothing twice")
    assert found.verdicts == {"nothing twice": f"holds within: chance at the {values} of each range"}
    assert ALL not in "".join(found.lines())


@pytest.mark.parametrize("agent", ["Dice3", "Dealer", "Sampler"])
def test_of_few_possibilities_all_are_tried(tmp_path: Path, agent: str) -> None:
    """Each of three numbers, each order of a shuffle, each sample; the transcript repeats the one that is wrong."""
    found = explored(tmp_path, agent, "must nothing twice")
    assert found.verdicts == {"nothing twice": "does not hold: e1 was delivered to n1 2 times"}
    assert "n1 delivers e1\nn1 delivers e1" in found.counterexamples[0].transcript


def test_more_values_of_a_range_show_what_lies_between(tmp_path: Path) -> None:
    """A time between two others is neither the least nor the greatest; the transcript repeats the middle.

    Runs draw any time, but none that a limit cuts off.
    """
    ends = explored(tmp_path, "Racing", "chance ends\nfor 1h\nmust nothing twice")
    assert ends.verdicts["nothing twice"].startswith(f"holds within: {MOMENTS}; chance at the ends of each range")
    (run,) = explored(tmp_path, "Racing", "chance ends\nmust nothing twice").counterexamples
    assert "by hand" not in run.transcript
    (wrong,) = explored(tmp_path, "Racing", "chance 3\nmust nothing twice").counterexamples
    assert "n1 draws 2" in wrong.transcript
    assert follow(parse_document(Path("found.txt"), wrong.transcript)) == wrong.transcript


def test_a_distribution_without_representatives_is_named(tmp_path: Path) -> None:
    """With the agent and its line: no values stand for all of the normal one."""
    with pytest.raises(
        UserError, match=r"Normal cannot be explored at small_agents.py:\d+ in publish: it draws from a"
    ):
        explored(tmp_path, "Normal", "must nothing twice")


def test_where_all_possibilities_are_tried_nothing_is_narrowed(tmp_path: Path) -> None:
    """Of 0 and 1 neither is lucky."""
    found = explored(tmp_path, "Tossing", "must nothing twice")
    assert found.verdicts == {"nothing twice": f"holds in all {found.states} states"}


def test_what_is_wrong_at_the_start_is_found(tmp_path: Path) -> None:
    """No step leads there, and the transcript shows the network as it begins."""
    (tmp_path / "mine.py").write_text(
        "from roambus.extensions.exploring.properties import at_any_time\n"
        "@at_any_time\ndef never(view):\n    return 'it is'\n"
    )
    found = explored(tmp_path, "Announcing", "must mine.py:never")
    assert [(counterexample.name, counterexample.steps) for counterexample in found.counterexamples] == [("never", 0)]
    assert "> wait 0s" in found.counterexamples[0].transcript


def test_a_timer_that_runs_out_for_ever_hides_nothing(tmp_path: Path) -> None:
    """Whoever beats and delivers nothing is quiet between its beats, and has not delivered what is due."""
    found = explored(tmp_path, "Beating", PERIODIC + "must everything delivered")
    assert found.verdicts == {"everything delivered": "does not hold: e1 was not delivered to n1"}
    probed = explored(tmp_path, "Beating", PERIODIC + "must probes arrive")
    assert probed.verdicts["probes arrive"].startswith("does not hold: what n1 publishes comes 0 times to n1")


@pytest.mark.parametrize("line", ["", "calm 500ms", "calm 3s"])
def test_a_protocol_that_tells_with_its_beats_is_judged_after_them(tmp_path: Path, line: str) -> None:
    """A calm shorter than the time between two beats is none; without such a line a whole period has to pass."""
    rest = f"{line}\nfor 10s" if line else ""
    found = explored(
        tmp_path, "Herald", PERIODIC + f"{rest}\nmust everything delivered\nmust nothing twice", keep_on=True
    )
    assert not found.counterexamples
    if not line:
        assert found.verdicts == dict.fromkeys(found.verdicts, WITHIN_PERIODS)


def test_what_counts_its_beats_is_never_the_same_again(tmp_path: Path) -> None:
    """The verdict says that nothing is known about quiet."""
    found = explored(tmp_path, "Counting", "for 3s\nmust everything delivered")
    assert found.verdicts == {
        "everything delivered": "not decided: no quiet state was reached: add the line 'relative time'"
    }


def test_without_a_quiet_state_nothing_is_said_of_what_is_asked_there(tmp_path: Path) -> None:
    """From some second on a message is always under way, and never brings what is due."""
    alone = explored(tmp_path, "Restless", PERIODIC + "must everything delivered\nmust probes arrive", keep_on=True)
    assert alone.verdicts == {
        "everything delivered": f"does not hold: e1 was not delivered to n1{FOR_EVER}",
        "probes arrive": "not decided: no quiet state was reached",
    }


def test_what_never_ends_is_judged_by_what_it_delivers(tmp_path: Path) -> None:
    """Who delivers and goes on for ever has delivered."""
    rest = "must everything delivered\nmust eventually quiet"
    found = explored(tmp_path, "Chatterbox", rest, keep_on=True)
    assert found.verdicts == {
        "everything delivered": f"holds in all {found.states} states",
        "eventually quiet": f"does not hold: messages go to and fro for ever{FOR_EVER}",
    }


LOSSY = "loss n1->n2 0.5\nloss n2->n1 0.5\nmust everything delivered"


def test_who_repeats_for_ever_gets_through_in_the_end(tmp_path: Path) -> None:
    """All may get lost, but not for ever."""
    assert explored(tmp_path, "Repeater", PERIODIC + LOSSY).verdicts == {"everything delivered": WITHIN_PERIODS}


def test_what_gets_through_for_ever_and_is_never_believed_is_found(tmp_path: Path) -> None:
    """Every other word is lost, and two in a row would be believed; the way around loses one, and has one arrive."""
    (wrong,) = explored(tmp_path, "DoubtfulRepeater", PERIODIC + LOSSY).counterexamples
    assert wrong.text == f"e1 was not delivered to n2{FOR_EVER}"
    commands = [line.rpartition("; ")[2] for line in wrong.transcript.splitlines() if line.startswith("> ")]
    assert sum("n1 -> n2 is lost" in command for command in commands) == 1
    assert sum("n1 -> n2 arrives" in command for command in commands) == 1


def test_chance_is_not_unlucky_for_ever(tmp_path: Path) -> None:
    """Who tries again until a coin shows heads delivers in the end, and who waits for the seventh face does not."""
    assert explored(tmp_path, "Coin", PERIODIC + "must everything delivered").verdicts == {
        "everything delivered": WITHIN_PERIODS
    }
    found = explored(tmp_path, "LoadedCoin", PERIODIC + "must everything delivered")
    assert found.verdicts["everything delivered"].startswith("does not hold: e1 was not delivered to n1")


@pytest.mark.parametrize(
    ("line", "blind"),
    [
        ("no phantoms", "no broker has a table of filters by subscriber"),
        ("nothing stuck", "no broker stores anything that can be read"),
        ("no loops", "no agent had a way to anybody that can be read"),
        ("one leader a partition", "no agent has an election that can be read"),
    ],
)
def test_a_property_that_cannot_see_says_so(tmp_path: Path, line: str, blind: str) -> None:
    """Flooding has no tables, no storage and no election, whatever it delivers."""
    (tmp_path / "question.txt").write_text(f"agent flooding\n{PUBLISHED}must {line}\n")
    found = report(tmp_path / "question.txt")
    assert found.verdicts == {line: f"not decided: {blind}"}
    assert found.has(UNDECIDED)


def test_an_agent_that_notes_nothing_says_nothing_of_what_is_lost(tmp_path: Path) -> None:
    """What a node has taken is known by its notes only."""
    found = explored(tmp_path, "Announcing", "must nothing lost")
    assert found.verdicts == {"nothing lost": "not decided: no node noted ROUTE"}


def test_where_nobody_can_publish_what_is_wanted_no_probe_says_anything(tmp_path: Path) -> None:
    """There is no publisher."""
    text = "agent mft\ntree\n  b1\n    b2/s2\nmay s2 subscribes f1\nmust probes arrive\n"
    (tmp_path / "question.txt").write_text(text)
    found = report(tmp_path / "question.txt")
    assert found.verdicts == {"probes arrive": "not decided: nobody could publish what anybody wants"}


def test_a_network_in_which_nothing_may_happen_is_seen_in_its_only_state(tmp_path: Path) -> None:
    """It is quiet, and nothing was published."""
    (tmp_path / "question.txt").write_text(f"agent {AGENTS}:Announcing\nlinks n1-n2\nmust everything delivered\n")
    found = report(tmp_path / "question.txt")
    blind = "not decided: nothing was published that anybody wanted"
    assert (found.states, found.verdicts) == (1, {"everything delivered": blind})


def test_timers_that_are_left_when_the_time_is_over_leave_it_undecided(tmp_path: Path) -> None:
    """A beat goes on after three seconds; an agent without timers is seen whole."""
    found = explored(tmp_path, "Herald", PERIODIC + "for 3s\nmust nothing twice")
    assert found.verdicts == {"nothing twice": f"{WITHIN_PERIODS}; the time of the line 'for 3s'"}
    assert (
        explored(tmp_path, "Tossing", "for 3s\nmust nothing twice").verdicts["nothing twice"].startswith("holds in all")
    )


def test_a_bound_hides_no_lack_of_quiet_states(tmp_path: Path) -> None:
    """Up to one step nothing is quiet."""
    found = explored(tmp_path, "Restless", PERIODIC + "must everything delivered", bounds=Bounds(depth=1))
    assert found.verdicts == {"everything delivered": "not decided: no quiet state was reached"}


def test_what_was_not_looked_at_after_something_wrong_is_undecided(tmp_path: Path) -> None:
    """The search has ended; with `keep_on` it goes on, and knows."""
    rest = "must nothing twice\nmust everything delivered"
    found = explored(tmp_path, "Tossing", rest)
    assert found.verdicts["nothing twice"] == undecided("the first violation") + "add --keep-on"
    assert found.verdicts["everything delivered"].startswith("does not hold: ")
    assert explored(tmp_path, "Tossing", rest, keep_on=True).verdicts["nothing twice"].startswith("holds in all")


def test_only_what_is_wanted_may_be_delivered(tmp_path: Path) -> None:
    """One delivers what nobody has published, and one what its application has not asked for."""
    found = explored(tmp_path, "Liar", "must nothing unwanted")
    assert found.verdicts["nothing unwanted"] == ("does not hold: 0.7 was delivered to n1, and nobody has published it")
    text = f"agent {AGENTS}:Pushy\nlinks n1-n2\nmay n1 publishes e1\nmust nothing unwanted\n"
    (tmp_path / "question.txt").write_text(text)
    pushy = report(tmp_path / "question.txt")
    assert pushy.verdicts["nothing unwanted"] == "does not hold: e1 was delivered to n2, which does not want it"


def test_nothing_is_due_to_whom_there_was_no_way(tmp_path: Path) -> None:
    """A link that is cut and comes back excuses those behind it, unless everything must come in the end."""
    text = "agent flooding\nlinks n1-n2\nsetup\n  n2 subscribes f1\nmay n1 publishes e1\nmay 2 link changes\nmust {}\n"
    verdicts = []
    for line in ("everything delivered", "everything delivered in the end"):
        (tmp_path / "question.txt").write_text(text.format(line))
        found = report(tmp_path / "question.txt")
        verdicts.append(found.verdicts[line].partition(":")[0])
    assert verdicts == ["holds within", "does not hold"]


def test_the_load_of_a_command_is_counted(tmp_path: Path) -> None:
    """An echo of two nodes is one message more with every arrival; an agent that only broadcasts sends one."""
    found = explored(tmp_path, "Announcing", "must at most 1 messages a command")
    assert found.verdicts == {"at most 1 messages a command": f"holds in all {found.states} states"}
    found = explored(tmp_path, "Echo", "must at most 3 messages a command")
    assert found.verdicts == {"at most 3 messages a command": "does not hold: 4 messages were sent for 1 commands"}


def test_who_has_given_a_notification_up_is_not_owed_it(tmp_path: Path) -> None:
    """A client that unsubscribes while it is away, and subscribes again when it is back, has lost nothing."""
    text = "agent first-approach\ntree\n  b1/p1\nclients s1@b1\nsetup\n  s1 subscribes f1\n  s1 is cut off\n"
    text += "  p1 publishes e1\nmay s1 unsubscribes f1\nmay s1 subscribes f1\nmay p1 publishes e1\nmay 1 client moves\n"
    (tmp_path / "question.txt").write_text(f"{text}must nothing lost\n")
    found = report(tmp_path / "question.txt")
    assert found.verdicts == {"nothing lost": f"holds in all {found.states} states"}


@pytest.mark.parametrize(
    ("line", "is_named"),
    [
        ("n1 unsubscribes f2", True),
        ("n1 subscribes f2", False),
        ("1 recovery", True),
        ("1 loss", False),
        ("2 publications of e1 when quiet", False),
    ],
)
def test_a_line_of_which_nothing_is_possible_is_named(tmp_path: Path, line: str, is_named: bool) -> None:
    """An unsubscription needs a subscription, and a recovery a crash."""
    found = explored(tmp_path, "Announcing", f"may {line}\nmust nothing twice")
    assert found.never == (line,) * is_named
    said = f"  may {line}: says nothing: it was possible in no state"
    assert (said in found.lines()) == is_named


def test_a_search_that_was_cut_says_nothing_of_its_lines(tmp_path: Path) -> None:
    """States that were not found may have them."""
    found = explored(tmp_path, "Announcing", "may 1 recovery\nmay 1 crash\nmust nothing twice", bounds=Bounds(states=1))
    assert found.never == ()


@pytest.mark.parametrize(
    ("line", "advice"),
    [
        ("", "timers run out for ever: give 'for 10s', or 'relative time'"),
        ("for 1h", "give a shorter 'for', or 'relative time'"),
    ],
)
def test_a_bound_that_is_there_is_not_advised(tmp_path: Path, line: str, advice: str) -> None:
    """A search that beats for ever is cut; with a bound of the time only less of it helps."""
    found = explored(tmp_path, "Beating", f"{line}\nmust nothing twice", bounds=Bounds(states=60))
    assert found.verdicts["nothing twice"].endswith(f"give a greater --states; {advice}")


def test_an_object_that_changes_is_not_said_to_grow() -> None:
    """A client is another in each state of a search that is cut, and none of its attributes is."""
    found = report(QUESTIONS / "mft_two_subscriptions.txt", bounds=Bounds(states=500))
    assert {verdict.rpartition(": ")[2] for verdict in found.verdicts.values()} == {"give a greater --states"}
