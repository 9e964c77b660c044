"""Recorded runs of small scenarios, and agents to rerun them with."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from textwrap import dedent

from roambus.bridge.agents import load_agent
from roambus.bridge.backend import Backend, Hello, Step, Totals, Transmission
from roambus.bridge.host.event_loop import Host
from roambus.bridge.trace.parquet import TraceLevel, TraceWriter
from roambus.extensions.recording.record_file import recorded
from roambus.python_protocol.simtime import SECOND, SimTime
from roambus.testing.backend_case import Case, Factory, write_case
from tests.bridge.backends.conformance import make_given_graph

COUNTING = """\
from roambus.python_protocol.actions import Send, SetTimer
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.events import Received, Started, TimerFired
from roambus.python_protocol.roles import BROADCAST
from roambus.python_protocol.simtime import SECOND
from roambus.testing.backend_case import MARKERS, Marker

class Counting(Agent):
    "Node 0 sends 0, 1, 2, ..., one a second."

    messages = MARKERS

    def handle(self, event, now):
        if isinstance(event, Started):
            self.count = 0
            return [SetTimer("tick", SECOND)] if self.node == 0 else []
        if isinstance(event, Received):
            return self.hear(event.message.number)
        if not isinstance(event, TimerFired):
            return []
        self.count += 1
        return [Send(BROADCAST, Marker(self.number(self.count - 1))), SetTimer("tick", SECOND)]

    def hear(self, number):
        return []

    def number(self, count):
        return count
"""


def write_counting(folder: Path, name: str, changes: str = "") -> str:
    """The reference of an agent in a file of its own; `changes` are methods that replace its `hear` and `number`."""
    path, source = folder / f"{name}.py", COUNTING
    for replaced in re.findall(r"^def (\w+)", dedent(changes), re.MULTILINE):
        source = re.sub(rf"\n    def {replaced}\(.*?(?=\n    def |\Z)", "", source, flags=re.DOTALL)
    path.write_text(source + "\n" + "".join(f"    {line}\n" for line in dedent(changes).splitlines()))
    return str(path)


def record(
    folder: Path,
    agent: str,
    factory: Factory = make_given_graph,
    parameters: str = "",
    *,
    level: TraceLevel = TraceLevel.APP,
    processing_delay: SimTime = 0,
) -> Path:
    """Runs the agent for five seconds on four nodes that hear each other; the run's record."""
    agent_class = load_agent(agent)
    case = write_case(
        folder,
        agent_class.messages,
        agent=agent,
        parameters=parameters,
        time_limit=5 * SECOND,
        processing_delay=processing_delay,
    )
    backend = recorded(factory(case), case.folder, case.scenario, agent, level)
    Host(case.scenario, agent_class, backend, TraceWriter(level)).run()
    return case.folder / "frames.roambus"


class Faulty:
    """Ideal links whose simulation fails at a given step."""

    def __init__(self, backend: Backend, error: BaseException, after: int) -> None:
        self._backend = backend
        self._error = error
        self._left = after

    def open(self) -> Hello:
        """See `Backend.open`."""
        return self._backend.open()

    def advance(self, transmissions: Sequence[Transmission], wake_up: SimTime | None) -> Step | None:
        """See `Backend.advance`."""
        if self._left == 0:
            raise self._error
        self._left -= 1
        return self._backend.advance(transmissions, wake_up)

    def fail(self, error: BaseException) -> None:
        """There is nobody to tell."""

    def close(self) -> Totals:
        """See `Backend.close`."""
        return self._backend.close()


def failing(error: BaseException, after: int = 10) -> Factory:
    """Makes back-ends that fail."""

    def make(case: Case) -> Backend:
        return Faulty(make_given_graph(case), error, after)

    return make
