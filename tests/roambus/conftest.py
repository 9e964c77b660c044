"""A user's folder, for the tests of the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

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


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The user's folder, with an agent and a sweep."""
    write_agent(tmp_path, "mine", "pass")
    (tmp_path / "mine.toml").write_text(SWEEP)
    return tmp_path
