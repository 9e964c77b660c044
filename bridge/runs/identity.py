"""A run's identity: its key is a hash of everything that can change its trace, and of nothing else.

A key that covered too little would pass off an old trace as a changed agent's; one that covered too much would repeat
finished sweeps for nothing. It covers the ini and the files that it names, the seed, the trace level, the kind of
back-end, and the code (`roambus.bridge.code`) of the agent, the host and that back-end.

`RunPlan` holds all that is needed to make a run, in any process and on any machine.
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
    """Where the ini of a run is from, which its trace tells: name and settings of the template.

    A run that is made once more, to be compared, tells the `version` of roambus that had made it; any other this one.
    """

    template: str = NO_TEMPLATE
    settings: tuple[tuple[str, Any], ...] = ()
    version: str | None = None


Recorder = Callable[[Backend, Path, Scenario, str, TraceLevel], Backend]
"""Puts itself between host and back-end, given the run's folder, its scenario, its agent and the level of its trace."""


@dataclass(frozen=True, slots=True)
class RunPlan:
    """A run that can be executed in any process. Its folder lies at `place` below `results`."""

    results: Path
    place: Path
    ini: str
    radio_file: Path
    agent: str
    seed: int
    level: TraceLevel = TraceLevel.APP
    record: Recorder | None = None
    """What keeps the frames, for `roambus rerun`, if anything does; the trace is the same either way."""
    check: bool = False
    """Whether to compare every message with its bytes; the trace is the same either way."""
    files: tuple[tuple[str, Path], ...] = ()
    """The files of movements and links, under the names that the ini has for them, and what lies beside them."""

    origin: Origin = Origin()

    @property
    def folder(self) -> Path:
        """The folder into which trace, ini and log go."""
        return self.results / self.place


EVERY_RUN = (Path(event_loop.__file__), Path(reader.__file__))
"""Where the code of every run begins: the trace's schema and its writer are imported by the host."""


def run_key(plan: RunPlan, backend: BackendFactory) -> str:
    """The key of a run; raises UserError, OSError.

    The order of the parts is fixed, and each is hashed by itself first, so that no two inputs can run into each other.
    """
    digest = sha256()
    settings = f"{plan.seed} {plan.level.value} {backend.name}"
    files = (file.read_bytes() for _, file in plan.files)
    for part in (plan.ini.encode(), plan.radio_file.read_bytes(), settings.encode(), *files):
        digest.update(sha256(part).digest())
    digest.update(code_hash([*EVERY_RUN, *agent_sources(load_agent(plan.agent)), Path(inspect.getfile(type(backend)))]))
    return digest.hexdigest()
