"""`roambus explore --keep` as a real process that is killed."""

import json
import os
import signal
from pathlib import Path

import pytest

from roambus.experiments.exploring.parallel import Request, explore_all
from tests.roambus.test_processes import start, until

QUESTION = """agent flooding
links n1-n2 n2-n3 n1-n3
setup
  n3 subscribes f1
may 2 times n1 publishes e1
may n2 publishes e1
must nothing twice
"""


@pytest.mark.slow
def test_a_search_killed_at_any_moment_resumes(tmp_path: Path) -> None:
    """Some steps deep it gets SIGKILL; the same command finds what a search without an end finds."""
    (tmp_path / "line.txt").write_text(QUESTION)
    running = start(tmp_path, "explore", "line.txt", "--keep", "kept")
    until(lambda: kept(tmp_path) >= 3)
    os.kill(running.pid, signal.SIGKILL)
    running.communicate(timeout=40)
    before = kept(tmp_path)
    resumed, _ = start(tmp_path, "explore", "line.txt", "--keep", "kept").communicate(timeout=60)
    (whole,) = explore_all(Request(tmp_path / "line.txt"), 1)
    assert running.returncode == -signal.SIGKILL
    assert 3 <= before < kept(tmp_path)
    assert resumed.startswith(f"line: {whole.states} states, {whole.transitions} transitions, depth {whole.depth}\n")
    assert "\n  all states were explored" in resumed


def kept(folder: Path) -> int:
    """How often the search was kept."""
    path = folder / "kept" / "line" / "kept.json"
    return int(json.loads(path.read_text())["kept"]) if path.exists() else 0
