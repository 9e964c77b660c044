"""The processes of a run use the cores that there are."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from roambus.bridge.system.process import cores


def test_a_system_without_affinity_counts_its_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """As macOS; one whose number nobody knows has one."""
    assert cores() == len(os.sched_getaffinity(0))
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 6)
    assert cores() == 6
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert cores() == 1


HOMELESS = """
import os, pwd

def unknown(user):
    raise KeyError(user)

os.environ.pop("HOME", None)
pwd.getpwuid = unknown
import roambus.bridge.system.process
print(os.path.expanduser("~/.cache"))
"""


def test_a_user_without_a_home_gets_no_folder_of_that_name() -> None:
    """Without HOME and a line in /etc/passwd libraries would make one called ~ in the working folder."""
    done = subprocess.run([sys.executable, "-c", HOMELESS], capture_output=True, text=True, check=True)
    assert done.stdout == "/dev/null/.cache\n"
