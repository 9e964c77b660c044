"""Makes the runs of a sweep on local processes.

Each worker is a process that has one run at a time made, in a process that it forks for the run: so no run finds
anything that an agent has left behind. A run whose process or worker is killed is made once more; if it is killed a
second time, it has failed. Workers end with their parent, and runs with their worker, however those end.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path

from roambus.bridge.agents import load_agent, own_agents
from roambus.bridge.backends.factory import BackendFactory
from roambus.bridge.errors import RoambusError
from roambus.bridge.process import termination_interrupts, termination_noticed
from roambus.bridge.runs.guard import EndedError
from roambus.bridge.runs.identity import RunPlan, run_key
from roambus.experiments.sweeps.attempts import attempt_apart
from roambus.experiments.sweeps.runner import BEGUN, prepare

ATTEMPTS = 2
STILLBORN = 4
"""So many workers in a row that end before they can do anything mean that none ever will."""
KILLED = f"its process was killed {ATTEMPTS} times; run again with fewer --workers if memory ran out"
STOP_S = 10.0
"""How long a worker that is told to stop may take to remove what it has begun."""

_READY = True
"""What a worker says first; no run has this answer."""

_spawn = multiprocessing.get_context("spawn")


@dataclass(frozen=True, slots=True)
class Processes:
    """So many worker processes on this machine, as a `roambus.experiments.sweeps.runner.Crew`."""

    workers: int

    @property
    def at_once(self) -> int:
        """As many as there are processes."""
        return self.workers

    def run(
        self, plans: Sequence[RunPlan], backend: BackendFactory, workspace: Path
    ) -> Generator[tuple[int, str | None]]:
        """Yields number and error of each run as it ends. At the end, however it comes, no worker is left.

        Raises UserError from the back-end's preparation, RoambusError if no worker starts, OSError if results cannot be
        written.
        """
        prepare(plans[0], backend)
        crew = _Crew(deque(enumerate(plans)), backend, workspace)
        try:
            crew.hire(min(self.workers, len(plans)))
            while crew.workers:
                yield from crew.ended()
        finally:
            crew.dismiss()


@dataclass(slots=True)
class _Crew:
    """The workers, and the runs that wait for one: (number, plan)."""

    waiting: deque[tuple[int, RunPlan]]
    backend: BackendFactory
    workspace: Path
    workers: dict[Connection, _Worker] = field(default_factory=dict)
    killed: dict[int, int] = field(default_factory=dict)
    """How often the process of each run, or its worker, was killed."""
    stillborn: int = 0
    """How many workers in a row ended before they were ready."""

    def hire(self, number: int) -> None:
        """Starts workers, and gives each a run."""
        for _ in range(number):
            worker = _Worker()
            self.workers[worker.connection] = worker
            self._occupy(worker)

    def ended(self) -> Iterator[tuple[int, str | None]]:
        """Waits until at least one run has ended or cost its worker; their numbers and errors."""
        for connection in wait(list(self.workers)):
            worker = self.workers[connection]  # type: ignore[index]  # only our connections are waited for
            number, plan = worker.task
            try:
                outcome = worker.connection.recv()
            except (EOFError, OSError):
                yield from self._replace(worker, number, plan)
                continue
            if outcome is _READY:
                worker.is_ready, self.stillborn = True, 0
                yield BEGUN
                continue
            if isinstance(outcome, OSError):
                raise outcome
            if isinstance(outcome, EndedError):
                yield from self._count_killed(number, plan)
                self._occupy(worker)
                continue
            self._occupy(worker)
            yield number, outcome

    def dismiss(self) -> None:
        """Ends every worker at once."""
        for worker in self.workers.values():
            worker.process.terminate()
        for worker in self.workers.values():
            worker.end(STOP_S)
        self.workers.clear()

    def _replace(self, worker: _Worker, number: int, plan: RunPlan) -> Iterator[tuple[int, str | None]]:
        del self.workers[worker.connection]
        worker.end(0)
        if worker.is_ready:
            yield from self._count_killed(number, plan)
        else:
            self._count_stillborn()
            self.waiting.append((number, plan))
        if self.waiting:
            self.hire(1)

    def _count_killed(self, number: int, plan: RunPlan) -> Iterator[tuple[int, str | None]]:
        self.killed[number] = self.killed.get(number, 0) + 1
        if self.killed[number] < ATTEMPTS:
            self.waiting.append((number, plan))
        else:
            yield number, KILLED

    def _count_stillborn(self) -> None:
        self.stillborn += 1
        if self.stillborn == STILLBORN:
            raise RoambusError("no worker process can start; what they say is above")

    def _occupy(self, worker: _Worker) -> None:
        if self.waiting:
            worker.task = self.waiting.popleft()
            plan = worker.task[1]
            worker.give(plan, self.backend, self.workspace, run_key(plan, self.backend))
        else:
            del self.workers[worker.connection]
            worker.connection.close()
            worker.end(STOP_S)


class _Worker:
    """A process that makes one run at a time, until there are no more."""

    task: tuple[int, RunPlan]
    is_ready = False
    """Whether the worker has said that it is ready."""

    def __init__(self) -> None:
        self.connection, theirs = _spawn.Pipe()
        self.process = _spawn.Process(target=_serve, args=(theirs,), daemon=True)
        with _interrupts_ignored():
            self.process.start()
        theirs.close()

    def give(self, plan: RunPlan, backend: BackendFactory, workspace: Path, key: str) -> None:
        """Gives the worker its next run, and the run's key."""
        with suppress(OSError):  # it was killed: the next `recv` says so
            self.connection.send((plan, backend, workspace, key))

    def end(self, patience_s: float) -> None:
        """Waits for the worker's end, and brings it about if that takes too long."""
        self.process.join(patience_s)
        self.process.kill()
        self.process.join()
        self.process.close()
        self.connection.close()


def _serve(connection: Connection) -> None:
    """What a worker does: answers each run with its error, None, or the exception that ends the sweep."""
    _end_with_parent()
    with suppress(EOFError, ConnectionError, KeyboardInterrupt), termination_interrupts():
        connection.send(_READY)
        task = connection.recv()
        _get_ready(task[0], task[1])
        while not termination_noticed():  # a library may have swallowed it
            connection.send(_answer(*task))
            task = connection.recv()


def _get_ready(plan: RunPlan, backend: BackendFactory) -> None:
    """Loads once what the processes of all runs need; of agents only our own, for others could do anything then."""
    prepare(plan, backend)
    for name in own_agents():
        load_agent(name)


def _answer(plan: RunPlan, backend: BackendFactory, workspace: Path, key: str) -> str | OSError | EndedError | None:
    try:
        return attempt_apart(plan, backend, workspace, key)
    except (OSError, EndedError) as error:
        return error


@contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """Processes started in here ignore Ctrl-C for ever: their parent ends them."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _end_with_parent() -> None:
    """A worker whose parent was killed ends at once, whatever it is doing."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_exit_after, args=(parent.sentinel,), daemon=True).start()


def _exit_after(sentinel: int) -> None:
    wait([sentinel])
    os._exit(1)
