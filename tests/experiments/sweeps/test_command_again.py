"""Two narrow sweeps into one folder ask for more than either has made, and one command makes the rest."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from roambus.bridge.runs.layout import SWEEP_FILE, TRACE_FILE
from roambus.experiments.sweeps.request_file import command_again
from tests.support.commands import call

NARROW = (
    "roambus sweep thesis --backend ideal --set agent=mft --set config={} --set speed={} --set time_limit=3 "
    "--set publish_until=2 --seeds 2 --out r"
)


@pytest.mark.slow
def test_the_line_of_what_is_missing_has_the_command_that_makes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Four of the eight runs of the two together; after it, nothing is missing."""
    monkeypatch.chdir(tmp_path)
    assert call(NARROW.format("C2", 2), monkeypatch) == 0
    assert call(NARROW.format("C4", 8), monkeypatch) == 0
    capsys.readouterr()
    assert call("roambus aggregate r", monkeypatch) == 1
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "missing" in line]
    assert "r: 4 runs are missing" in line
    command = command_again(Path("r"))
    assert f": {command} adds what is missing" in line
    before = {path: path.stat().st_mtime_ns for path in Path("r").rglob(TRACE_FILE)}
    assert call(command, monkeypatch) == 0
    after = {path: path.stat().st_mtime_ns for path in Path("r").rglob(TRACE_FILE)}
    assert len(after) == 8
    assert before.items() <= after.items()
    assert call("roambus aggregate r", monkeypatch) == 0


@pytest.mark.parametrize(
    ("agents", "text"),
    [
        ({"mft": ["mft", {}], "aodv": ["aodv", {"profile": "thesis"}]}, "mft,aodv"),
        ({"mine": ["./mine.py", {"rate": "2"}]}, "./mine.py"),
        ({"Mine": ["package.module:Mine", {}]}, "package.module:Mine"),
    ],
)
def test_agents_are_named_as_the_command_line_takes_them(agents: object, text: str, tmp_path: Path) -> None:
    """What a label of the sweep's file stands for is not said again."""
    asked = {"study": "thesis", "sweep": "thesis", "template": "thesis.ini.j2", "set": {"time_limit": 700}}
    whole = {**asked, "axes": {"config": ["C2", "C4"]}, "agents": agents, "seeds": [0, 1]}
    (tmp_path / SWEEP_FILE).write_text(json.dumps(whole))
    start = ["roambus", "sweep", "thesis", "--set", "config=C2,C4", "--set", "time_limit=700"]
    assert shlex.split(command_again(tmp_path)) == [*start, "--agents", text, "--seeds", "2", "--out", str(tmp_path)]


@pytest.mark.parametrize(
    ("seeds", "more", "named"),
    [
        ([0, 1, 2], {}, "3"),
        ([3, 4, 5], {}, "3..5"),
        ([7], {}, "7..7"),
        ([0, 1, 5], {}, "0..1,5..5"),
        ([0, 1, 2], {"agent=mft": 6}, "6 --precision 0.1 --first-seeds 3"),
        ([3, 4, 5], {"agent=mft": 2}, "0..1,3..5"),
        ([3, 4, 5], {"agent=mft": 6}, "6"),
        ([0, 1, 2, 3, 4], {"agent=mft": 6}, "6"),
        ([0, 1, 5], {"agent=mft": 6}, "6"),
    ],
)
def test_exactly_the_seeds_that_were_asked_for_are_named(
    seeds: list[int], more: dict[str, int], named: str, tmp_path: Path
) -> None:
    """As a number if they are the first ones. A precision would leave out those that were asked for beside its own."""
    named_by = {"study": None, "sweep": "tree", "template": "tree.ini.j2", "agents": {"mft": ["mft", {}]}}
    asked: dict[str, object] = {**named_by, "set": {}, "axes": {}, "seeds": seeds}
    grown = {"more_seeds": more, "precision": "--precision 0.1 --first-seeds 3"} if more else {}
    (tmp_path / SWEEP_FILE).write_text(json.dumps({**asked, **grown}))
    assert command_again(tmp_path) == f"roambus sweep tree --agents mft --seeds {named} --out {tmp_path}"


@pytest.mark.parametrize(
    ("sweep", "template", "named"),
    [
        ("mine", "tree.ini.j2", "mine.toml"),
        ("mine", "mine.ini.j2", "mine.toml"),
        ("other", "other.ini.j2", "other.ini.j2"),
        ("", "other.ini.j2", "other.ini.j2"),
        ("", "tree.ini.j2", "tree"),
        ("tree", "tree.ini.j2", "tree"),
    ],
)
def test_a_sweep_of_a_file_of_ones_own_is_named_by_it(
    sweep: str, template: str, named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the sweep's file, whosever template it sweeps, or by the template where nothing else was given."""
    monkeypatch.chdir(tmp_path)
    Path("other.ini.j2").touch()
    asked: dict[str, object] = {
        "study": None,
        "sweep": sweep,
        "template": template,
        "set": {},
        "axes": {},
        "seeds": [0],
    }
    (tmp_path / SWEEP_FILE).write_text(json.dumps({**asked, "agents": {"mft": ["mft", {}]}}))
    assert command_again(tmp_path).startswith(f"roambus sweep {named} --agents mft --seeds 1 ")
