"""Makes the runs of a sweep in worker processes of this machine.

- A worker loads common code once and forks a process for each run, so agents leave nothing behind.
- A killed run is made once more: the kernel may have killed it for another's memory. Twice is a failure.
- A worker that ends before it is ready costs its run nothing.
- Workers end with their parent, runs with their worker. Workers ignore Ctrl-C, which reaches all on a terminal: the
  parent ends them. They are spawned, and inherit nothing open.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from types import ModuleType

from roambus.bridge.agents import load_agent, own_agents
from roambus.bridge.backend import BackendFactory
from roambus.bridge.runs.run import RunPlan, run_key
from roambus.bridge.system.child_process import EndedError
from roambus.bridge.system.errors import RoambusError, UserError
from roambus.bridge.system.interrupts import NOTICED, termination_interrupts
from roambus.experiments.sweeps.attempts import attempt_in_child
from roambus.experiments.sweeps.runner import BEGUN, prepare

ATTEMPTS = 2
"""The attempts at a run whose process is killed."""
STILLBORN = 4
"""The command gives up after this many workers in a row that end before they are ready."""
KILLED = f"its process was killed {ATTEMPTS} times; use fewer --workers if memory ran out"
STOP_S = 10.0
"""The time for a stopped worker to clean up."""

_READY = True
"""A worker's first answer, which no run has."""

_spawn = multiprocessing.get_context("spawn")
_STARTING = threading.Lock()
"""Held while a worker starts: for that time this process is changed."""


@dataclass(frozen=True, slots=True)
class Processes:
    """Worker processes on this machine, as an `roambus.experiments.sweeps.runner.Executor`."""

    at_once: int

    def run(
        self, plans: Sequence[RunPlan], backend: BackendFactory, workspace: Path
    ) -> Generator[tuple[int, str | None]]:
        """Yield number and error of each ended run; leave no worker. Raises UserError, RoambusError, OSError."""
        prepare(plans[0], backend)
        pool = _Pool(deque(enumerate(plans)), backend, workspace)
        try:
            # To start a worker takes a second or so: there are no more of them than runs.
            pool.hire(min(self.at_once, len(plans)))
            while pool.workers:
                yield from pool.ended()
        finally:
            pool.dismiss()


@dataclass(slots=True)
class _Pool:
    """The workers, and the waiting runs: (number, plan)."""

    waiting: deque[tuple[int, RunPlan]]
    backend: BackendFactory
    workspace: Path
    workers: dict[Connection, _Worker] = field(default_factory=dict)
    killed: dict[int, int] = field(default_factory=dict)
    """How often each run's process, or its worker, was killed."""
    stillborn: int = 0
    """Workers in a row that ended before they were ready."""

    def hire(self, number: int) -> None:
        """Starts workers, and gives each a run."""
        for _ in range(number):
            worker = _Worker()
            self.workers[worker.connection] = worker
            self._occupy(worker)

    def ended(self) -> Iterator[tuple[int, str | None]]:
        """Wait until a run has ended or cost its worker; return numbers and errors."""
        for connection in wait(list(self.workers)):
            worker = self.workers[connection]  # type: ignore[index]  # only our connections are waited for
            number, plan = worker.task
            try:
                outcome = worker.connection.recv()
            except (EOFError, OSError):
                yield from self._replace(worker, number, plan)
                continue
            if isinstance(outcome, OSError):
                raise outcome
            if outcome is _READY:
                worker.is_ready, self.stillborn = True, 0
                yield BEGUN
            elif isinstance(outcome, EndedError):
                yield from self._count_killed(number, plan)
                self._occupy(worker)
            else:
                self._occupy(worker)
                yield number, outcome

    def dismiss(self) -> None:
        """Ends every worker at once."""
        # All are stopped before the first is waited for, so that they end side by side.
        for worker in self.workers.values():
            worker.process.terminate()
        for worker in self.workers.values():
            worker.end(STOP_S)
        self.workers.clear()

    def _replace(self, worker: _Worker, number: int, plan: RunPlan) -> Iterator[tuple[int, str | None]]:
        del self.workers[worker.connection]
        worker.end(0)
        # A worker that never was ready had not begun the run, so the run is not to blame.
        if worker.is_ready:
            yield from self._count_killed(number, plan)
        else:
            self.stillborn += 1
            if self.stillborn == STILLBORN:
                raise RoambusError("no worker process can start; their errors are above")
            self.waiting.append((number, plan))
        if self.waiting:
            self.hire(1)

    def _count_killed(self, number: int, plan: RunPlan) -> Iterator[tuple[int, str | None]]:
        self.killed[number] = self.killed.get(number, 0) + 1
        if self.killed[number] < ATTEMPTS:
            self.waiting.append((number, plan))
        else:
            yield number, KILLED

    def _occupy(self, worker: _Worker) -> None:
        if self.waiting:
            worker.task = _, plan = self.waiting.popleft()
            with suppress(OSError):  # it was killed: the next `recv` says so
                worker.connection.send((plan, self.backend, self.workspace, run_key(plan, self.backend)))
        else:
            del self.workers[worker.connection]
            worker.connection.close()
            worker.end(STOP_S)


class _Worker:
    task: tuple[int, RunPlan]
    is_ready = False
    """Whether the worker has said that it is ready."""

    def __init__(self) -> None:
        self.connection, theirs = _spawn.Pipe()
        self.process = _spawn.Process(target=_serve, args=(theirs,), daemon=True)
        with _STARTING, _interrupts_blocked(), _allowed_children(), _without_main():
            self.process.start()
        theirs.close()

    def end(self, patience_s: float) -> None:
        """Wait for the worker's end; kill it if that takes too long."""
        self.process.join(patience_s)
        self.process.kill()
        self.process.join()
        self.process.close()
        self.connection.close()


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Block Ctrl-C in this thread; a process started meanwhile never sees it, so its parent ends it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _allowed_children() -> Iterator[None]:
    """Let a daemonic process, such as a pool's, start workers; they end with it."""
    process = multiprocessing.current_process()
    before, process.daemon = process.daemon, False
    try:
        yield
    finally:
        process.daemon = before


@contextmanager
def _without_main() -> Iterator[None]:
    """Hide the running program: a spawned process would import it and repeat the sweep."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def _serve(connection: Connection) -> None:
    """Answer each run with its error, None, or the sweep-ending exception."""
    parent = multiprocessing.parent_process()
    if parent is not None:  # never: this is no main process
        threading.Thread(target=_exit_after, args=(parent.sentinel,), daemon=True).start()
    # Without memory it ends as if the kernel had killed it for lack of memory: its run waits for another worker.
    with suppress(EOFError, ConnectionError, KeyboardInterrupt, MemoryError), termination_interrupts():
        connection.send(_READY)
        task = connection.recv()
        prepare(*task[:2])
        while not NOTICED:  # a library may have swallowed it
            _load_own(task[0].agent)
            try:
                answer: str | OSError | EndedError | None = attempt_in_child(*task)
            except (OSError, EndedError) as error:
                answer = error
            connection.send(answer)
            task = connection.recv()


def _load_own(agent: str) -> None:
    """Import an agent of ours once for all runs; others could do anything to their processes."""
    if agent not in own_agents():
        return
    try:
        load_agent(agent)
    except UserError as error:  # one that is broken is reported by its own runs
        if isinstance(error.__cause__, MemoryError):
            raise error.__cause__ from None


def _exit_after(sentinel: int) -> None:
    wait([sentinel])
    os._exit(1)
