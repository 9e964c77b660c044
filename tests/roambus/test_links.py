"""Links in results lead nowhere: what lies behind one is neither replaced nor removed, as the trust page promises."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import pytest

from roambus.bridge.runs.run import write_inputs
from roambus.bridge.system.errors import UserError
from roambus.command_line import commands
from roambus.experiments.inventory import TEMPLATES
from tests.bridge.runs.test_run import plan_of

RUN = ["run", "field", "--agent", "beacon", "--backend", "ideal", "--set", "nodes=3", "--set", "time_limit=2"]
SWEEP = ["sweep", "field", "--agents", "beacon", "--backend", "ideal", "--set", "nodes=3", "--set", "time_limit=2"]
PLACES = (
    "traces",
    "traces/agent=beacon",
    "traces/agent=beacon/nodes=3",
    "traces/agent=beacon/nodes=3/time_limit=2/seed=0",
)


def call(words: list[str], out: Path) -> None:
    more = ["--seeds", "1", "--workers", "1"] if words is SWEEP else []
    commands([*words, *more, "--out", str(out)], standalone_mode=False)


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[Path]:
    """A user's own folder, with a file of theirs wherever a run could lie below it."""
    folder = tmp_path / "elsewhere"
    files = [folder / place / "run.log" for place in (".", "agent=beacon/nodes=3/time_limit=2/seed=0", "seed=0")]
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("mine")
    before = sorted(folder.rglob("*"))
    yield folder
    assert sorted(folder.rglob("*")) == before
    assert all(file.read_text() == "mine" for file in files)


@pytest.mark.parametrize("words", [RUN, SWEEP], ids=["run", "sweep"])
@pytest.mark.parametrize("place", PLACES)
def test_a_link_on_the_way_to_a_run_is_refused(words: list[str], place: str, elsewhere: Path, tmp_path: Path) -> None:
    """By one message that names the link, before anything is made."""
    link = tmp_path / "results" / place
    link.parent.mkdir(parents=True)
    link.symlink_to(elsewhere)
    with pytest.raises(UserError) as refused:
        call(words, tmp_path / "results")
    assert str(refused.value).startswith(f"{link}: this is a link")
    assert not (tmp_path / "results" / "sweep.json").exists()


@pytest.mark.parametrize("words", [RUN, SWEEP], ids=["run", "sweep"])
def test_a_file_in_place_of_a_folder_is_refused(words: list[str], tmp_path: Path) -> None:
    """By one message that names it, before anything is made."""
    file = tmp_path / "results" / "traces" / "agent=beacon"
    file.parent.mkdir(parents=True)
    file.write_text("mine")
    with pytest.raises(UserError, match=f"^{file}: this is a file"):
        call(words, tmp_path / "results")
    assert [path.name for path in (tmp_path / "results").iterdir()] == ["traces"]


def test_the_folder_that_a_user_gives_may_be_a_link(tmp_path: Path) -> None:
    """Results often lie on another disk."""
    (tmp_path / "disk").mkdir()
    (tmp_path / "results").symlink_to(tmp_path / "disk")
    call(RUN, tmp_path / "results")
    assert list((tmp_path / "disk").rglob("trace.parquet"))


STUDY = """
from roambus.experiments.studies.study import Study, StudySweep

STUDY = Study("two", "nobody", (StudySweep("thesis", lambda measured: []), StudySweep("beacon", lambda measured: [])))
"""


def test_a_link_for_a_sweep_of_a_study_is_refused(elsewhere: Path, tmp_path: Path) -> None:
    """A study with several sweeps gives each a folder of its name in --out."""
    study = tmp_path / "study.py"
    study.write_text(STUDY)
    link = tmp_path / "results" / "beacon"
    link.parent.mkdir()
    link.symlink_to(elsewhere)
    with pytest.raises(UserError, match=f"{link}: this is a link"):
        commands(["reproduce", str(study), "--quick", "--out", str(tmp_path / "results")], standalone_mode=False)


def test_a_link_inside_the_folder_of_a_run_is_refused(elsewhere: Path, tmp_path: Path) -> None:
    """Where the folder of a file that the ini names should be."""
    plan = dataclasses.replace(plan_of(tmp_path), files=(("ways/run.log", TEMPLATES / "CC2420.txt"),))
    plan.folder.mkdir(parents=True)
    (plan.folder / "ways").symlink_to(elsewhere)
    with pytest.raises(UserError, match="ways: this is a link"):
        write_inputs(plan, plan.folder)
