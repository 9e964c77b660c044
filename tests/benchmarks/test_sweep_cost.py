"""What a sweep cost is read from the logs of its runs and from their traces."""

from pathlib import Path

import pytest

from benchmarks.sweep_cost import main
from roambus.command_line import commands

SETTINGS = ["--set", "config=C2,C4", "--set", "speed=2", "--set", "agent=mft", "--set", "time_limit=2"]


def sweep(results: Path) -> None:
    arguments = ["sweep", "thesis", *SETTINGS, "--set", "publish_until=1", "--seeds", "2", "--out", str(results)]
    assert commands(arguments, standalone_mode=False) is None


@pytest.mark.slow
def test_runs_are_counted_by_agent_and_axis(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two seeds of each size; a run whose log does not tell its cost is named."""
    sweep(tmp_path)
    capsys.readouterr()
    assert main([str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines if line.strip().startswith(("mft", "C4"))] == [
        ["mft", "C2"],
        ["C4", "2"],
    ]
    assert lines[-1].startswith("4 runs: ")
    log = next(tmp_path.rglob("config=C4/**/run.log"))
    log.write_text("complete\n")
    assert main([str(tmp_path)]) == 2
    assert str(log) in capsys.readouterr().err


def test_a_folder_without_runs_is_the_users_mistake(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is named."""
    assert main([str(tmp_path)]) == 2
    assert str(tmp_path) in capsys.readouterr().err
