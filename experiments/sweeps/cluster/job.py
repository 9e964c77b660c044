"""Makes the runs of a sweep as one job of Spark, and tells their outcomes as they come."""

from __future__ import annotations

import pickle
import re
import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from itertools import count

from pyspark import InheritableThread, SparkContext, cloudpickle
from pyspark.accumulators import Accumulator

from roambus.experiments.sweeps.cluster import arrival
from roambus.experiments.sweeps.cluster.arrival import Outcome, Outcomes
from roambus.experiments.sweeps.cluster.task import Task

POLL_S = 0.2
STOP_S = 10.0
"""How long a cancelled job may take."""

_numbers = count()
cloudpickle.register_pickle_by_value(arrival)  # type: ignore[no-untyped-call]  # PySpark does not type its copy


@dataclass(frozen=True, slots=True)
class Failure:
    """Why Spark gave up: the task that failed too often, by its place among the tasks, and Spark's words."""

    task: int | None
    message: str

    @property
    def is_death(self) -> bool:
        """Whether the task's process died, and not of an error that it could tell."""
        return bool(re.search(r"ExecutorLostFailure|Python worker exited unexpectedly", self.message))


@dataclass(slots=True)
class Job:
    """Runs tasks; `outcomes` tells what came of them, then `failure` whether Spark gave up before the end."""

    context: SparkContext
    archive: str
    tasks: Sequence[Task]
    failure: Failure | None = None
    _accumulator: Accumulator[list[Outcome]] = field(init=False)
    _group: str = field(init=False)

    def __post_init__(self) -> None:
        self._accumulator = self.context.accumulator([], Outcomes())
        self._group = f"roambus sweep {next(_numbers)}"

    def has_begun(self) -> bool:
        """Whether any of its tasks has come to an executor."""
        tracker = self.context.statusTracker()
        stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
        return any(stage is not None and stage.numActiveTasks + stage.numCompletedTasks for stage in stages)

    def outcomes(self) -> Generator[Outcome | None]:
        """Each outcome as it comes, and None whenever there was none for a moment; closed, it cancels the job."""
        thread = InheritableThread(target=self._run, daemon=True)
        thread.start()
        told = 0
        try:
            while True:
                running = thread.is_alive()
                new = self._accumulator.value[told:]
                told += len(new)
                yield from new
                if not running:
                    return
                if not new:
                    yield None
                    time.sleep(POLL_S)
        finally:
            self._cancel(thread)

    def _cancel(self, thread: InheritableThread) -> None:
        if thread.is_alive():
            self.context.cancelJobGroup(self._group)
            thread.join(STOP_S)

    def _run(self) -> None:
        self.context.setJobGroup(self._group, self._group, interruptOnCancel=True)
        try:
            sent = [pickle.dumps(task) for task in self.tasks]
            work = arrival.worker(self.archive, Task.__module__, self._accumulator)
            self.context.parallelize(sent, len(sent)).foreachPartition(work)
        except Exception as error:  # whatever it was, the thread that started the job has to tell it
            self.failure = explain(str(error))


def explain(message: str) -> Failure:
    """What Spark's message, with the stack traces of Java and of Python in it, comes down to."""
    given_up = re.search(r"Task (\d+) in stage [\d.]+ failed \d+ times, most recent failure: (.*)", message, re.DOTALL)
    if given_up is None:
        return Failure(None, _first_line(message))
    where = re.search(r"\(([^ ()]+) executor", given_up[2])
    host = f"{where[1]}: " if where else ""
    return Failure(int(given_up[1]), host + _cause(given_up[2]))


def _cause(text: str) -> str:
    """The last line of Python's traceback if there is one, or what Java's exception says."""
    python = re.search(r"Traceback \(most recent call last\):\n(?:[ \n].*\n|\n)*(\S.*)", text)
    if python is not None:
        return python[1]
    java = _first_line(re.sub(r"^Lost task [^:]*: (org\.apache\.spark\.SparkException: )?", "", text))
    return java.partition(" Consider setting")[0]


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0]
