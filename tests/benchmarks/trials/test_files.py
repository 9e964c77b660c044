"""Damaged files end in one message; `benchmarks.trials files` tries thousands."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from benchmarks.trials.__main__ import main
from benchmarks.trials.damage import damage
from benchmarks.trials.files import judge
from roambus.bridge.system.errors import UserError


@pytest.mark.usefixtures("session")
@pytest.mark.slow
def test_whatever_is_damaged_is_read_or_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is read wrongly or ends in a traceback."""
    subjects = ["trace", "record", "ini", "sweep.json", "sweep file", "template", "setdest", "scenario"]
    assert main(["files", "--trials", "2", "--seed", "7", "--subject", *subjects]) == 0
    rows = [[cell.strip() for cell in line.split("|")] for line in capsys.readouterr().out.splitlines() if "|" in line]
    assert {row[1] for row in rows[2:]} == set(subjects)
    tried = {subject: sum(int(row[3]) for row in rows[2:] if row[1] == subject) for subject in subjects}
    assert min(tried.values()) >= 2


def test_damage_is_the_same_for_the_same_seed() -> None:
    """And changes what it is given."""
    content = bytes(range(256)) * 4
    damaged = [damage(content, Random(seed)) for seed in range(200)]
    assert damaged == [damage(content, Random(seed)) for seed in range(200)]
    assert sum(copy != content for copy in damaged) > 190


def test_faults_are_seen() -> None:
    """A call that raises anything but our own error is one, and so is a message that has a traceback in it."""

    def raising(error: Exception) -> None:
        raise error

    assert judge(lambda: None) == ("worked", [])
    assert judge(lambda: raising(UserError("mine.toml: no such key"))) == ("refused", [])
    faults = []
    for error in (KeyError("x"), UserError(""), UserError("Traceback (most recent call last)"), MemoryError()):
        _, complaints = judge(lambda error=error: raising(error))  # type: ignore[misc]  # mypy knows no such lambda
        assert len(complaints) == 1
        faults += complaints
    assert Path(__file__).name in " ".join(faults)
