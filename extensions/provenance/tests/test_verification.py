"""Runs that are made again come out the same, or are named; nothing in the results changes."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from roambus.bridge.trace.parquet import read_footer, write_trace
from tests.support.commands import call

RUN = "roambus run field --backend ideal --set nodes=2 --set time_limit=1 --out results"
CLOCK = """\
import time

from roambus import Agent, Started, on


class Clock(Agent):
    @on(Started)
    def start(self, event, now):
        self.note("time", detail=str(time.time_ns()))
"""


def files(folder: Path) -> dict[str, tuple[int, bytes]]:
    found = (path for path in folder.rglob("*") if path.is_file())
    return {str(path): (path.stat().st_mtime_ns, path.read_bytes()) for path in found}


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Results of a run that is repeatable."""
    monkeypatch.chdir(tmp_path)
    assert call(f"{RUN} --level full", monkeypatch) == 0
    return tmp_path / "results"


def test_the_same_comes_out(results: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    """Whatever level and back-end the run was made at; the results are what they were."""
    before = files(results)
    capfd.readouterr()
    assert call("roambus verify results", monkeypatch) == 0
    assert capfd.readouterr().out == "results: runs made again 1, the same 1\n"
    assert files(results) == before


def test_a_run_of_another_commit_with_the_same_code_comes_out_the_same(
    results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its key says that nothing has changed which its rows depend on."""
    monkeypatch.setattr("roambus.bridge.runs.log.version_of_code", lambda: "roambus 9.9")
    assert call("roambus verify results", monkeypatch) == 0


def test_a_trace_that_was_changed_is_named(
    results: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """With the first row that differs; if its rows are the same, with the simulator that made them."""
    (trace,) = results.rglob("trace.parquet")
    metadata, rows = read_footer(trace).metadata, pq.read_table(trace)
    write_trace(rows, trace, metadata | {"roambus.simulator": "OMNeT++ 5.7.1, Castalia"})
    assert call("roambus verify results", monkeypatch) == 1
    assert "its rows are the same, made by ideal in place of OMNeT++ 5.7.1, Castalia" in capfd.readouterr().err
    write_trace(rows.slice(1), trace, metadata)
    assert call("roambus verify results", monkeypatch) == 1
    assert "its trace differs when it is made again: row 0 is at " in capfd.readouterr().err


def test_a_live_run_is_named(results: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    """Its trace says that it was one."""
    (trace,) = results.rglob("trace.parquet")
    write_trace(pq.read_table(trace), trace, read_footer(trace).metadata | {"roambus.backend": "live"})
    assert call("roambus verify results", monkeypatch) == 1
    assert "it was a live run, on real sockets in real time, which nobody can repeat" in capfd.readouterr().err


def test_a_run_of_another_version_cannot_be_made_again(
    results: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Its ini was changed since, as its agent could have been."""
    (ini,) = results.rglob("run.ini")
    ini.write_text(ini.read_text().replace("sim-time-limit = 1s", "sim-time-limit = 2s"))
    assert call("roambus verify results", monkeypatch) == 1
    assert "made by another version of its agent or of roambus" in capfd.readouterr().err


def test_an_agent_that_takes_time_from_elsewhere_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """It is a file that the results name, so it is run with --trust only."""
    monkeypatch.chdir(tmp_path)
    Path("clock.py").write_text(CLOCK)
    assert call(f"{RUN} --agent clock.py", monkeypatch) == 0
    assert call("roambus verify results", monkeypatch) == 1
    assert "its agent 'clock.py' is not installed" in capfd.readouterr().err
    assert call("roambus verify results --trust", monkeypatch) == 1
    printed = capfd.readouterr().err
    assert "runs agent clock.py at " in printed
    assert "its trace differs when it is made again: row " in printed


def test_a_folder_without_traces_is_the_users_mistake(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """With what to give instead."""
    monkeypatch.chdir(tmp_path)
    Path("empty").mkdir()
    assert call("roambus verify empty", monkeypatch) == 2
    assert "empty holds no trace.parquet: give the folder that a sweep or a run wrote" in capfd.readouterr().err
