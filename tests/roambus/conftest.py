"""A user's folder, for the tests of the command line."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from roambus.command_line import main
from tests.support.agents import write_agent

SWEEP = """\
template = "field"
seeds = 3
[set]
time_limit = 3
[axes]
nodes = [2, 4]
[agents]
mine = { use = "mine.py" }
"""


@dataclass(frozen=True)
class Done:
    """What became of a command."""

    code: int
    out: str
    err: str


Roambus = Callable[..., Done]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The user's folder, with an agent and a sweep."""
    write_agent(tmp_path, "mine", "pass")
    (tmp_path / "mine.toml").write_text(SWEEP)
    return tmp_path


@pytest.fixture
def roambus(folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Roambus:
    """The command line in this process, called in the user's folder."""
    monkeypatch.chdir(folder)

    def call(*arguments: str) -> Done:
        monkeypatch.setattr(sys, "argv", ["roambus", *arguments])
        with pytest.raises(SystemExit) as exit_:
            main()
        captured = capfd.readouterr()
        return Done(int(exit_.value.code or 0), captured.out, captured.err)

    return call
