"""What `roambus rerun` says and finds, and what it needs of a run."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from roambus.bridge.backends.ideal.backend import IdealFactory
from roambus.bridge.runs.run import execute
from roambus.command_line import main
from roambus.extensions.recording.record_file import recorded
from roambus.extensions.recording.replay import rerun
from roambus.extensions.recording.tests.records import record, write_counting
from tests.bridge.runs.test_movement_runs import Write, write  # noqa: F401  # a fixture


def test_rerun_says_what_it_runs_and_whether_it_has_changed(tmp_path: Path) -> None:
    """Before it runs: a file that can no longer be imported has been named already."""
    reference = write_counting(tmp_path, "agent")
    path, said = record(tmp_path, reference), list[str]()
    rerun(path, announce=said.append)
    text = Path(reference).read_text()
    Path(reference).write_text(f"{text}\nraise SystemExit\n")
    with pytest.raises(Exception, match="cannot be imported"):
        rerun(path, announce=said.append)
    first, second = said
    assert first.startswith(f"runs agent {reference} at {reference} (sha256 ")
    assert first.endswith(", unchanged since the run)")
    assert "; CHANGED since the run: " in second


def test_rerun_finds_the_record_in_the_folder_of_a_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also of a run that has failed, which has no trace; where there is none, or are several, it says so."""
    path = record(tmp_path, write_counting(tmp_path, "agent"))
    results = tmp_path / "results"
    results.mkdir()
    for expected in (
        f"{results}: there is no frames.roambus in or below it",
        "frames agree",
        "holds 2 records: name one",
    ):
        monkeypatch.setattr("sys.argv", ["roambus", "rerun", str(results)])
        with pytest.raises(SystemExit):
            main()
        captured = capsys.readouterr()
        assert expected in captured.out + captured.err
        folder = results / f"seed={len(list(results.iterdir()))}"
        folder.mkdir()
        (folder / "frames.roambus").write_bytes(path.read_bytes())


def test_a_record_runs_again_without_the_file(write: Write, tmp_path: Path) -> None:  # noqa: F811  # the fixture
    """It holds the movement, as it holds the ini."""
    plan = replace(write(), record=recorded)
    execute(plan, IdealFactory())
    record = shutil.move(plan.folder / "frames.roambus", tmp_path / "elsewhere")
    shutil.rmtree(plan.folder)
    shutil.rmtree(tmp_path / "ways")
    assert rerun(Path(record)).ending == "the run ended at its time limit"
