"""A hunt as a real process."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from tests.roambus.test_processes import session_processes, start, until


def test_a_hunt_of_which_a_process_is_killed_says_so(tmp_path: Path) -> None:
    """As the system does where memory is short: one message, no traceback, and nothing goes on running."""
    (tmp_path / "hunt.txt").write_text("agent flooding\ngraphs 5..9\nmay 2 publications of e1\nmust nothing twice\n")
    running = start(tmp_path, "explore", "hunt.txt", "--hunt", "60")
    until(lambda: len(session_processes(running.pid)) == 2)  # it, and the one that hunts
    os.kill(max(session_processes(running.pid)), signal.SIGKILL)
    _, said = running.communicate(timeout=30)
    assert said.endswith("error: a process of the hunt was ended by the signal SIGKILL: hunt again\n")
    assert "Traceback" not in said
    assert session_processes(running.pid) == []
