"""What an audit finds stated and missing: what is done about an item shows in the next audit."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from roambus.bridge.ini import read_scenario
from roambus.experiments.provenance import checklist
from roambus.experiments.provenance.checklist import audit
from tests.spark.synthetic import role, write_trace
from tests.support.commands import call

FIELD = "roambus sweep beacon --backend ideal --workers 1 --set nodes=10 --set time_limit=2"


def missing(folder: str) -> dict[str, str]:
    """The items that are missing, with what to do."""
    return {one.item: one.words for one in audit(Path(folder)) if not one.is_stated}


def stated(folder: Path) -> dict[str, str]:
    """The items that are stated, with what is."""
    return {one.item: one.words for one in audit(folder) if one.is_stated}


def partial_sweep(folder: Path, runs: int) -> list[Path]:
    """A sweep of 15 points and five seeds, seed by seed, of which so many runs were made; returns their traces."""
    asked = {"agents": {one: [one, {}] for one in "abc"}, "axes": {"nodes": [1, 2, 3, 4, 5]}, "seeds": list(range(5))}
    (folder / "sweep.json").write_text(json.dumps(asked))
    points = [f"agent={agent}/nodes={nodes}" for agent in "abc" for nodes in range(1, 6)]
    places = [f"{point}/seed={seed}" for seed in range(5) for point in points]
    return [write_trace(folder, place, [role(0, "")]) for place in places[:runs]]


@pytest.mark.slow
def test_what_is_done_about_an_item_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One seed is too few, a run without its ini hides its parameters, and one that is gone is missed."""
    monkeypatch.chdir(tmp_path)
    assert call(f"{FIELD} --seeds 1 --out r", monkeypatch) == 0
    assert "--seeds" in missing("r")["independent runs"]
    assert call(f"{FIELD} --seeds 2 --out r", monkeypatch) == 0
    assert not {"independent runs", "all parameters", "completeness: no run left out"} & missing("r").keys()
    (run, other) = sorted(Path("r").rglob("run.ini"))
    run.unlink()
    other.with_name("trace.parquet").unlink()
    assert {"all parameters", "completeness: no run left out"} <= missing("r").keys()


def test_runs_are_counted_that_are_there(tmp_path: Path) -> None:
    """Of 75 that were asked for 35 are: every point has two or three of its five."""
    there = partial_sweep(tmp_path, 35)
    assert stated(tmp_path)["independent runs"] == "at least 2 independent runs of each point are there"
    assert stated(tmp_path)["seeds"] == "0, 1, 2"
    assert missing(str(tmp_path))["completeness: no run left out"].startswith("40 runs are not there")
    there[-1].write_bytes(b"PAR1")
    there[-16].unlink()
    words = missing(str(tmp_path))
    assert words["independent runs"].startswith(f"of {there[-1].parents[1].relative_to(tmp_path)} 1 runs are there")
    assert words["completeness: no run left out"].startswith("42 runs are not there")


def test_a_point_without_any_run_counts(tmp_path: Path) -> None:
    """A sweep that was interrupted early has all runs of a few points, perhaps, and none of the others."""
    partial_sweep(tmp_path, 14)
    assert missing(str(tmp_path))["independent runs"].startswith("of traces/agent=c/nodes=5 0 runs are there")


def test_random_waypoint_that_begins_anywhere_is_biased(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless nodes begin as they are after a long time."""
    monkeypatch.chdir(tmp_path)
    moving = "roambus run field --agent beacon --backend ideal --set mobility=waypoint --set nodes=4 --set time_limit=2"
    for start, item in (("uniform", {"initialization bias"}), ("steady", set())):
        assert call(f"{moving} --set start={start} --out {start}", monkeypatch) == 0
        assert missing(start).keys() & {"initialization bias"} == item
    assert "give a warm-up (warmup-period)" in missing("uniform")["initialization bias"]


def test_the_command_ends_with_one_while_anything_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Programs are told each item with its source."""
    monkeypatch.chdir(tmp_path)
    run = "roambus run field --agent beacon --backend ideal --set nodes=3 --set time_limit=1 --out r"
    assert call(run, monkeypatch) == 0
    capsys.readouterr()
    assert call("roambus verify r --checklist --json", monkeypatch) == 1
    found = json.loads(capsys.readouterr().out)
    assert {one["source"] for one in found["items"]} == {"K", "A"}
    assert found["missing"] == sum(not one["stated"] for one in found["items"]) > 0


def test_connectivity_is_that_of_the_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line of four nodes, the last of which goes out of reach half way through the run."""
    monkeypatch.chdir(tmp_path)
    line = "roambus run field --agent beacon --set nodes=4 --set time_limit=10 --backend ideal --out r"
    assert call(line, monkeypatch) == 0
    scenario = read_scenario(next(Path("r").rglob("run.ini")))
    monkeypatch.setattr(checklist, "reach_m", lambda *_: 10.0)
    rows = [role(0, "")]
    for node in range(4):
        rows.append({"time_s": 0.0, "node": node, "event": "move", "detail": f"{9 * node} 0"})
    rows += [
        {"time_s": 5.0, "node": 3, "event": "move", "detail": "27 0"},
        {"time_s": 5.001, "node": 3, "event": "move", "detail": "90 0"},
    ]
    found = checklist.connectivity([(scenario, write_trace(tmp_path, "agent=x/seed=0", rows))])
    assert found is not None
    whole, half = [1, 2, 3, 1, 1, 2, 2, 1, 1, 3, 2, 1], [1, 2, 1, 1, 2, 1]
    assert found.hops == pytest.approx(np.mean(whole * 5 + half * 5))
    assert found.in_pieces == 0.5
