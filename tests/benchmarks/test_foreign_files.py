"""Damaged files, bad values and want of room end in one message; benchmarks/foreign_files tries thousands."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from benchmarks.foreign_files.__main__ import main
from benchmarks.foreign_files.damage import damage
from benchmarks.foreign_files.judged import Tally, judge
from roambus.bridge.errors import UserError


@pytest.mark.usefixtures("session")
@pytest.mark.slow
def test_whatever_is_damaged_is_read_or_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """Also values that no option takes, and a process that can write no file: nothing is not as promised."""
    only = ["trace", "record", "ini", "sweep.json", "sweep file", "template", "setdest", "scenario"]
    assert main(["--files", "2", "--seed", "7", "--every", "80", "--sizes", "--only", *only]) == 0
    lines = [line.rsplit(maxsplit=4) for line in capsys.readouterr().out.splitlines() if line.endswith(" 0")]
    rows = [row for row in lines if all(number.isdigit() for number in row[1:])]
    assert {row[0] for row in rows} == {*only, "bad values"}
    assert all(int(row[1]) >= 2 for row in rows)


def test_damage_is_the_same_for_the_same_seed() -> None:
    """And changes what it is given."""
    content = bytes(range(256)) * 4
    damaged = [damage(content, Random(seed)) for seed in range(200)]
    assert damaged == [damage(content, Random(seed)) for seed in range(200)]
    assert sum(one != content for one in damaged) > 190


def test_faults_are_seen() -> None:
    """A call that raises anything but our own error is one, and so is a message that has a traceback in it."""

    def raising(error: Exception) -> None:
        raise error

    tally = Tally()
    judge(lambda: None, tally, "fine")
    judge(lambda: raising(UserError("mine.toml: no such key")), tally, "refused")
    for error in (KeyError("x"), UserError(""), UserError("Traceback (most recent call last)"), MemoryError()):
        judge(lambda error=error: raising(error), tally, "fault")  # type: ignore[misc]  # mypy knows no such lambda
    assert (tally.outcomes["worked"], tally.outcomes["refused"], len(tally.faults)) == (1, 1, 4)
    assert Path(__file__).name in " ".join(tally.faults)
