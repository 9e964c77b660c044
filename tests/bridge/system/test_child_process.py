"""A run's process can be told to end at any time, also while it is being forked."""

import subprocess
import sys

import pytest

FORKING = """
import os, signal, time
from roambus.bridge.system.interrupts import termination_interrupts
from roambus.bridge.system.child_process import run_in_child

def told_to_end():
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(0)  # Python calls handlers between two of its instructions

os.register_at_fork({when}=told_to_end)
try:
    with termination_interrupts():
        run_in_child(lambda: time.sleep(60))
except KeyboardInterrupt:
    print("interrupted")
try:
    os.wait()
except ChildProcessError:
    print("and nothing is left")
"""


@pytest.mark.parametrize("when", ["before", "after_in_parent", "after_in_child"])
def test_a_process_that_is_asked_to_end_while_it_forks_does(when: str) -> None:
    """Parent or child: the interruption is raised once, nothing is printed, and the child ends and is waited for."""
    done = subprocess.run(
        [sys.executable, "-c", FORKING.format(when=when)], capture_output=True, text=True, timeout=30, check=True
    )
    assert done.stdout == "interrupted\nand nothing is left\n"
    assert not done.stderr
