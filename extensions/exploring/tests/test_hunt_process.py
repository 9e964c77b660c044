"""A hunt as a real process."""

from __future__ import annotations

import os
import re
import signal
import time
from pathlib import Path

import pytest

from tests.roambus.test_processes import session_processes, start, until


@pytest.mark.parametrize(
    ("number", "code", "said"),
    [
        (signal.SIGKILL, 5, r"not decided: the process of the hunt was ended by the signal SIGKILL, in the history of"),
        (signal.SIGTERM, 130, "not decided: nothing wrong was found, which proves nothing, the hunt was interrupted"),
    ],
)
def test_a_hunt_that_is_ended_tells_what_it_did(tmp_path: Path, number: int, code: int, said: str) -> None:
    """The system kills the process that hunts where memory is short; the other signal is for the command."""
    (tmp_path / "hunt.txt").write_text("agent flooding\ngraphs 5..9\nmay 2 publications of e1\nmust nothing twice\n")
    running = start(tmp_path, "explore", "hunt.txt", "--hunt", "60")
    until(lambda: len(session_processes(running.pid)) == 2)  # it, and the one that hunts
    time.sleep(1)
    os.kill(running.pid if number == signal.SIGTERM else max(session_processes(running.pid)), number)
    told, errors = running.communicate(timeout=30)
    assert running.returncode == code
    histories, last = map(int, re.findall(r"hunt: (\d+) histories in \d+ s, seeds 0\.\.(\d+)\n", told)[0])
    assert histories == last + 1 > 0
    assert re.search(f"  {said}", told)
    assert "Traceback" not in errors
    assert session_processes(running.pid) == []


def test_a_hunt_that_is_killed_tells_what_it_found(tmp_path: Path) -> None:
    """The violation stays, with its whole history."""
    (tmp_path / "kills.py").write_text(
        "import os, signal\nfrom roambus import Agent, Publish, on\n\n\nclass A(Agent):\n    @on(Publish)\n"
        "    def publish(self, event, now):\n        if os.path.exists('met'):\n"
        "            os.kill(os.getpid(), signal.SIGKILL)\n        open('met', 'w').close()\n"
        "        self.deliver(event.notification)\n        raise ValueError('wrong')\n"
    )
    (tmp_path / "hunt.txt").write_text("agent kills.py\nlinks n1-n2\nmay 2 publications of e1\nmust nothing twice\n")
    running = start(tmp_path, "explore", "hunt.txt", "--hunt", "20")
    told, _ = running.communicate(timeout=60)
    assert running.returncode == 1
    assert "agents raise no errors: does not hold: " in told
    assert re.search(r"# .* --hunt, in the history of seed \d+; nothing was made smaller", told)
    assert "> n1 publishes e1" in told or "> n2 publishes e1" in told
