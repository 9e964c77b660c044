"""A run's identity: its key is a hash of everything that can change its trace, and only that.

Too narrow a key would pass off an old trace as a changed agent's; too wide a key would repeat finished sweeps. It
covers ini and files, seed, trace level, kind of back-end, and the code (`roambus.bridge.code`) of agent, host and
back-end. `RunPlan` suffices to make a run anywhere.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from roambus.bridge.agents import agent_sources, load_agent
from roambus.bridge.backend import Backend, BackendFactory
from roambus.bridge.code import code_hash
from roambus.bridge.host import event_loop
from roambus.bridge.ini import reader
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.trace.parquet import TraceLevel
from roambus.bridge.trace.schema import NO_TEMPLATE


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin of a run's ini, for its trace: name and settings of the template.

    A repeated run keeps the `version` of roambus that made the first.
    """

    template: str = NO_TEMPLATE
    settings: tuple[tuple[str, Any], ...] = ()
    version: str | None = None


Recorder = Callable[[Backend, Path, Scenario, str, TraceLevel], Backend]
"""Wraps the back-end, given the run's folder, scenario, agent and trace level."""


@dataclass(frozen=True, slots=True)
class RunPlan:
    """A run executable in any process. Its folder is `place` below `results`."""

    results: Path
    place: Path
    ini: str
    radio_file: Path
    agent: str
    seed: int
    level: TraceLevel = TraceLevel.APP
    record: Recorder | None = None
    """Records the frames for `roambus rerun`, if set; the trace is the same."""
    check: bool = False
    """Whether to compare every message with its bytes; the trace is the same."""
    files: tuple[tuple[str, Path], ...] = ()
    """Files of movements and links by their names in the ini, and companion files."""

    origin: Origin = Origin()

    @property
    def folder(self) -> Path:
        """The folder of trace, ini and log."""
        return self.results / self.place


EVERY_RUN = (Path(event_loop.__file__), Path(reader.__file__))
"""Roots of every run's code: the host imports the trace's schema and writer."""


def run_key(plan: RunPlan, backend: BackendFactory) -> str:
    """The key of a run; raises UserError, OSError.

    Parts have a fixed order and are hashed separately, so that inputs cannot run into each other.
    """
    digest = sha256()
    settings = f"{plan.seed} {plan.level.value} {backend.name}"
    files = (file.read_bytes() for _, file in plan.files)
    for part in (plan.ini.encode(), plan.radio_file.read_bytes(), settings.encode(), *files):
        digest.update(sha256(part).digest())
    digest.update(code_hash([*EVERY_RUN, *agent_sources(load_agent(plan.agent)), Path(inspect.getfile(type(backend)))]))
    return digest.hexdigest()
