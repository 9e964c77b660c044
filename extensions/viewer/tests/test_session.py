"""A session is a transcript that grows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from roambus.bridge.system.errors import UserError
from roambus.bridge.transcript.transcript import Overrides, transcribe
from roambus.extensions.viewer.play import LaterCommandsError, Player, Session

HEAD = """\
agent mft
tree
  b1
    b2
    b3
clients s3@b3 p2@b2
setup
  s3 subscribes f1
"""


@pytest.fixture
def session(tmp_path: Path) -> Session:
    """Nothing has been done yet."""
    path = tmp_path / "moves.txt"
    path.write_text(HEAD)
    return Session(path, Overrides())


def commands(session: Session) -> list[str]:
    return [line for line in session.transcript().splitlines() if line.startswith(">")]


def test_what_was_done_is_a_transcript_that_runs(session: Session, tmp_path: Path) -> None:
    """Each thing at its time, with what follows; saved, it is what `roambus trace` writes."""
    session.do(5, "b3 is cut off")
    session.do(5.25, "p2 publishes e1")
    session.do(8.001, "b3 joins b2")
    text = session.transcript()
    assert text.startswith(HEAD)
    assert commands(session) == [
        "> after 4s b3 is cut off",
        "> after 250ms p2 publishes e1",
        "> after 2.751s b3 joins b2",
    ]
    assert text.endswith("b1 replays e1 for s3\nb1 -> b2  REP s3 [e1] hops=1\n"
                         "b2 -> b3  REP s3 [e1] hops=2\nb3 -> s3  REP s3 [e1] hops=3\ns3 delivers e1\n")  # fmt: skip
    saved = tmp_path / "saved.txt"
    saved.write_text(text)
    assert transcribe(saved) == text


def test_the_film_has_the_names_of_the_transcript(session: Session) -> None:
    """Of nodes, notifications and in messages; and it goes on for as long as it has lasted."""
    session.do(5, "p2 publishes e1")
    header = session.film.header
    assert header["names"] == ["b1", "b2", "b3", "p2", "s3"]
    assert header["notifications"] == ["e1"]
    assert "PUB e1 hops=1" in header["texts"]
    assert 10 <= header["end"] <= 12


def test_what_is_done_takes_the_place_of_what_came_after(session: Session) -> None:
    """If that is wanted; taken back, it gives that back, as if it had never been done."""
    session.do(5, "b3 is cut off")
    session.do(9, "b3 joins b2")
    before = session.transcript()
    with pytest.raises(LaterCommandsError, match="replace later commands: after 4s b3 joins b2"):
        session.do(7, "b2 crashes")
    assert session.transcript() == before
    session.do(7, "b2 crashes", drop=True)
    assert commands(session) == ["> after 4s b3 is cut off", "> after 2s b2 crashes"]
    session.undo()
    assert session.transcript() == before
    assert commands(session) == ["> after 4s b3 is cut off", "> after 4s b3 joins b2"]
    session.undo()
    session.undo()
    with pytest.raises(UserError, match="there is no command to undo"):
        session.undo()


def test_the_files_own_commands_can_be_taken_back(tmp_path: Path) -> None:
    """The last first, after all that was done."""
    path = tmp_path / "moves.txt"
    path.write_text(HEAD + "> b3 is cut off\n> after 2s b3 joins b2\n")
    session = Session(path, Overrides())
    session.do(9, "p2 publishes e1")
    session.undo()
    assert commands(session) == ["> b3 is cut off", "> after 2s b3 joins b2"]
    session.undo()
    assert commands(session) == ["> b3 is cut off"]


@pytest.mark.parametrize(
    ("at", "command", "message"),
    [
        (5, "b3 joins b2", "b3 is connected to b1; write 'moves to' instead of 'joins'"),
        (5, "b9 crashes", "b9"),
        (5, "", "write one command, such as b1 crashes"),
        (5, "b3 crashes\n> b2 crashes", "write one command"),
        (float("nan"), "b3 crashes", "is not a time of a session"),
        (-1, "b3 crashes", "is not a time of a session"),
        (0.5, "b3 crashes", "until 1s the setup of the file runs"),
    ],
)
def test_what_cannot_be_done_changes_nothing(session: Session, at: float, command: str, message: str) -> None:
    """The message says what to do instead."""
    session.do(2, "s3 unsubscribes f1")
    before = session.transcript()
    with pytest.raises(UserError, match=message):
        session.do(at, command)
    assert session.transcript() == before


def test_another_agent_takes_the_files_place(tmp_path: Path) -> None:
    """With its parameters, and in what is saved."""
    path = tmp_path / "moves.txt"
    path.write_text(HEAD + "hide BMIG\n")
    session = Session(path, Overrides("phoenix", {"storage_limit": "5"}))
    session.do(3, "p2 publishes e1")
    assert session.transcript().startswith("agent phoenix storage_limit=5\ntree\n")
    assert "hide" not in session.transcript()


@pytest.mark.parametrize(
    "question", [None, [], "undo", {"at": 1}, {"at": "1", "do": "x"}, {"at": 1, "do": 2}, {"x": 1}]
)
def test_a_strange_question_has_an_error_for_an_answer(session: Session, question: Any) -> None:
    """Nothing else comes of it."""
    assert Player(session).answer(question) == {"error": "this page has no such request"}


def test_half_a_character_changes_nothing(session: Session) -> None:
    """The film could not be packed: the page is told so."""
    answer = Player(session).answer({"at": 3.0, "do": "s3 subscribes topic = '\ud800'"})
    assert "is half a character" in answer["error"]
    assert commands(session) == []


def test_a_session_hides_what_its_scenario_hides(tmp_path: Path) -> None:
    """The page is told, and a name that hides nothing is refused before there is a page."""
    path = tmp_path / "moves.txt"
    path.write_text(HEAD.replace("tree\n", "hide BEACON store\ntree\n"))
    message = "unknown type of message or note 'BEACON'"
    with pytest.raises(UserError, match=message):
        Session(path, Overrides())
    path.write_text(HEAD.replace("tree\n", "hide PUB store\ntree\n"))
    assert Session(path, Overrides()).film.header["live"]["hide"] == ["PUB", "store"]
    assert Session(path, Overrides(agent="flooding")).film.header["live"]["hide"] == []


def test_an_example_names_a_node_that_is_there(tmp_path: Path) -> None:
    """Whatever the network is like."""
    path = tmp_path / "line.txt"
    path.write_text("agent flooding\nlinks n1-n2\n")
    with pytest.raises(UserError, match="write one command, such as n1 crashes"):
        Session(path, Overrides()).do(5, " ")
