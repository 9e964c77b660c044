"""Makes the runs of a sweep on a Spark cluster: each run is a task of a job.

Spark ends a job as soon as one of its tasks has failed too often, which a run does that kills its executor. Then that
run is reported, and another job makes those that are left.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from pyspark import SparkContext

from roambus.bridge.backends.factory import BackendFactory
from roambus.bridge.errors import RoambusError, UserError
from roambus.bridge.process import SHIPMENT, private_folder
from roambus.bridge.runs.identity import run_key
from roambus.bridge.runs.plan import RunPlan
from roambus.experiments.sweeps.cluster.job import Job
from roambus.experiments.sweeps.cluster.shipment import pack, send
from roambus.experiments.sweeps.cluster.task import Task
from roambus.spark.engine.session import spark_session

PATIENCE_S = 20.0
"""How long nothing may begin before the user is told why that may be."""

NOTHING_BEGINS = (
    "no run has begun yet: the cluster is busy, or has no worker with a free core and the memory of an executor "
    "(spark.executor.memory, 1g unless set)"
)


@dataclass(frozen=True, slots=True)
class Cluster:
    """The executors of the Spark master at `url`, as a `roambus.experiments.sweeps.runner.Crew`."""

    url: str
    tell: Callable[[str], None]
    """Shows the user a line while the sweep goes on."""

    @property
    def at_once(self) -> int:
        """Only the cluster knows."""
        return 0

    def run(
        self, plans: Sequence[RunPlan], backend: BackendFactory, workspace: Path
    ) -> Generator[tuple[int, str | None]]:
        """Yields number and error of each run as it ends; a run that kills its executor each time has failed, too.

        Raises UserError if there is no cluster, or an executor cannot make runs; RoambusError if Spark gives up.
        """
        tasks = [_task(number, plan, backend, workspace) for number, plan in enumerate(plans)]
        with private_folder(SHIPMENT) as folder, spark_session(self.url) as session:
            archive = pack(folder)
            session.sparkContext.addFile(str(archive))
            yield from self._make(session.sparkContext, archive.name, dict(enumerate(tasks)))

    def _make(self, context: SparkContext, archive: str, waiting: dict[int, Task]) -> Generator[tuple[int, str | None]]:
        """Starts job after job, for Spark ends one as soon as one of its tasks has failed too often."""
        while waiting:
            job = Job(context, archive, list(waiting.values()))
            for number, error in self._outcomes(job):
                del waiting[number]
                yield number, error
            if job.failure is None:
                return
            number = _culprit(job)
            del waiting[number]
            yield number, f"it ended its executor whenever it was tried: {job.failure.message}"

    def _outcomes(self, job: Job) -> Iterator[tuple[int, str | None]]:
        told, start = False, time.monotonic()
        with closing(job.outcomes()) as outcomes:
            for outcome in outcomes:
                if outcome is not None:
                    number, error, unfit = outcome
                    if unfit is not None:
                        raise UserError(f"worker {unfit}")
                    yield number, error
                elif not told and time.monotonic() - start > PATIENCE_S:
                    told = True
                    if not job.has_begun():
                        self.tell(NOTHING_BEGINS)


def _task(number: int, plan: RunPlan, backend: BackendFactory, workspace: Path) -> Task:
    return Task(number, send(plan, workspace), backend, workspace.resolve(), run_key(plan, backend))


def _culprit(job: Job) -> int:
    """The run that cannot be made; raises RoambusError if the failure is none of a single run's."""
    if job.failure is None or job.failure.task is None or not job.failure.is_death:
        raise RoambusError(f"Spark gave up: {job.failure and job.failure.message}")
    return job.tasks[job.failure.task].number
