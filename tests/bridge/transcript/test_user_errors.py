"""What a user does wrong is told in one line, with file, line, and what to do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from roambus.bridge.system.errors import UserError
from roambus.bridge.transcript.document import parse_document
from roambus.bridge.transcript.transcript import Overrides, transcribe
from tests.bridge.transcript.conftest import HEAD

COMMANDS = {
    "s3 sings": "'s3 sings' is not a command; write one such as",
    "": "'' is not a command",
    "s4 subscribes f1": "unknown node 's4': there is b1, b2, b3, p1, s2, s3, s9",
    "b1 subscribes f1": "b1 is a broker; a subscriber on its node is drawn as b1/s1",
    "s3 subscribes topic": "'topic' is not a constraint such as topic = 'news'",
    "p1 publishes topic": "'topic' is neither a name such as e1 nor an attribute such as topic = 1",
    "p1 publishes a = 1, a = 2": "attribute a is given twice",
    "p1 publishes a = b": "'b' is neither a number nor a text in single quotes",
    "b3 moves to s3": "s3 is not a broker, so nothing can connect to it",
    "b3 moves to b4": "unknown node 'b4'",
    "b3 moves to b1": "b3 already is connected to b1",
    "b1 is cut off": "b1 already is cut off",
    "b1 joins b3": "b1 cannot connect to b3, which is below it: that makes a cycle",
    "b3 joins b2": "b3 is connected to b1; write 'moves to' instead of 'joins'",
    "b2 moves to b3; b3 moves to b2": "b3 cannot connect to b2, which is below it",
    "link b1-b3 down": "the tree determines the links; write 'b3 moves to b2'",
    "s3 detaches; s3 detaches": "s3 is away already",
    "s3 attaches": "s3 is not away; write 's3 detaches' before",
    "s3 detaches; after 100ms s3 attaches": "s3 has not left yet; wait more than 100ms after it detaches",
    "s3 detaches; after 1s s3 attaches to p1": "p1 is not a broker, so nothing can connect to it",
    "s2 detaches; after 1s s2 attaches to b1": "s2 is on a broker's node, which keeps its place; write 's2 attaches'",
    "s3 detaches; s3 moves to b2": "s3 is away; write 's3 attaches to b1'",
    "b3 detaches": "b3 is a broker",
    "b3 recovers": "b3 cannot recover: it is up",
    "b3 freezes; b3 freezes": "b3 cannot freeze: it is frozen",
    "b3 crashes; after 1ms b3 crashes": "b3 cannot crash: it has crashed",
    "p1 freezes; p1 publishes e1": "p1 is down, so it cannot publish",
    "wait long": "'long' is not a time such as 1.5s",
    "after soon b3 is cut off": "'soon' is not a time such as 1.5s",
    "show tabel": "unknown listing 'tabel': did you mean 'table'?",
    "wait 1s; start": "'start' can only be the first command",
}


@pytest.mark.parametrize("command", COMMANDS)
def test_commands(write: Callable[[str], Path], command: str) -> None:
    """A wrong command is named with its line."""
    path = write(f"{HEAD}# A comment.\n> wait 1s\n> {command}\n")
    refuse(path, 9, COMMANDS[command])


FIELD_COMMANDS = {
    "link n1-n2 down": "places determine the links; write 'n1 moves to 20,5'",
    "n1 is cut off": "there is no tree, but a field; write 'n1 moves to 20,5'",
    "n1 joins n2": "there is no tree, but a field; write 'n1 moves to 20,5'",
    "n1 moves to n2": "'n2' is not a place such as 20,7.5 (metres)",
}


@pytest.mark.parametrize("command", FIELD_COMMANDS)
def test_commands_on_a_field(write: Callable[[str], Path], command: str) -> None:
    """There nodes move, and links follow."""
    path = write(f"agent flooding\nfield\n  n1 at 0,0\n  n2 at 9,9\n> {command}\n")
    refuse(path, 5, FIELD_COMMANDS[command])


HEAD_ERRORS = [
    ("agent flooding\nfield\n  n1 0,0\n", 3, "'' is not a place such as 20,7.5 (metres)"),
    ("agent flooding\nfield\n  n1 at 0,0\nlinks n2-n3\n", 5, "give a tree, or links, or a field"),
    ("agent flooding\nrange 3m\nlinks n2-n3\n", 2, "that needs a field; draw one, below a line 'field'"),
    ("agent flooding\nspeed 3m\n", 2, "'3m' is not a measure such as 30m/s"),
    ("agnet mft\n", 1, "unknown keyword 'agnet': did you mean 'agent'?"),
    ("  b1\n", 1, "only below tree, field or setup lines are indented"),
    ("tree\n  b1\n", 3, "no agent is named; write a line such as: agent mft"),
    ("agent mft\n", 2, "there is no network; draw a tree, or list links"),
    ("agent mft\nby foot\ntree\n  b1\n", 2, "unknown driver 'foot'"),
    ("agent mtf\ntree\n  b1\n", 1, "unknown agent 'mtf': did you mean 'mft'?"),
    ("agent mft limit\ntree\n  b1\n", 1, "'limit' is not a parameter such as storage_limit=100"),
    ("agent mft limit=3\ntree\n  b1\n", 1, "unknown parameter 'limit'"),
    ("agent mft storage_limit=x\ntree\n  b1\n", 1, "parameter storage_limit: "),
    ("agent mft\ntree\n  b1\n    x2\n", 4, "'x2' is not a name such as b1 (broker)"),
    ("agent mft\ntree\n  b1\n    b1\n", 4, "b1 occurs twice"),
    ("agent mft\ntree\n  b1\n    s2\n      b3\n", 5, "b3 is connected to s2, which is not a broker"),
    ("agent mft\ntree\n  s1/b1\n", 3, "s1/b1: write one node's broker first"),
    ("agent mft\ntree\n  b1/b2\n", 3, "b1/b2: write one node's broker first"),
    ("agent mft\ntree\n  b1\nclients b2@b1\n", 4, "b2 is a broker; draw it in the tree"),
    ("agent mft\ntree\n  b1\nclients s2@b2\n", 4, "unknown node 'b2': there is b1"),
    ("agent mft\ntree\n  b1\nlinks n1-n2\n", 5, "give a tree, or links, or a field: one of them"),
    ("agent aodv\nlinks n1-n1\n", 2, "'n1-n1' is not a link such as n1-n2"),
    ("agent aodv\nlinks n1\n", 2, "'n1' is not a link such as n1-n2"),
    ("agent aodv\ncomplete n3..n1\n", 2, "'n3..n1' counts down; write the lower number first"),
    ("agent aodv\ncomplete n1\n", 2, "'n1' does not name two nodes or more"),
    ("agent aodv\ncomplete n1 b1..n3\n", 2, "'b1..n3' is not a name such as b1"),
    ("seed -1\n", 1, "'-1' is not a seed such as 7"),
    ("delay 0s\n", 1, "0s is not a time greater than 0"),
    ("times 3\n", 1, "'times' stands alone"),
    ("agent mft\nagent flooding\n", 2, "'agent' stands in line 1 already"),
    ("seed 1\nslot 1s\nseed 2\n", 3, "'seed' stands in line 1 already"),
    ("slot 1s\nslot 1s\n", 2, "'slot' stands in line 1 already"),
    ("delay 1ms\ndelay 2ms\n", 2, "'delay' of all links stands in line 1 already"),
    ("filter f1 = 3\n", 1, "write it so: filter f1: topic = 1"),
    ("filter f1: a = 1\nfilter f1: a = 2\n", 2, "filter f1 is defined twice"),
    ("event e1: a = 1\nevent e1: a = 2\n", 2, "event e1 is defined twice"),
    ("agent mft\nhide BMGI\ntree\n  b1\n", 2, "unknown type of message or note 'BMGI': did you mean 'BMIG'?"),
    ("agent mft\ntree\n  b1\nsetup\n  s1 subscribes f1\n", 5, "unknown node 's1'"),
    ("agent mft\ntree\n  b1\nsetup\n  wait 1s\n  start\n", 6, "'start' can only be the first command"),
]


@pytest.mark.parametrize(("head", "line", "message"), HEAD_ERRORS)
def test_heads(write: Callable[[str], Path], head: str, line: int, message: str) -> None:
    """A wrong line of the head is named; what is missing is named where the commands begin."""
    refuse(write(f"{head}> wait 1s\n"), line, message)


def test_a_file_without_commands_is_refused(write: Callable[[str], Path]) -> None:
    """With an example of one."""
    refuse(write(HEAD), 6, "there is no command; write one such as > s1 subscribes f1")


def test_a_command_without_its_prompt_is_refused(write: Callable[[str], Path]) -> None:
    """It would be taken for an output, and vanish."""
    refuse(
        write(f"{HEAD}> s3 subscribes f1\ns3 subscribes f2\n"), 8, "'s3 subscribes f2' is not output; write > before"
    )


def test_a_setting_after_the_first_command_is_refused(write: Callable[[str], Path]) -> None:
    """It would be taken for an output, and vanish."""
    refuse(write(f"{HEAD}> s3 subscribes f1\nseed 4\n"), 8, "'seed 4' is a setting: write it before the first command")


def test_what_is_no_text_is_refused(write: Callable[[str], Path]) -> None:
    """Such as a picture."""
    path = write("")
    path.write_bytes(b"\x89PNG\xff")
    with pytest.raises(UserError, match="this is not UTF-8 text"):
        transcribe(path)


def test_moves_without_a_tree_are_refused(write: Callable[[str], Path]) -> None:
    """With what to write instead."""
    refuse(
        write("agent aodv\nlinks n1-n2\n> n1 is cut off\n"), 3, "there is no tree to move in; write 'link n1-n2 down'"
    )


def test_a_return_to_a_broker_without_a_tree_is_refused(write: Callable[[str], Path]) -> None:
    """There are no places."""
    path = write("agent aodv\nlinks n1-n2\n> n1 detaches\n> n1 attaches to n2\n")
    refuse(path, 4, "there is no tree to return to; write 'n1 attaches'")


def test_another_agents_parameters_are_checked(write: Callable[[str], Path]) -> None:
    """Those of the command line belong to the agent that runs."""
    with pytest.raises(UserError, match="unknown parameter 'replay_bytes'"):
        transcribe(write(f"{HEAD}> wait 1s\n"), Overrides("flooding", {"replay_bytes": "1"}))


def refuse(path: Path, line: int, message: str) -> None:
    """One line, with the file and the number of a line."""
    with pytest.raises(UserError) as raised:
        transcribe(path)
    assert str(raised.value).startswith(f"{path}:{line}: ")
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_half_a_character_is_reported_with_its_line() -> None:
    """No file has one, but what is asked of a page, or built by a program, can."""
    with pytest.raises(UserError, match=r"line.txt:4: '\\ud800' in .* is half a character"):
        parse_document(Path("line.txt"), "agent flooding\nlinks n1-n2\n\n> n1 subscribes topic = '\ud800'\n")
