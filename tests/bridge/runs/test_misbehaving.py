"""Agents that misbehave are told what they did, with node, event and line; whatever they do, it ends with their run."""

from __future__ import annotations

from pathlib import Path

import pytest

from roambus.bridge.runs.run import execute, execute_in_child
from roambus.bridge.system.errors import RoambusError
from roambus.experiments.sweeps.runner import plan_runs
from roambus.experiments.sweeps.sweep import AgentChoice, Sweep
from roambus.experiments.templates.template import find_template
from tests.support.backends import everybody_hears_everybody
from tests.support.misbehaving.catalogue import Misbehaving, write
from tests.support.misbehaving.messages import MESSAGES
from tests.support.misbehaving.processes import BEFORE_RUNS, IN_HANDLERS
from tests.support.misbehaving.values import VALUES


def error_of(agent: Misbehaving, folder: Path, *, apart: bool) -> str:
    """What whoever runs the agent is told."""
    out = folder / "out"
    choice = AgentChoice("bad", str(write(agent, folder, out)))
    fixed = {"time_limit": 3, "nodes": 3}
    try:
        (plan,) = plan_runs(Sweep("test", find_template("field"), (choice,), fixed=fixed), out)
        (execute_in_child if apart else execute)(plan, everybody_hears_everybody)
    except (RoambusError, OSError) as error:
        assert not list(out.rglob("trace.parquet"))
        return str(error)
    return "nothing"


@pytest.mark.parametrize("agent", [*VALUES, *MESSAGES, *BEFORE_RUNS], ids=lambda agent: agent.name)
def test_what_is_wrong_is_reported_with_the_line(agent: Misbehaving, tmp_path: Path) -> None:
    """A value, an answer or a message: the error names the agent's own line, and what belongs there."""
    text = error_of(agent, tmp_path, apart=False)
    assert agent.is_described_by(text), text


ELSEWHERE = ("prints a surrogate", "segmentation fault", "abort")
"""What pytest's own printing lets pass, or tells about at length; the harness tries them, too."""


@pytest.mark.parametrize(
    "agent", [agent_ for agent_ in IN_HANDLERS if agent_.name not in ELSEWHERE], ids=lambda agent: agent.name
)
def test_what_an_agent_does_to_its_process_is_its_error(agent: Misbehaving, tmp_path: Path) -> None:
    """The end of the run's child process, and draws from shared generators, are errors that name the agent."""
    text = error_of(agent, tmp_path, apart=True)
    assert agent.is_described_by(text), text
