"""Attempts at the same run do not touch each other, and the first one that ends stays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from roambus.bridge.backends.ideal import IdealBackend
from roambus.bridge.runs.layout import LOG_FILE
from roambus.bridge.runs.run import RunPlan, has_failed, is_complete, run_key
from roambus.bridge.scenario.definition import Scenario
from roambus.experiments.sweeps.attempts import attempt
from roambus.experiments.sweeps.runner import plan_runs
from roambus.experiments.sweeps.sweep import AgentChoice, Sweep
from roambus.experiments.templates.template import find_template
from roambus.python_protocol.agent import Agent
from tests.support.agents import write_agent
from tests.support.backends import everybody_hears_everybody


def nothing() -> None:
    """What does not happen."""


@dataclass(frozen=True)
class Meanwhile:
    """Something happens between the beginning and the end of an attempt."""

    happens: Callable[[], object] = field(default=nothing)
    name: str = "ideal"

    def prepare(self, scenario: Scenario) -> None:
        """There is nothing to get ready."""

    def make(self, scenario: Scenario, agent: type[Agent], folder: Path) -> IdealBackend:
        self.happens()
        return everybody_hears_everybody.make(scenario, agent, folder)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "out" / ".unfinished-0"
    folder.mkdir(parents=True)
    return folder


def plan_of(folder: Path, on_timer: str = "pass") -> RunPlan:
    choice = AgentChoice("mine", str(write_agent(folder, "agent", on_timer)))
    (plan,) = plan_runs(Sweep("test", find_template("field"), (choice,), fixed={"time_limit": 3}), folder / "out")
    return plan


def files_of(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


COMPLETE = ["CC2420.txt", "run.ini", "run.log", "trace.parquet"]


def test_an_attempt_leaves_the_run_and_nothing_else(tmp_path: Path, workspace: Path) -> None:
    """Before it ends, nothing is in place."""
    plan = plan_of(tmp_path)
    seen: list[bool] = []
    assert attempt(plan, Meanwhile(lambda: seen.append(plan.folder.exists())), workspace) is None
    assert seen == [False]
    assert files_of(plan.folder) == COMPLETE
    assert files_of(workspace) == []


def test_of_two_attempts_at_once_the_first_one_stays(tmp_path: Path, workspace: Path) -> None:
    """As speculative ones are on a cluster; the second one changes no file."""
    plan = plan_of(tmp_path)
    moments: list[int] = []

    def another() -> None:
        assert attempt(plan, Meanwhile(), workspace) is None
        moments.append((plan.folder / "trace.parquet").stat().st_mtime_ns)

    assert attempt(plan, Meanwhile(another), workspace) is None
    assert moments == [(plan.folder / "trace.parquet").stat().st_mtime_ns]
    assert files_of(workspace) == []


def test_an_attempt_that_fails_does_not_replace_one_that_is_complete(tmp_path: Path, workspace: Path) -> None:
    """A back-end can fail once and not the next time."""
    plan = plan_of(tmp_path)

    def another() -> None:
        assert attempt(plan, Meanwhile(), workspace) is None
        raise ValueError("lost")

    assert attempt(plan, Meanwhile(another), workspace) == "BackendError: back-end ideal: make raised ValueError: lost"
    assert files_of(plan.folder) == COMPLETE


def test_an_older_run_is_replaced_and_what_lies_beside_it_kept(tmp_path: Path, workspace: Path) -> None:
    """A user's notes are not ours to remove."""
    plan = plan_of(tmp_path, "raise ValueError('lost')")
    failure = attempt(plan, Meanwhile(), workspace)
    assert failure is not None
    assert failure.startswith("AgentError: ")
    assert files_of(plan.folder) == ["CC2420.txt", "failed", "run.ini", "run.log"]
    (plan.folder / "notes.txt").write_text("why?")
    plan = plan_of(tmp_path, "now")
    assert attempt(plan, Meanwhile(), workspace) is None
    assert files_of(plan.folder) == sorted([*COMPLETE, "notes.txt"])
    assert is_complete(plan.folder, run_key(plan, Meanwhile()))


def test_errors_name_the_place_of_the_run(tmp_path: Path, workspace: Path) -> None:
    """Not the private folder, which is gone when they are read."""
    plan = plan_of(tmp_path)

    def fail() -> None:
        raise ValueError(f"cannot use {next(workspace.rglob('run.ini'))}")

    assert attempt(plan, Meanwhile(fail), workspace) == (
        f"BackendError: back-end ideal: make raised ValueError: cannot use {plan.folder / 'run.ini'}"
    )
    assert ".unfinished" not in (plan.folder / "run.log").read_text()


def test_an_attempt_that_outlives_its_sweep_leaves_nothing(tmp_path: Path, workspace: Path) -> None:
    """Such as one of an executor that has not yet heard of Ctrl-C."""
    plan = plan_of(tmp_path)
    with pytest.raises(FileNotFoundError):
        attempt(plan, Meanwhile(lambda: workspace.rename(tmp_path / "gone")), workspace)
    assert files_of(tmp_path / "out") == []


@pytest.mark.parametrize("on_timer", ["raise MemoryError", "self.hoard = bytearray(2**62)"])
def test_a_run_without_memory_is_tried_again(tmp_path: Path, workspace: Path, on_timer: str) -> None:
    """It has failed for now, which its log says; nothing says that it would fail the next time."""
    plan = plan_of(tmp_path, on_timer)
    failure = attempt(plan, Meanwhile(), workspace)
    assert failure is not None
    assert "MemoryError" in failure
    assert "MemoryError" in (plan.folder / LOG_FILE).read_text()
    assert not has_failed(plan.folder, run_key(plan, Meanwhile()))
    assert files_of(plan.folder) == ["CC2420.txt", "run.ini", "run.log"]


def test_a_run_that_fails_otherwise_is_not(tmp_path: Path, workspace: Path) -> None:
    """Unless that is asked for: most would fail again."""
    plan = plan_of(tmp_path, "raise KeyError")
    assert attempt(plan, Meanwhile(), workspace) is not None
    assert has_failed(plan.folder, run_key(plan, Meanwhile()))
