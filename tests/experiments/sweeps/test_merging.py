"""Sweeps of one experiment are merged; anything that differs is refused by its name."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from roambus.bridge.runs.layout import find_traces
from roambus.bridge.system.errors import UserError
from roambus.experiments.sweeps.merging import merge
from roambus.spark.aggregation.alike import check_alike, check_axes
from roambus.spark.aggregation.traces import list_traces
from tests.support.agents import write_agent
from tests.support.commands import call

FILE = """\
template = "field"
seeds = {seeds}
[set]
time_limit = 2
side = {side}
[axes]
nodes = {nodes}
[agents]
{agent} = {{}}
"""
FIRST = {"seeds": 1, "side": 30, "nodes": [3], "agent": "flooding"}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's, with nothing in it."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def sweep(out: str, monkeypatch: pytest.MonkeyPatch, options: str = "", **about: object) -> Path:
    Path("s.toml").write_text(FILE.format(**{**FIRST, **about}))
    backend = "" if "--backend" in options else "--backend ideal"
    assert call(f"roambus sweep s.toml --workers 1 --out {out} {backend} {options}", monkeypatch) == 0
    return Path(out)


def test_seeds_agents_and_values_are_put_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """The folders that are merged stay as they are, and a run that both have is there once."""
    parts = [
        sweep("a", monkeypatch),
        sweep("b", monkeypatch, seeds=2),
        sweep("c", monkeypatch, agent="gossip"),
        sweep("d", monkeypatch, nodes=[4]),
    ]
    before = sorted(map(str, Path().rglob("*")))
    merge(parts, Path("whole"))
    assert [file for file in sorted(map(str, Path().rglob("*"))) if not file.startswith("whole")] == before
    request = json.loads(Path("whole/sweep.json").read_text())
    assert (request["seeds"], request["axes"], list(request["agents"])) == (
        [0, 1],
        {"nodes": ["3", "4"]},
        ["flooding", "gossip"],
    )
    assert len(find_traces(Path("whole"))) == 4
    kept = {file.read_text() for file in Path("whole/inputs").glob("*/s.toml")}
    assert len(kept) == 4
    with pytest.raises(UserError, match="--out whole: it is there already"):
        merge(parts, Path("whole"))


@pytest.mark.parametrize(
    ("about", "problem"),
    [
        ({"side": 40}, "b: its set is time_limit=2 side=40, and that of a is time_limit=2 side=30"),
        ({"options": "--level full"}, "b: its level is full, and that of a is app"),
        ({"options": "--record"}, "b: its record is yes, and that of a is no"),
    ],
)
def test_anything_else_is_refused_by_name(about: dict[str, str], problem: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is written then."""
    parts = [sweep("a", monkeypatch), sweep("b", monkeypatch, **about)]
    with pytest.raises(UserError, match=f"{problem}: only seeds, agents and values of axes may differ"):
        merge(parts, Path("whole"))
    assert not Path("whole").exists()


def test_copied_runs_of_another_experiment_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their traces say what they are of: other fixed values, and other axes, which have no common table."""
    first = sweep("a", monkeypatch)
    check_alike(first, list_traces(find_traces(first))[0])
    shutil.copytree(sweep("b", monkeypatch, side=40, agent="gossip") / "traces", first / "traces", dirs_exist_ok=True)
    with pytest.raises(UserError, match=r"agent=gossip.*: its side is 40, and 30 in .*: keep them in two folders"):
        check_alike(first, list_traces(find_traces(first))[0])
    second = sweep("c", monkeypatch)
    shutil.copytree(second / "traces/agent=flooding/nodes=3", second / "traces/agent=flooding/side=3/nodes=3")
    with pytest.raises(UserError, match="has other axes than"):
        check_axes(list_traces(find_traces(second))[0])


def test_runs_that_read_other_data_are_different(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their keys are equal, for a key has no data that the agent does not name."""
    read = "from pathlib import Path; Path(__file__).with_name('table.txt').read_text()"
    for out, text in (("a", "1"), ("b", "2")):
        write_agent(Path(), "mine", read)
        Path("table.txt").write_text(text)
        sweep(out, monkeypatch, "--agents ./mine.py")
    with pytest.raises(UserError, match="are different runs of one place: remove the one you do not want"):
        merge([Path("a"), Path("b")], Path("whole"))


@pytest.mark.parametrize(
    ("folders", "problem"),
    [
        ("a a --out c", "a: this folder is given twice: give each once"),
        ("a ./a", "a: this folder is given twice: give each once"),
        ("a b", "several RESULTS are merged into a new folder: name it with --out FOLDER"),
        ("a --out c", "--out c: there is nothing to merge: give several RESULTS, or leave --out out"),
    ],
)
def test_what_cannot_be_merged_is_refused(
    folders: str, problem: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before any run is read."""
    for name in ("a", "b"):
        Path(name).mkdir()
    assert call(f"roambus aggregate {folders}", monkeypatch) == 2
    assert problem in capsys.readouterr().err
