"""Makes one run on an executor of a Spark cluster.

The first task of a process prepares the back-end. A run is made only if its key is the same as where the sweep was
started, which it is if agent and roambus are of the same version.
"""

from __future__ import annotations

import fcntl
import os
import pickle
import sys
from dataclasses import dataclass
from pathlib import Path

from roambus.bridge.backends.factory import BackendFactory
from roambus.bridge.errors import UserError
from roambus.bridge.runs.identity import run_key
from roambus.bridge.runs.plan import RunPlan
from roambus.experiments.sweeps.attempts import attempt
from roambus.experiments.sweeps.cluster.arrival import Outcome
from roambus.experiments.sweeps.cluster.shipment import SHIPPED
from roambus.experiments.sweeps.runner import prepare


@dataclass(frozen=True, slots=True)
class Task:
    """A run as it is sent; all paths are absolute, and below a folder that every executor must reach."""

    number: int
    plan: RunPlan
    backend: BackendFactory
    workspace: Path
    key: str
    """The run's key where the sweep was started."""


def make(sent: bytes) -> Outcome:
    """Makes the run of a pickled Task. Raises OSError if its results cannot be written."""
    task: Task = pickle.loads(sent)  # noqa: S301  # from our own driver, by Spark's authenticated way
    problem = _unfit(task)
    if problem is not None:
        return task.number, None, f"{os.uname().nodename}: {problem}"
    return task.number, attempt(task.plan, task.backend, task.workspace), None


def _unfit(task: Task) -> str | None:
    if not task.workspace.is_dir():
        return f"the executor does not see {task.plan.results}: choose an --out that every worker has under this path"
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
    """The back-end of this process; the first one on a machine compiles, and the others wait for what comes of it."""
    if task.backend.name in _prepared:
        return
    with Path(__file__).with_name("preparing").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        prepare(task.plan, task.backend)
    _prepared.add(task.backend.name)
