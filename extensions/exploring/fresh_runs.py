"""Runs of agents that were never copied, in fresh processes.

A search copies agents, so it sees only state that lies in their attributes. A run by the ordinary host sees all state.
`FreshProcesses` forks a server when the agents' code is there and none has run, and the server forks the processes of
runs. So no run sees what the search has left in a module, a class or a cache.

A `ManualRun` carries out a path of the graph by hand, and takes a snapshot after each step. A `RealRun` carries out a
transcript with times, and has its properties judged.
"""

from __future__ import annotations

import gc
import os
import resource
import signal
import weakref
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from random import Random
from typing import Any, TypeVar

from roambus.bridge.backends.ideal.backend import IdealBackend, make_ideal
from roambus.bridge.host.agents import Handle, Wrapper
from roambus.bridge.host.event_loop import Host
from roambus.bridge.system.child_process import EndedError, run_in_child, start_child
from roambus.bridge.system.errors import AgentError, RoambusError
from roambus.bridge.trace.parquet import TraceWriter
from roambus.bridge.transcript.document import parse_document
from roambus.bridge.transcript.transcript import follow, plan
from roambus.extensions.exploring.checker import RAISES
from roambus.extensions.exploring.manual import ManualBackend, ManualDriver
from roambus.extensions.exploring.properties import PROPERTIES, View
from roambus.extensions.exploring.property_checker import compare
from roambus.extensions.exploring.scenario_file import Question
from roambus.extensions.exploring.snapshots import Snapshot, compared, snapshot, state_text
from roambus.extensions.exploring.world import RunObserver, World, observed_by
from roambus.python_protocol.actions import Action
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.events import Event, TimerFired
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime

Request = TypeVar("Request")
Found = TypeVar("Found")
LONGEST_RUN_S, MOST_EVENTS = 30, 1000
"""The time of the processor after which a fresh run is ended, and the events after which no node handles any."""


class FreshProcesses:
    """Calls `make` with a request in a process that has run no agent."""

    def __init__(self, make: Callable[[Any], Any]) -> None:
        """Fork the server; what is imported by now its processes need not import again."""
        self._channel, theirs = Pipe()
        number = start_child(partial(_serve, make, self._channel, theirs))
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

    def first(self, requests: Sequence[Request], judge: Callable[[Request, Any], Found | None]) -> Found | None:
        """Return the first finding of `judge` in an outcome, or in the EndedError of a process.

        One process makes all, which is five times as fast. A finding there may come of what an earlier run has left in
        a module or a class. From the first on each request has a process of its own, and only that counts.
        """
        together, are_alone = self._outcome(tuple(requests)), False
        for place, request in enumerate(requests):
            outcome = together if isinstance(together, EndedError) else together[place]
            are_alone = are_alone or judge(request, outcome) is not None
            if are_alone and (found := judge(request, self._outcome(request))) is not None:
                return found
        return None

    def _outcome(self, request: Any) -> Any:
        try:
            return self.call(request)
        except EndedError as error:
            return error


def _serve(make: Callable[[Any], Any], theirs: Connection, ours: Connection) -> None:
    theirs.close()
    gc.disable()  # a collection in a fresh process would copy all pages that it shares with this one
    gc.freeze()
    with suppress(EOFError):
        while True:
            request = ours.recv()
            try:
                outcome = run_in_child(partial(make, request))
            except RoambusError as error:
                outcome = error
            ours.send(outcome)


def _end(number: int, channel: Connection) -> None:
    channel.close()
    with suppress(ProcessLookupError, ChildProcessError):
        os.kill(number, signal.SIGKILL)
        os.waitpid(number, 0)


def carry_out(question: Question, request: Any) -> Any:
    """Walk, run, or return a transcript with its outputs, or do several of these: the requests of fresh processes."""
    resource.setrlimit(resource.RLIMIT_CPU, (LONGEST_RUN_S, LONGEST_RUN_S + 1))
    match request:
        case tuple():
            return [carry_out(question, each) for each in request]
        case Walk():
            return ManualRun(question, request).run()
        case RunRequest():
            return RealRun(question, request).run()
    return follow(parse_document(question.path, request))


class _Host(Host):
    """Knows whether anything is still due."""

    @property
    def is_idle(self) -> bool:
        """Whether nothing is due any more."""
        return self._queue.next_time() is None


class _ObservedRun:
    """The ordinary host carries out a transcript, and `look` is called before anything happens at a moment."""

    backend: IdealBackend
    is_idle = False
    """Whether the run is over, and no timer is set."""

    def __init__(self, question: Question, transcript: str) -> None:
        self.must = question.must
        self.planned = planned = plan(parse_document(question.path, transcript))
        self.observer = RunObserver(planned.timeline, planned.scenario)
        self._names = tuple(map(planned.timeline.network.node_name, range(len(planned.scenario.nodes))))
        self.starts = [slot.start for slot in planned.timeline.slots if slot.number is not None]

    def carry_out(self, *inner: Wrapper, chance: Callable[[NodeId], Random] | None = None) -> None:
        """Run to the end; raises AgentError."""
        wrappers = (*inner, observed_by(self.observer), self._wrap)
        scenario, agent_class = self.planned.scenario, self.planned.agent_class
        host = _Host(scenario, agent_class, self.backend, TraceWriter(), wrappers=wrappers, chance=chance)
        host.run()
        self.is_idle = host.is_idle
        self.observer.reach(scenario.time_limit)

    def view(self, now: SimTime) -> View:
        """Return what properties see."""
        return View(dict(enumerate(self.observer.agents)), self.observer.world, now, self._names)

    def look(self, now: SimTime, event: Event | None = None) -> bool:
        """See the network as it is before this moment, and return whether a node handles its event."""
        raise NotImplementedError

    def _wrap(self, _: Agent, handle: Handle) -> Handle:
        def look_and_handle(event: Event, now: SimTime) -> Iterable[Action]:
            return handle(event, now) if self.look(now, event) else ()

        return look_and_handle


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


class ManualRun(_ObservedRun):
    """Carries out a walk."""

    backend: ManualBackend

    def __init__(self, question: Question, walk: Walk) -> None:
        super().__init__(question, walk.transcript)
        self._quiet = walk.quiet
        self._work = ManualDriver(self.planned.timeline)
        self.backend = self._work.carrier(self.planned.scenario)
        self.backend.look = self.look
        # The first line of a timed transcript is no step.
        self._begins = self.starts[len(self.starts) + 1 - len(walk.quiet) :]
        self._snapshots: list[Snapshot] = []

    def run(self) -> WalkResult:
        """Run to the end; an error of the agent is part of the result."""
        try:
            self.carry_out(self._work.wrap, chance=self._work.chance)
            while len(self._snapshots) < len(self._quiet):
                self._take()
        except RoambusError as error:
            return WalkResult(tuple(self._snapshots), str(error))
        return WalkResult(tuple(self._snapshots))

    def look(self, now: SimTime, _: Event | None = None) -> bool:
        """Take the snapshots that are due."""
        while len(self._snapshots) < len(self._begins) and now >= self._begins[len(self._snapshots)]:
            self.observer.reach(self._begins[len(self._snapshots)] - 1)
            self._take()
        return True

    def _take(self) -> None:
        place, timeline = len(self._snapshots), self.planned.timeline
        if not place:
            self.observer.world = self.observer.world.without_history()
        begun = self._begins[place - 1] if place else timeline.manual_from
        now = timeline.moment(timeline.now if begun is None else begun)
        view = self.view(now)
        wrong = compared(self.must, view, self._quiet[place])
        timers = [[(max(0, timer.at - now), timer.key) for timer in agent.timers] for agent in self._work.agents]
        self._snapshots.append(snapshot(view, timers, self.backend.messages(), wrong))


@dataclass(frozen=True)
class RunRequest:
    """A run as a transcript; its last command is a probe if `is_probed`."""

    transcript: str
    is_probed: bool


@dataclass(kw_only=True)
class RunEnd:
    """The observations of a run, before its probe."""

    texts: list[list[str]] = field(default_factory=list)
    """The states of the agents after the setup, and at the end."""
    has_settled: bool = False
    """Whether nothing was under way at the end of the setup."""
    world: World = field(default_factory=partial(World.of, 0, ()))
    deliveries: str = ""
    wrong: dict[str, str] = field(default_factory=dict)
    """The violated properties, with reasons."""
    is_over: bool = False
    """Whether nothing was under way at the end."""
    is_slow: bool = False
    """Whether a timer has run out while a message was under way."""
    events: int = 0
    """How many were handled, up to a bound."""


class RealRun(_ObservedRun):
    """Carries out a transcript with times."""

    def __init__(self, question: Question, request: RunRequest) -> None:
        super().__init__(question, request.transcript)
        self.backend = make_ideal(self.planned.scenario)
        self._request, self._found, self._last = request, RunEnd(), -1
        limit = self.planned.scenario.time_limit
        self._marks = self.starts[0], self.starts[-1] if request.is_probed else limit

    def run(self) -> RunEnd:
        """Run to the end; an error of the agent is a violation."""
        try:
            self.carry_out()
        except AgentError as error:
            self._found.wrong = {RAISES: str(error)}
            return self._found
        self.look(self.planned.scenario.time_limit)
        if self._request.is_probed and self._found.is_over:
            published, delivered = self.observer.world.published[-1], self.observer.world.delivered
            if text := compare(published.due, delivered, published.notification.id, self._names):
                self._found.wrong[PROPERTIES["probes arrive"].name] = text
        return self._found

    def look(self, now: SimTime, event: Event | None = None) -> bool:
        """Judge the state after the instant before, and note the states at the beginning and the end."""
        found = self._found
        found.is_slow |= isinstance(event, TimerFired) and self.backend.under_way > 0
        found.events += 1
        if found.events > MOST_EVENTS:
            return False
        if now > self._last:
            self._last = now
            if len(found.texts) == 1:
                self.observer.reach(now - 1)
                self._judge(now, is_quiet=False)
            while len(found.texts) < len(self._marks) and now >= self._marks[len(found.texts)]:
                self._pass(self._marks[len(found.texts)])
        return True

    def _pass(self, mark: SimTime) -> None:
        found, observer = self._found, self.observer
        observer.reach(mark - 1)
        found.texts.append(list(map(state_text, observer.agents)))
        if len(found.texts) == 1:
            observer.world, found.has_settled = observer.world.without_history(), not self.backend.under_way
            return
        found.world, found.is_over = observer.world, not self.backend.under_way
        found.deliveries = ", ".join(
            f"{name} {'; '.join(item.shown for item in part)}"
            for name, part in snapshot(self.view(mark), (), {}, ()).items()
        )
        self._judge(mark, is_quiet=found.is_over and (self.is_idle or self._request.is_probed))

    def _judge(self, now: SimTime, *, is_quiet: bool) -> None:
        for name, text in compared(self.must, self.view(now), is_quiet):
            self._found.wrong.setdefault(name, text)
