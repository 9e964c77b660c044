"""Transcripts that are worked by hand: messages arrive, and timers run out, when a command says so."""

from pathlib import Path

import pytest

from roambus.bridge.system.errors import UserError
from roambus.bridge.transcript.document import parse_document
from roambus.bridge.transcript.transcript import follow
from roambus.extensions.exploring.manual import BELOW_ONE, ScriptedChance

SIMPLE = "agent simple\nby hand\ntree\n  b1/p1\n    b2\nclients s2@b2\n"
GOSSIP = "agent gossip\nby hand\nlinks n1-n2 n2-n3\n"


def traced(text: str) -> list[str]:
    """The lines from the first command on."""
    lines = follow(parse_document(Path("hand.txt"), text)).splitlines()
    return lines[next(number for number, line in enumerate(lines) if line.startswith(">")) :]


def test_a_message_stays_under_way_until_it_arrives() -> None:
    """However long that is."""
    assert traced(f"{SIMPLE}> s2 subscribes f1\n> wait 1h\n> s2 -> b2 arrives\n") == [
        "> s2 subscribes f1",
        "s2 -> b2  SUB f1",
        "> wait 1h",
        "(nothing)",
        "> s2 -> b2 arrives",
        "b2 -> b1  SUB f1",
    ]


def test_a_later_message_can_arrive_first() -> None:
    """Of those under way on a link, the oldest has number 1."""
    lines = traced(
        f"{SIMPLE}> s2 subscribes f1\n> s2 subscribes f2\n> message 2 of s2 -> b2 arrives\n> s2 -> b2 arrives\n"
    )
    assert lines[-3:] == ["b2 -> b1  SUB f2", "> s2 -> b2 arrives", "b2 -> b1  SUB f1"]


def test_a_message_can_get_lost_without_a_word() -> None:
    """Other than by a link that breaks, which the sender learns."""
    lost = traced(f"{SIMPLE}> s2 subscribes f1\n> s2 -> b2 is lost\n> s2 is cut off\n")
    assert lost[2:] == ["> s2 -> b2 is lost", "(nothing)", "> s2 is cut off", "(nothing)"]
    broken = traced(f"{SIMPLE}> s2 subscribes f1\n> s2 is cut off\n> s2 joins b2\n")
    assert broken[-1] == "s2 -> b2  SUB f1"


def test_the_setup_is_carried_out_as_usual() -> None:
    """Its messages arrive by themselves."""
    text = f"{SIMPLE}setup\n  s2 subscribes f1\n> p1 publishes e1\n> show table b1\n"
    assert traced(text)[-3:] == ["b1", "  Filter  Interface", "  f1      b2"]


def test_timers_run_out_in_their_order_by_command() -> None:
    """What was drawn for them says when they would have; the second one drawn least comes first."""
    text = f"{GOSSIP}> n2 draws 1\n> n1 publishes e1\n> n1 -> n2 arrives\n> n1 publishes e2\n> n1 -> n2 arrives\n"
    lines = traced(f"{text}> n2's timer runs out\n> n2's timer runs out\n> n2's timer runs out\n")
    assert lines[-6] == "> n2's timer runs out"
    assert [line.rpartition("=")[2] for line in lines[-5:] if "FLOOD" in line] == ["e1", "e2"]
    assert lines[-1] == "(nothing)"


def test_what_is_drawn_is_what_the_command_says() -> None:
    """The next event of the node draws it, and the one after that takes the least again."""
    chance = ScriptedChance()
    chance.script.extend([1, 1, 2])
    assert (chance.randrange(10), chance.random(), chance.choice("abc")) == (9, BELOW_ONE, "c")
    assert (chance.randint(3, 5), chance.random(), chance.choice("abc"), chance.uniform(1, 2)) == (3, 0.0, "a", 1)
    assert chance.ways == [2, 2, 3, 3, 2, 3, 2]
    chance.script.extend([2, 0, 0, 1])
    assert (chance.sample("abc", 3), chance.choices("ab", (0, 1), k=2)) == (["c", "a", "b"], ["b", "b"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{SIMPLE}> s2 -> b2 arrives\n", r"from node 2 to node 1: 0 messages are under way there, and number 1"),
        (f"{SIMPLE}> message 0 of s2 -> b2 arrives\n", r"hand.txt:7: messages are counted from 1"),
        (
            f"{SIMPLE.replace('by hand', '')}> s2 -> b2 arrives\n",
            r"hand.txt:7: this needs a line 'by hand' in the head",
        ),
        (f"{SIMPLE}setup\n  s2 -> b2 arrives\n> wait 1s\n", r"hand.txt:8: this needs a line 'by hand' in the head"),
        (SIMPLE.replace("by hand", "by foot") + "> wait 1s\n", r"hand.txt:2: unknown driver 'foot'"),
    ],
)
def test_an_impossible_manual_command_is_an_error(text: str, message: str) -> None:
    """With the line, as far as there is one to blame."""
    with pytest.raises(UserError, match=message):
        traced(text)
