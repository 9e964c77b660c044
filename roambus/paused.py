"""A run that pauses, for a program that decides while it runs: a learner, a tuner, a cell of a notebook.

    with roambus.paused_run("field", MyAgent, settings={"nodes": 12}, seed=3) as run:
        while run.advance(1.0):
            for agent in run.agents:
                agent.forwards = agent.heard < 3

The run has a thread of its own, and one of the two threads waits at any time. A pause is an instant at which the
back-end has to stop although no event of the host is due, so a run is the same with pauses and without. It leaves no
files: `roambus.run` makes results. docs/guide/learning.md has two examples.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory
from typing import Any

from roambus.bridge.agents import load_agent
from roambus.bridge.backend import Backend, Hello, Step, Totals, Transmission, calling
from roambus.bridge.host.event_loop import Host
from roambus.bridge.runs.run import write_inputs
from roambus.bridge.system.errors import UserError
from roambus.bridge.trace.parquet import TraceLevel, TraceWriter
from roambus.console.options import factory_of
from roambus.experiments.sweeps.runner import plan_runs, prepare
from roambus.notebook import AnyAgent, Settings, one_point
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.simtime import SimTime, from_seconds, to_seconds

LONGEST_S = 1e6
"""Of one advance: no scenario lasts longer."""


class _AbandonedError(Exception):
    """Ends the run's thread, because nobody goes on with it."""


class _PausingBackend:
    """A back-end that stops at the pauses, too, and there hands over to the other thread."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self.pauses: SimpleQueue[SimTime | None] = SimpleQueue()
        """The times of further pauses; None abandons the run."""
        self.reached: SimpleQueue[BaseException | bool] = SimpleQueue()
        """True at a pause; False at the end, or the error that ended the run."""
        self.pause: SimTime = 0
        self.now: SimTime = -1

    def open(self) -> Hello:
        return self._backend.open()

    def advance(self, transmissions: Sequence[Transmission], wake_up: SimTime | None) -> Step | None:
        while True:
            if self.now >= self.pause:
                self._hand_over()
            due = wake_up is not None and wake_up <= self.pause
            step = self._backend.advance(transmissions, wake_up if due else self.pause)
            if step is None:
                return None
            self.now = step.now
            if due or step.now < self.pause or any(step[1:]):
                return step
            transmissions = ()

    def _hand_over(self) -> None:
        gc.enable()  # the host has paused the collector, and the program may need it
        self.reached.put(True)
        pause = self.pauses.get()
        gc.disable()
        if pause is None:
            raise _AbandonedError
        self.pause = pause

    def fail(self, error: BaseException) -> None:
        self._backend.fail(error)

    def close(self) -> Totals:
        return self._backend.close()


class PausedRun:
    """A run under way, with its `agents` by node; outside `advance` they wait, and may be read and changed."""

    def __init__(self, host: Host, backend: _PausingBackend, end: SimTime) -> None:
        self._backend = backend
        self._end = end
        self._now: SimTime = 0
        self._ended = False
        self._is_waiting = True
        """Whether the run's thread waits for a further pause, as far as this one has heard."""
        self.agents: Sequence[Agent] = host.agents
        self._thread = threading.Thread(target=self._run, args=(host,), daemon=True)

    @property
    def now(self) -> float:
        """The run's time in s."""
        return to_seconds(self._now)

    def advance(self, seconds: float) -> bool:
        """Run on for so long; return whether there is more to come. Raise AgentError, BackendError, UserError."""
        given: Any = seconds  # a notebook has no type checker
        if not isinstance(given, int | float) or isinstance(given, bool) or not 0 < seconds <= LONGEST_S:
            raise UserError(f"advance({seconds!r}): give the seconds to run on, above 0")
        self._wait()  # of an advance that Ctrl-C has ended the run may still be on its way
        if self._ended:
            return False
        pause = self._backend.pause + from_seconds(seconds)
        self._is_waiting = False
        if self._thread.ident is None:
            self._backend.pause = pause
            self._thread.start()
        else:
            self._backend.pauses.put(pause)
        self._wait()
        return not self._ended

    def _wait(self) -> None:
        """Wait until the run waits, or has ended; raise what ended it."""
        if self._is_waiting:
            return
        reached = self._backend.reached.get()
        self._is_waiting, self._ended = True, reached is not True
        if isinstance(reached, BaseException):
            self._now = max(self._backend.now, 0)
            raise reached
        self._now = self._end if self._ended else self._backend.pause

    def _run(self, host: Host) -> None:
        try:
            host.run()
        except BaseException as error:  # raised in the other thread
            self._backend.reached.put(error)
        else:
            self._backend.reached.put(False)

    def close(self) -> None:
        """End the run where it is."""
        is_waiting = self._thread.ident is not None and not self._ended
        self._ended = True
        if is_waiting:
            self._backend.pauses.put(None)
            self._thread.join()


@contextmanager
def paused_run(
    template: str | PathLike[str],
    agent: AnyAgent,
    *,
    settings: Settings | None = None,
    seed: int = 0,
    backend: str | None = None,
) -> Iterator[PausedRun]:
    """Begin a run as `roambus.run` makes it, which waits at its start; raise UserError for what it refuses."""
    with TemporaryDirectory(prefix="roambus-") as place:
        asked = one_point(template, agent, settings, [seed], Path(place))
        factory = factory_of(backend or asked.backend)
        (plan,) = plan_runs(asked, Path(place), backend=factory)
        scenario = prepare(plan, factory)
        write_inputs(plan, plan.folder)
        kind = agent if isinstance(agent, type) else load_agent(plan.agent)
        with calling(factory, "make"):
            pausing = _PausingBackend(factory.make(scenario, kind, plan.folder))
        run = PausedRun(Host(scenario, kind, pausing, TraceWriter(TraceLevel.APP)), pausing, scenario.time_limit)
        try:
            yield run
        finally:
            run.close()
