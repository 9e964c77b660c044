"""Private folders are gone once whoever made them is; what is not ours stays."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from roambus.bridge.system.private_folder import (
    BEING_MADE_S,
    BRIDGE,
    LONGEST_TEMPORARY,
    SPARK,
    private_folder,
    remove_abandoned,
)

KILLED = """
import os, signal, sys
from pathlib import Path
from roambus.bridge.system.private_folder import SPARK, private_folder
with private_folder(SPARK, Path(sys.argv[1])) as folder:
    (folder / "something").mkdir()
    os.kill(os.getpid(), signal.SIGKILL)
"""

INTERRUPTED = """
import gc, signal, sys
from itertools import count
from pathlib import Path
from roambus.bridge.system import interrupts, private_folder

def interrupt(frame, event, _):
    global left
    if frame.f_code.co_filename in (interrupts.__file__, private_folder.__file__):
        frame.f_trace_opcodes = True
        left -= event == "opcode"
        if event == "opcode" and left == 0:
            signal.raise_signal(signal.SIGINT)
        return interrupt

for number in count(1):
    left = number
    try:
        sys.settrace(interrupt)
        with private_folder.private_folder(private_folder.BRIDGE, Path(sys.argv[1])) as folder:
            (folder / "file").touch()
        sys.settrace(None)
        break
    except KeyboardInterrupt:
        sys.settrace(None)
        if list(Path(sys.argv[1]).iterdir()):
            gc.collect()  # it came while the block was entered or left, and its generator is not ended yet
    assert not list(Path(sys.argv[1]).iterdir()), number
print(number)
"""


def test_only_the_user_can_enter_it_and_it_is_gone_afterwards(tmp_path: Path) -> None:
    """With all that is in it."""
    with private_folder(BRIDGE, tmp_path) as folder:
        assert folder.parent == tmp_path
        assert folder.name.startswith("roambus-bridge-")
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        (folder / "file").touch()
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_at_any_instruction_leaves_nothing(tmp_path: Path) -> None:
    """Neither while it is made, nor while it is removed."""
    command = [sys.executable, "-c", INTERRUPTED, str(tmp_path)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "AssertionError" not in ended.stderr
    assert int(ended.stdout) > 100
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_left_is_removed_by_the_next(tmp_path: Path) -> None:
    """At once; the folder of one that lives stays."""
    with private_folder(BRIDGE, tmp_path) as living:
        killed = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False)
        assert killed.returncode == -9
        assert len(list(tmp_path.iterdir())) == 2
        remove_abandoned(tmp_path)
        assert list(tmp_path.iterdir()) == [living]


@pytest.mark.parametrize(
    "name", ["roambus-spark-results", "roambus-results", "roambus-other-a1b2c3d4", "spark-a1b2c3d4"]
)
def test_a_folder_with_another_name_stays(name: str, tmp_path: Path) -> None:
    """It may be the user's own."""
    (tmp_path / name).mkdir(mode=0o700)
    with private_folder(SPARK, tmp_path):
        pass
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_what_others_may_enter_is_none_of_ours(tmp_path: Path) -> None:
    """Nor is a file, or what a link leads to."""
    (tmp_path / "roambus-spark-a1b2c3d4").mkdir(mode=0o755)
    (tmp_path / "roambus-spark-a1b2c3d5").touch()
    (tmp_path / "own").mkdir(mode=0o700)
    (tmp_path / "roambus-spark-a1b2c3d6").symlink_to(tmp_path / "own")
    remove_abandoned(tmp_path)
    assert len(list(tmp_path.iterdir())) == 4


def test_a_folder_that_is_just_being_made_stays(tmp_path: Path) -> None:
    """It is not locked yet; left for long, it is removed like any other."""
    young, old = tmp_path / "new-roambus-spark-a1b2c3d4", tmp_path / "new-roambus-spark-a1b2c3d5"
    for folder in (young, old):
        folder.mkdir(mode=0o700)
    long_ago = time.time() - 2 * BEING_MADE_S
    os.utime(old, (long_ago, long_ago))
    remove_abandoned(tmp_path)
    assert list(tmp_path.iterdir()) == [young]


def test_a_folder_of_sockets_has_a_short_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A temporary folder of the user's own can be too deep to bind a socket below it; other folders stay there."""
    deep = tmp_path / ("d" * LONGEST_TEMPORARY)
    deep.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(deep))
    with private_folder(BRIDGE) as folder, socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(folder / "socket"))
    with private_folder(SPARK) as folder:
        assert folder.parent == deep
