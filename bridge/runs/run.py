"""Makes one run, which leaves a folder with its trace, its ini, the files that the ini names, and a log.

The trace holds the run's key, so that whether a run is complete can be told from one file. A run that failed leaves a
log with its error and the file `failed`, which holds the key.
"""

from __future__ import annotations

import resource
import shutil
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from roambus.bridge.agents.registry import load_agent
from roambus.bridge.backends.castalia.files import INI_FILE, SIMULATOR_FOLDER, SIMULATOR_LOG
from roambus.bridge.backends.factory import BackendFactory
from roambus.bridge.backends.interface import Backend
from roambus.bridge.errors import RoambusError, UserError
from roambus.bridge.host.host import Host
from roambus.bridge.ini import read_scenario
from roambus.bridge.record.record_file import RECORD_FILE
from roambus.bridge.record.recorder import recorded
from roambus.bridge.runs.identity import RUN_KEY, run_key
from roambus.bridge.runs.plan import RunPlan
from roambus.bridge.trace.writer import TraceWriter
from roambus.bridge.unfinished_file import check_replaceable

TRACE_FILE = "trace.parquet"
LOG_FILE = "run.log"
FAILED_FILE = "failed"


def is_complete(folder: Path, key: str) -> bool:
    """Whether the folder holds the trace of just this run."""
    trace = folder / TRACE_FILE
    if not trace.is_file():
        return False
    try:
        metadata = pq.read_schema(trace).metadata or {}
    except pa.ArrowInvalid:  # somebody else's file, or a broken disk
        return False
    return bool(metadata.get(RUN_KEY.encode()) == key.encode())


def has_failed(folder: Path, key: str) -> bool:
    """Whether just this run failed the last time."""
    marker = folder / FAILED_FILE
    return marker.is_file() and marker.read_text(encoding="utf-8") == key


def execute(plan: RunPlan, backend: BackendFactory) -> None:
    """Makes the run, and leaves either a whole trace or a log with the error, which is raised again.

    Raises RoambusError, or whatever a broken agent or back-end raises. Raises OSError if the folder cannot be written;
    then, as after KeyboardInterrupt, nothing is left behind unless the trace was whole already.
    """
    key = run_key(plan, backend)
    try:
        with errors_named(plan.folder):
            _prepare(plan)
            _run(plan, key, backend)
    except KeyboardInterrupt:
        if not is_complete(plan.folder, key):
            discard(plan)
        raise
    except OSError:
        discard(plan)
        raise
    except Exception as error:
        _record_failure(plan.folder, key, error)
        raise


def _prepare(plan: RunPlan) -> None:
    plan.folder.mkdir(parents=True, exist_ok=True)
    discard_files(plan.folder)
    write_inputs(plan, plan.folder)


def write_inputs(plan: RunPlan, folder: Path) -> None:
    """Writes the ini and the files that it names; raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    _write_anew(folder / INI_FILE, plan.ini.encode())
    for name, file in ((plan.radio_file.name, plan.radio_file), *plan.movements):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        _write_anew(folder / name, file.read_bytes())


def _write_anew(file: Path, content: bytes) -> None:
    """Writes a file of its own, not one to which somebody's link of this name leads."""
    check_replaceable(file)
    file.unlink(missing_ok=True)
    file.write_bytes(content)


def _run(plan: RunPlan, key: str, backend: BackendFactory) -> None:
    start, cpu = time.monotonic(), time.process_time()
    scenario = read_scenario(plan.folder / INI_FILE)
    trace = TraceWriter(plan.level)
    agent = load_agent(plan.agent)
    carrier: Backend = backend.make(scenario, agent, plan.folder)
    if plan.record:
        carrier = recorded(carrier, plan.folder, scenario, plan.agent, plan.level)
    Host(scenario, agent, carrier, trace).run()
    used = (
        f"{time.monotonic() - start:.2f} s, {time.process_time() - cpu:.2f} s of CPU, {_peak_memory_mib()} MiB at most"
    )
    text = f"agent {scenario.agent or plan.agent}, seed {plan.seed}: complete in {used}\n"
    (plan.folder / LOG_FILE).write_text(text, encoding="utf-8")
    trace.write(plan.folder / TRACE_FILE, {RUN_KEY: key})  # last, for it is what makes a run complete


def _peak_memory_mib() -> int:
    """The most memory that this process has used so far, in earlier runs or in this one."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def _record_failure(folder: Path, key: str, error: Exception) -> None:
    known = isinstance(error, RoambusError)
    text = f"{error}\n" if isinstance(error, UserError) else "".join(traceback.format_exception(error))
    (folder / LOG_FILE).write_text(f"error: {error}\n\n{text}" if known else text, encoding="utf-8")
    (folder / FAILED_FILE).write_text(key, encoding="utf-8")


@contextmanager
def errors_named(path: Path) -> Iterator[None]:
    """Gives an OSError that names no file, such as that of a full disk, the name of `path`."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, error.filename or str(path)) from error


def discard_files(folder: Path) -> None:
    """Removes what earlier runs, finished or killed, left in the folder, and nothing else."""
    whole = (TRACE_FILE, RECORD_FILE)
    for pattern in (*whole, *(f".{name}.*" for name in whole), FAILED_FILE, LOG_FILE, SIMULATOR_LOG, INI_FILE):
        for file in folder.glob(pattern):
            file.unlink()
    shutil.rmtree(folder / SIMULATOR_FOLDER, ignore_errors=True)


def discard(plan: RunPlan) -> None:
    """Removes an unfinished run's folder, and the folders between it and the results that are then empty."""
    shutil.rmtree(plan.folder, ignore_errors=True)
    for depth in range(len(plan.place.parents) - 1):
        try:
            (plan.results / plan.place.parents[depth]).rmdir()
        except OSError:
            return
