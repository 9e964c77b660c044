"""Runs at the same time on one machine do not disturb each other."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from roambus.bridge.backends.castalia.installation import CASTALIA_ROOT, OMNETPP_ROOT
from roambus.bridge.backends.castalia.simulators import core_of_our_own
from tests.support.simulated_runs import Stage, run_alone, run_at_once, set_stage

SECONDS = 30
"""How long the runs are, in simulated time."""
DEADLINE_S = 30.0
MOST = 20


@pytest.fixture(scope="module")
def stages(tmp_path_factory: pytest.TempPathFactory, stand_in: Path) -> tuple[Stage, Stage]:
    """One for runs at once, and one in which they were made alone."""
    stage = set_stage(tmp_path_factory.mktemp("t"), "stand-in", DEADLINE_S, SECONDS)
    alone, complaints = run_alone(stage, MOST)
    assert complaints == []
    return stage, alone


@pytest.mark.slow
@pytest.mark.parametrize("runs", [2, MOST])
def test_runs_at_once_leave_the_traces_that_they_leave_alone(
    stages: tuple[Stage, Stage], runs: int, tmp_path: Path
) -> None:
    """All complete, byte for byte the same, and nothing else is left."""
    stage, alone = stages
    here = replace(stage, folder=tmp_path)
    here.temporary.mkdir()
    assert run_at_once(here, alone, runs) == []
    assert json.loads((here.results / "sweep.json").read_text())["seeds"] == list(range(runs))


@pytest.mark.castalia
@pytest.mark.skipif(
    not {OMNETPP_ROOT, CASTALIA_ROOT} <= os.environ.keys(),
    reason=f"{OMNETPP_ROOT} and {CASTALIA_ROOT} do not say where OMNeT++ and Castalia are",
)
def test_simulations_at_once_leave_the_traces_that_they_leave_alone(tmp_path: Path) -> None:
    """Real Castalia too."""
    stage = set_stage(tmp_path, "castalia", DEADLINE_S, SECONDS)
    alone, complaints = run_alone(stage, 3)
    assert complaints + run_at_once(stage, alone, 3) == []


@pytest.mark.parametrize("kind", ["fifo", "mode", "link"])
def test_a_strangers_folder_of_cores_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """Its name can be guessed: a FIFO in it would hang every run, and so would an open folder let others do that."""
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path))
    folder = tmp_path / f".roambus-cores-{os.getuid()}"
    if kind == "link":
        folder.symlink_to(tmp_path)
    else:
        folder.mkdir(mode=0o700 if kind == "fifo" else 0o777)
        folder.chmod(0o700 if kind == "fifo" else 0o777)
        for core in os.sched_getaffinity(0):
            os.mkfifo(folder / str(core))
    before = os.sched_getaffinity(0)
    with core_of_our_own():
        assert os.sched_getaffinity(0) == before
