"""Agents that move their nodes in a transcript, and commands that move nodes as agents do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from roambus.bridge.system.errors import RoambusError
from roambus.bridge.transcript.transcript import transcribe

AGENT = """\
from roambus import Agent, Arrived, Started, on

class Patrol(Agent):
    @on(Started)
    def start(self, event, now):
        self.go_to(20, 0, speed=10)

    @on(Arrived)
    def turn(self, event, now):
        self.go_to(20 - event.x, 0, speed=10) if now < 3_000_000_000 else self.halt()
"""
FIELD = "agent patrol.py\nfield\n  n1 at 0,0\n  n2 at 20,5\n"

Write = Callable[[str], Path]


@pytest.fixture
def patrol(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "patrol.py").write_text(AGENT)
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("patrol")
def test_a_transcript_shows_where_agents_go(write: Write) -> None:
    """Each movement that an agent asks for, and each arrival."""
    text = transcribe(write(FIELD.replace("20,5", "0,20") + "slot 5s\n\n> start\n"))
    assert text.partition("> start\n")[2].splitlines() == [
        "n1 goes to 20,0 at 10 m/s",
        "n2 goes to 20,0 at 10 m/s",
        "n1 arrives at 20,0",
        "n1 goes to 0,0 at 10 m/s",
        "n2 arrives at 20,0",
        "n2 goes to 0,0 at 10 m/s",
        "n1 arrives at 0,0",
        "n1 stops",
        "n2 arrives at 0,0",
        "n2 stops",
    ]


@pytest.mark.usefixtures("patrol")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "agent patrol.py\nlinks n1-n2\n\n> wait 1s\n",
            "its agent does not move: set .*; in a transcript: draw a field",
        ),
        ("agent flooding\nlinks n1-n2\n\n> n1 halts\n", "mine.txt:4: n1 has no field to go on; draw one, below a line"),
        (FIELD + "\n> n1 goes to 3,4\n", "mine.txt:6: 'n1 goes to 3,4' is not a command"),
        (FIELD + "\n> n1 goes to 3,4 at 0\n", "mine.txt:6: '0m/s' is not a measure such as 30m/s"),
        (FIELD + "\n> n1 goes to 3 at 4\n", "mine.txt:6: '3' is not a place such as 20,7.5"),
        (FIELD + "\n> n1 goes to 3,4 at 5\n> n1 moves to 2,2\n", "mine.txt:7: n1 moves by 'moves to' and by its agent"),
        (FIELD + "\n> n1 moves to 3,4\n> n1 halts\n", "mine.txt:7: n1 moves by 'moves to' and by its agent"),
        (FIELD + "by hand\n\n> start\n", "n1|node 0 moves, and by hand nodes stay at their places"),
    ],
)
def test_a_movement_that_cannot_be_is_refused_with_its_place(write: Write, text: str, message: str) -> None:
    """The line of the transcript, or that of the agent."""
    with pytest.raises(RoambusError, match=message):
        transcribe(write(text))
