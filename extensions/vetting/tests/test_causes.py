"""The cause of another trace follows from the one change that makes it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from roambus.extensions.vetting.causes import (
    ADDRESSES,
    CHANCE,
    EARLIER_RUNS,
    HASHES,
    Cause,
    addresses,
    set_orders,
    time_or_chance,
)
from roambus.extensions.vetting.examination import cause_of, vet
from roambus.extensions.vetting.scenes import SCENES, Job

HEAD = """\
import time
from roambus import *

SEEN = []


class Thing:
    def __init__(self, name):
        self.name = name


class A(Agent):
    @on(Started)
    def start(self, event, now):
        things = {Thing(str(number)) for number in range(20)}
        texts = {str(number) for number in range(20)}
        SEEN.append(now)
        self.note("mine", detail=str("""

WRONG = [
    ("[thing.name for thing in sorted(things, key=id)]", ADDRESSES),
    ("[thing.name for thing in things]", ADDRESSES),
    ("list(texts)", HASHES),
    ("hash('x')", HASHES),
    ("time.time_ns()", CHANCE),
    ("len(SEEN)", EARLIER_RUNS),
]


def agent(folder: Path, value: str) -> str:
    """The file of an agent that notes this."""
    file = folder / "mine.py"
    file.write_text(f"{HEAD}{value}))\n", encoding="utf-8")
    return str(file)


@pytest.mark.slow
@pytest.mark.parametrize(("value", "cause"), WRONG)
def test_the_cause_is_the_one_change_that_makes_another_trace(value: str, cause: Cause, tmp_path: Path) -> None:
    """Nothing, the addresses, the hash seed, or the runs before: each alone."""
    job = Job(agent(tmp_path, value), "", tmp_path / "first")
    job.folder.mkdir()
    assert cause_of(job, SCENES[0]) is cause


@pytest.mark.slow
def test_the_finding_has_the_cause_and_its_lines(tmp_path: Path) -> None:
    """Of an order by address, the line of the order, and none of time."""
    (found,) = vet(agent(tmp_path, "[thing.name for thing in things]"))
    assert found.check == "repeatable"
    assert "other addresses of objects alone make a difference" in found.problem
    assert found.place == "mine.py:18"


@pytest.mark.slow
def test_what_earlier_runs_left_is_shared_memory(tmp_path: Path) -> None:
    """The nodes of one run share it, too, and that is what is told."""
    (found,) = vet(agent(tmp_path, "len(SEEN)"))
    assert found.check == "shared memory"
    assert found.place == "mine.py:4"


@pytest.mark.parametrize(
    ("code", "is_found"),
    [
        ("for one in {1, 2}: pass", True),
        ("[one for one in set(x)]", True),
        ("self.seen = set()\nfor one in self.seen: pass", True),
        ("seen: set[str] = set()\nlist(seen)", True),
        ("seen = frozenset(x)\nself.random.choice(tuple(seen))", True),
        ("seen = set()\nseen.pop()", True),
        ("seen = set()\nfor one in sorted(seen): pass", False),
        ("seen = {}\nfor one in seen: pass", False),
        ("seen: set[str]\nlist(other)", False),
        ("seen = set()\nlen(seen)", False),
    ],
)
def test_lines_that_take_the_order_of_a_set(code: str, is_found: bool) -> None:
    """Through a variable or an attribute, too."""
    assert bool([*set_orders(ast.parse(code))]) is is_found


def test_lines_of_addresses_and_of_time() -> None:
    """A generator with a seed of its own depends on nothing else."""
    calls = {name: ast.parse(f"{name}()", mode="eval").body for name in ("id", "hash", "time.time", "random.Random")}
    assert [name for name, call in calls.items() if [*addresses(call)]] == ["id", "hash"]
    assert [name for name, call in calls.items() if [*time_or_chance(call)]] == ["time.time"]
