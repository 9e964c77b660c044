"""Makes the runs of a sweep on a Spark cluster: each run is a task.

Executors write to the results folder, which all workers need under one path. Our package travels with the Spark
context, the user's files in the workspace; installed packages must be there.

Runs are attempts, so Spark may repeat tasks. Outcomes, agents' errors included, come by an accumulator that the driver
polls: task results come only at the job's end. A task that kills its executor ends the job; another makes the rest. A
machine without the folder, or with other code, ends the sweep.
"""

from __future__ import annotations

import fcntl
import inspect
import os
import pickle
import re
import shutil
import sys
import sysconfig
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import count
from pathlib import Path

import roambus.spark.engine  # noqa: F401  # refuses another PySpark before it is imported

# isort: split
from pyspark import InheritableThread, SparkContext
from pyspark.accumulators import Accumulator

from roambus.bridge.agents import load_agent
from roambus.bridge.backend import BackendFactory
from roambus.bridge.runs.run import RunPlan, run_key
from roambus.bridge.system.code import PACKAGE_FOLDER
from roambus.bridge.system.errors import RoambusError, UserError
from roambus.bridge.system.private_folder import SHIPMENT, private_folder
from roambus.experiments.sweeps.attempts import attempt
from roambus.experiments.sweeps.runner import prepare
from roambus.extensions.cluster.tasks import Outcome, Outcomes, worker
from roambus.spark.engine.session import spark_session
from roambus.spark.engine.shipment import pack

SHIPPED = "shipped"
"""The workspace folder of the user's files, from which executors import."""


def send(plan: RunPlan, workspace: Path) -> RunPlan:
    """The plan as an executor can make it, the user's files in the workspace. Raises OSError."""
    shipped = workspace / SHIPPED
    shipped.mkdir(exist_ok=True)
    return replace(
        plan,
        results=plan.results.resolve(),
        radio_file=_send_file(plan.radio_file, shipped),
        files=tuple((name, _send_file(file, shipped)) for name, file in plan.files),
        agent=_send_agent(plan.agent, shipped),
    )


def _send_agent(reference: str, shipped: Path) -> str:
    """Send a user's file or module; installed ones must be on the executors."""
    # An agent file can be anywhere, so its path is rewritten; a module is found by its name, which must stay as it is,
    # for the name is in the ini, and so in the key of the run.
    target, colon, name = reference.partition(":")
    if target.endswith(".py"):
        return f"{_send_file(Path(target), shipped)}{colon}{name}"
    source = Path(inspect.getfile(sys.modules[load_agent(reference).__module__.partition(".")[0]]))
    installed = [str(PACKAGE_FOLDER), *map(sysconfig.get_path, ("purelib", "platlib", "stdlib"))]
    if any(source.is_relative_to(place) for place in installed):
        return reference
    if source.name != "__init__.py":
        shutil.copyfile(source, shipped / source.name)
    elif not (shipped / source.parent.name).exists():
        shutil.copytree(source.parent, shipped / source.parent.name, ignore=shutil.ignore_patterns("__pycache__"))
    return reference


def _send_file(file: Path, shipped: Path) -> Path:
    content = file.read_bytes()
    # Two files of one name can be sent, and the same file by many runs.
    target = shipped / sha256(content).hexdigest()[:16] / file.name
    target.parent.mkdir(exist_ok=True)
    target.write_bytes(content)
    return target.resolve()


@dataclass(frozen=True, slots=True)
class Task:
    """A run as it is sent; paths are absolute, within reach of every executor."""

    number: int
    plan: RunPlan
    backend: BackendFactory
    workspace: Path
    key: str
    """The run's key where the sweep was started."""


def make(sent: bytes) -> Outcome:
    """Make the run of a pickled Task. Raises OSError for unwritable results."""
    task: Task = pickle.loads(sent)  # noqa: S301  # from our own driver, by Spark's authenticated way
    if problem := _unfit(task):
        return task.number, None, f"{os.uname().nodename}: {problem}"
    return task.number, attempt(task.plan, task.backend, task.workspace), None


def _unfit(task: Task) -> str | None:
    """Why this process cannot make the planned run, or None. The key is last: it imports the agent."""
    if not task.workspace.is_dir():
        return f"the executor does not see {task.plan.results}: choose an --out that all workers have under this path"
    # Behind everything else: no file of the user's hides a package that is installed here.
    shipped = str(task.workspace / SHIPPED)
    if shipped not in sys.path:
        sys.path.append(shipped)
    try:
        _prepare_once(task)
        key = run_key(task.plan, task.backend)
    except UserError as error:
        return str(error)
    return None if key == task.key else f"agent {task.plan.agent} is another version there: install the same one"


_prepared: set[str] = set()


def _prepare_once(task: Task) -> None:
    """The process's back-end; the cluster's first compiles, the others reuse it."""
    if task.backend.name not in _prepared:
        with (task.workspace / "preparing").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            shared = task.workspace / "compiled"
            _copy_compiled(shared, PACKAGE_FOLDER)
            prepare(task.plan, task.backend)
            _copy_compiled(PACKAGE_FOLDER, shared)
        _prepared.add(task.backend.name)


def _copy_compiled(source: Path, target: Path) -> None:
    for file in source.rglob("*.nb[ci]"):
        copy = target / file.relative_to(source)
        if not copy.is_file():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, unfinished := copy.with_name(f"{copy.name}.{os.getpid()}"))
            unfinished.replace(copy)


POLL_S = 0.2
"""How often the driver looks at the accumulator."""
STOP_S = 10.0
"""How long a cancelled job may take."""

_numbers = count()


@dataclass(frozen=True, slots=True)
class SparkFailure:
    """Why Spark gave up: the failing task's place, and Spark's message."""

    task: int | None
    message: str

    @property
    def is_death(self) -> bool:
        """Whether the task's process died without an error to report."""
        return bool(re.search(r"ExecutorLostFailure|Python worker exited unexpectedly", self.message))


@dataclass(slots=True)
class SparkJob:
    """Runs tasks; `outcomes` yields outcomes, then `failure` is set if Spark gave up."""

    context: SparkContext
    archive: str
    tasks: Sequence[Task]
    failure: SparkFailure | None = None
    _accumulator: Accumulator[list[Outcome]] = field(init=False)
    _group: str = field(init=False)

    def __post_init__(self) -> None:
        self._accumulator = self.context.accumulator([], Outcomes())
        self._group = f"roambus sweep {next(_numbers)}"

    def has_begun(self) -> bool:
        """Whether any of its tasks has reached an executor."""
        tracker = self.context.statusTracker()
        stages = filter(None, map(tracker.getStageInfo, tracker.getActiveStageIds()))
        return any(stage.numActiveTasks + stage.numCompletedTasks for stage in stages)

    def outcomes(self) -> Generator[Outcome | None]:
        """Each outcome, and None after a moment without; closing cancels the job."""
        thread = InheritableThread(target=self._run, daemon=True)
        thread.start()
        seen = 0
        try:
            while True:
                # It is asked first: what came between the last look and the end of the job is still seen.
                running = thread.is_alive()
                new = self._accumulator.value[seen:]
                seen += len(new)
                yield from new
                if not running:
                    return
                if not new:
                    yield None
                    time.sleep(POLL_S)
        finally:
            if thread.is_alive():
                self.context.cancelJobGroup(self._group)
                thread.join(STOP_S)

    def _run(self) -> None:
        """Wait for the job in its own thread: a job group belongs to its thread."""
        self.context.setJobGroup(self._group, self._group, interruptOnCancel=True)
        try:
            tasks = self.context.parallelize(map(pickle.dumps, self.tasks), len(self.tasks))
            tasks.foreachPartition(worker(self.archive, Task.__module__, self._accumulator))
        except Exception as error:  # whatever it was, the thread that started the job has to report it
            self.failure = explain(str(error))


def explain(message: str) -> SparkFailure:
    """The useful line of Spark's message with Java and Python stack traces."""
    given_up = re.search(r"Task (\d+) in stage [\d.]+ failed \d+ times, most recent failure: (.*)", message, re.DOTALL)
    if given_up is None:
        return SparkFailure(None, _first_line(message))
    where = re.search(r"\(([^ ()]+) executor", given_up[2])
    return SparkFailure(int(given_up[1]), (f"{where[1]}: " if where else "") + _cause(given_up[2]))


def _cause(text: str) -> str:
    python = re.search(r"Traceback \(most recent call last\):\n(?:[ \n].*\n|\n)*(\S.*)", text)
    if python is not None:
        return python[1]
    java = re.sub(r"^Lost task [^:]*: (org\.apache\.spark\.SparkException: )?", "", text)
    return _first_line(java).partition(" Consider setting")[0]


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0]


PATIENCE_S = 20.0
"""How long nothing may begin before the user gets a likely reason."""

NOTHING_BEGINS = (
    "no run has begun yet: the cluster is busy, or has no worker with a free core and the memory of an executor "
    "(spark.executor.memory, 1g unless set)"
)
COMPILING = "no run has ended yet: executors compile the radio when they first use it, which takes a minute or two"


@dataclass(frozen=True, slots=True)
class Cluster:
    """The executors of the Spark master at `url`, as an `Executor` of `runner`."""

    url: str
    remark: Callable[[str], None]
    """Shows the user a line during the sweep."""
    at_once: int = field(default=0, init=False)
    """Only the cluster knows."""

    def run(
        self, plans: Sequence[RunPlan], backend: BackendFactory, workspace: Path
    ) -> Generator[tuple[int, str | None]]:
        """Yield number and error of each run as it ends; raises UserError, RoambusError."""
        tasks = {
            number: Task(number, send(plan, workspace), backend, workspace.resolve(), run_key(plan, backend))
            for number, plan in enumerate(plans)
        }
        with private_folder(SHIPMENT) as folder, spark_session(self.url) as session:
            archive = pack(folder)
            session.sparkContext.addFile(str(archive))
            yield from self._make(session.sparkContext, archive.name, tasks)

    def _make(self, context: SparkContext, archive: str, waiting: dict[int, Task]) -> Generator[tuple[int, str | None]]:
        """Start job after job: Spark ends one when a task has failed too often."""
        while waiting:
            job = SparkJob(context, archive, list(waiting.values()))
            for number, error in self._outcomes(job):
                del waiting[number]
                yield number, error
            # The run that killed its executor is given up. The others may have done nothing but share that executor.
            failure = job.failure
            if failure is None:
                return
            if failure.task is None or not failure.is_death:
                raise RoambusError(f"Spark gave up: {failure.message}")
            number = job.tasks[failure.task].number
            del waiting[number]
            yield number, f"it ended its executor at every attempt: {failure.message}"

    def _outcomes(self, job: SparkJob) -> Iterator[tuple[int, str | None]]:
        """Yield the job's outcomes, and say once why it stalls. Raises UserError for an unfit worker."""
        is_said, start = False, time.monotonic()
        with closing(job.outcomes()) as outcomes:
            for outcome in outcomes:
                if outcome is not None:
                    number, error, unfit = outcome
                    if unfit is not None:
                        raise UserError(f"worker {unfit}")
                    yield number, error
                elif not is_said and time.monotonic() - start > PATIENCE_S:
                    is_said = True
                    self.remark(COMPILING if job.has_begun() else NOTHING_BEGINS)
