"""The programs in C++ that test the simulator's side without a host."""

import subprocess
from pathlib import Path

import pytest


def test_the_unit_tests_pass(unit_tests: Path) -> None:
    """Session file, phases, checks, instants and windows: tested in C++, without sockets."""
    ended = subprocess.run([unit_tests], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout


@pytest.mark.slow
def test_damaged_answers_of_a_host_are_accepted_or_rejected(fuzz_client: Path) -> None:
    """No crash, no misstep in memory, nothing accepted that is forbidden; the same answers every time."""
    ended = subprocess.run([fuzz_client, "20000"], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.startswith("20000 answers, ")
