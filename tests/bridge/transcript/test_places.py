"""Places of nodes whose links are given."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from roambus.bridge.system.errors import UserError
from roambus.bridge.transcript.transcript import transcribe

AGENT = """\
from roambus import Agent, Subscribe, on


class Located(Agent):
    needs_position = True

    @on(Subscribe)
    def show(self, event, now):
        self.note("drop", detail=f"{self.position}")
"""


def transcript(folder: Path, commands: str) -> str:
    """What follows the commands, with two linked nodes."""
    (folder / "located.py").write_text(AGENT)
    path = folder / "mine.txt"
    path.write_text(f"agent {folder}/located.py\nlinks n1-n2\n" + dedent(commands))
    return transcribe(path)


def test_a_node_is_where_it_was_put_last(tmp_path: Path) -> None:
    """The first place holds from the start, a later one from then on."""
    text = transcript(
        tmp_path,
        """\
        setup
          n1 is at 40 20
          n2 is at 60,20
        > n1 subscribes price = 1
        > n1 is at 50 20
        > n1 subscribes price = 2
        """,
    )
    seen = [line for line in text.splitlines() if "drops" in line]
    assert seen == ["n1 drops  ((40.0, 20.0))", "n1 drops  ((50.0, 20.0))"]


def test_a_node_without_a_place_is_named(tmp_path: Path) -> None:
    """With the command that gives it one."""
    with pytest.raises(UserError, match=r"node 1 has no place of its own: .*in a transcript: n1 is at 40,20"):
        transcript(tmp_path, "setup\n  n1 is at 40 20\n> n1 subscribes price = 1\n")


def test_a_place_on_a_field_is_refused(tmp_path: Path) -> None:
    """There nodes walk."""
    path = tmp_path / "mine.txt"
    path.write_text("agent flooding\nfield\n  n1 at 0,0\n  n2 at 20,0\n\n> n1 is at 40 20\n")
    with pytest.raises(UserError, match=r"mine\.txt:6: places determine the links; write 'n1 moves to 20,5'"):
        transcribe(path)
