"""The recorded hashes are of every agent."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks import trace_hashes
from benchmarks.trace_hashes import jobs
from roambus.bridge.system.code import AGENTS, named


def test_every_agent_has_a_run() -> None:
    """A change of any agent's trace shows."""
    assert named(AGENTS).keys() <= {job.agent for job in jobs()}


def test_the_file_has_every_run_and_no_other() -> None:
    """Each under its name, which no other run has."""
    names = [job.name for job in jobs()]
    recorded = json.loads(Path(trace_hashes.__file__).with_suffix(".json").read_text(encoding="utf-8"))
    assert list(recorded) == names
    assert len(set(names)) == len(names)
