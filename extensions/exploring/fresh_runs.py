"""Runs of agents that were never copied, each in a fresh process.

A search copies agents, so it sees only state that lies in their attributes. A run by the ordinary host sees all state.
`FreshProcesses` forks a server before any agent runs, and the server forks a process for each run. So no run sees what
the search or another run has left in a module, a class or a cache.

A `ManualRun` carries out a path of the graph by hand, and takes a snapshot after each step.
"""

from __future__ import annotations

import os
import resource
import signal
import weakref
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any

from roambus.bridge.host.agents import Handle
from roambus.bridge.host.event_loop import Host
from roambus.bridge.system.child_process import run_in_child, start_child
from roambus.bridge.system.errors import RoambusError
from roambus.bridge.trace.parquet import TraceWriter
from roambus.bridge.transcript.document import parse_document
from roambus.bridge.transcript.transcript import follow, plan
from roambus.extensions.exploring.manual import ManualDriver
from roambus.extensions.exploring.properties import View
from roambus.extensions.exploring.scenario_file import Question
from roambus.extensions.exploring.snapshots import Snapshot, compared, snapshot
from roambus.extensions.exploring.world import RunObserver, observed_by
from roambus.python_protocol.actions import Action
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.events import Event
from roambus.python_protocol.simtime import SimTime

LONGEST_RUN_S = 30
"""The time of the processor after which a fresh run is ended."""


@dataclass(frozen=True)
class Walk:
    """A path as a transcript by hand; `quiet` says of each state on it which properties are asked (`compared`)."""

    transcript: str
    quiet: tuple[bool | None, ...]


@dataclass(frozen=True)
class WalkResult:
    """The snapshots of a fresh run, before the first step and after each; `error` if it has ended early."""

    snapshots: tuple[Snapshot, ...]
    error: str = ""


class FreshProcesses:
    """Calls `make` with a request in a process that has run no agent."""

    def __init__(self, make: Callable[[Any], Any], prepare: Callable[[], object]) -> None:
        """Fork the server; nothing that is imported from now on is in its processes, but what `prepare` imports."""
        self._channel, theirs = Pipe()
        number = start_child(partial(_serve, make, prepare, self._channel, theirs))
        theirs.close()
        self.close = weakref.finalize(self, _end, number, self._channel)
        """End the server; it also ends with this object."""

    def call(self, request: Any) -> Any:
        """Return what `make` returns; raises its RoambusError."""
        self._channel.send(request)
        outcome = self._channel.recv()
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome


def _serve(make: Callable[[Any], Any], prepare: Callable[[], object], theirs: Connection, ours: Connection) -> None:
    theirs.close()
    is_prepared = False
    with suppress(EOFError):
        while True:
            request = ours.recv()
            try:
                if not is_prepared:
                    prepare()
                    is_prepared = True
                outcome = run_in_child(partial(make, request))
            except RoambusError as error:
                outcome = error
            ours.send(outcome)


def _end(number: int, channel: Connection) -> None:
    channel.close()
    with suppress(ProcessLookupError, ChildProcessError):
        os.kill(number, signal.SIGKILL)
        os.waitpid(number, 0)


def carry_out(question: Question, request: Walk | str) -> WalkResult | str:
    """Walk, or return a transcript with its outputs: the requests that fresh processes know."""
    resource.setrlimit(resource.RLIMIT_CPU, (LONGEST_RUN_S, LONGEST_RUN_S + 1))
    if isinstance(request, str):
        return follow(parse_document(question.path, request))
    return ManualRun(question, request).run()


class ManualRun:
    """The ordinary host carries out a walk."""

    def __init__(self, question: Question, walk: Walk) -> None:
        self._question, self._walk = question, walk
        self._planned = planned = plan(parse_document(question.path, walk.transcript))
        self._work = ManualDriver(planned.timeline)
        self._backend = self._work.carrier(planned.scenario)
        self._backend.look = self._look
        self._observer = RunObserver(planned.timeline, planned.scenario)
        self._names = tuple(map(planned.timeline.network.node_name, range(len(planned.scenario.nodes))))
        starts = [slot.start for slot in planned.timeline.slots if slot.number is not None]
        # The first line of a timed transcript is no step.
        self._begins = starts[len(starts) + 1 - len(walk.quiet) :]
        self._snapshots: list[Snapshot] = []

    def run(self) -> WalkResult:
        """Run to the end; an error of the agent is part of the result."""
        planned, work = self._planned, self._work
        wrappers = (work.wrap, observed_by(self._observer), self._wrap)
        host = Host(
            planned.scenario, planned.agent_class, self._backend, TraceWriter(), wrappers=wrappers, chance=work.chance
        )
        try:
            host.run()
            self._observer.reach(planned.scenario.time_limit)
            while len(self._snapshots) < len(self._walk.quiet):
                self._take()
        except RoambusError as error:
            return WalkResult(tuple(self._snapshots), str(error))
        return WalkResult(tuple(self._snapshots))

    def _wrap(self, _: Agent, handle: Handle) -> Handle:
        def look_and_handle(event: Event, now: SimTime) -> Iterable[Action]:
            self._look(now)
            return handle(event, now)

        return look_and_handle

    def _look(self, now: SimTime) -> None:
        """Take the snapshots that are due before anything happens at this moment."""
        while len(self._snapshots) < len(self._begins) and now >= self._begins[len(self._snapshots)]:
            self._observer.reach(self._begins[len(self._snapshots)] - 1)
            self._take()

    def _take(self) -> None:
        observer, place, timeline = self._observer, len(self._snapshots), self._planned.timeline
        if not place:
            observer.world = observer.world.without_history()
        begun = self._begins[place - 1] if place else timeline.manual_from
        now = timeline.moment(timeline.now if begun is None else begun)
        view = View(dict(enumerate(observer.agents)), observer.world, now, self._names)
        wrong = compared(self._question.must, view, self._walk.quiet[place])
        timers = [[(max(0, timer.at - now), timer.key) for timer in agent.timers] for agent in self._work.agents]
        self._snapshots.append(snapshot(view, timers, self._backend.messages(), wrong))
