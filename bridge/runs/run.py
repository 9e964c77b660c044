"""Makes one run, which leaves a folder with its trace, its ini, the files that the ini names, and a log.

1. The trace holds the run's key, so that whether a run is complete can be told from one file. It is written last, and
   in one step: a run that is killed has no trace, and is made again.
2. A run that failed leaves a log with its error and the file `failed`, which holds the key: so it is told from one that
   was never made, and from one that failed before its agent was corrected.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from enum import Enum
from itertools import chain
from pathlib import Path
from typing import NamedTuple, TypeVar

import pyarrow as pa

from roambus.bridge.agents import load_agent
from roambus.bridge.backend import Backend, BackendFactory, Framing, beyond_of, is_foreign
from roambus.bridge.errors import peak_memory_mib
from roambus.bridge.files import check_replaceable
from roambus.bridge.host.agents import parameters_of
from roambus.bridge.host.event_loop import Host
from roambus.bridge.ini import read_scenario
from roambus.bridge.runs.child import EndedError, run_in_child
from roambus.bridge.runs.identity import RunPlan, run_key
from roambus.bridge.runs.layout import (
    FAILED_FILE,
    INI_FILE,
    LOG_FILE,
    NODES_FOLDER,
    RECORD_FILE,
    SIMULATOR_FOLDER,
    SIMULATOR_LOG,
    TRACE_FILE,
    unlinked_below,
)
from roambus.bridge.runs.log import log_of, log_of_failure, version_of_code
from roambus.bridge.runs.side_effects import shared_generators_unused
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.trace.parquet import DamagedTraceError, TraceWriter, damage_of, read_footer
from roambus.bridge.trace.schema import AIR, MIGRATION_MESSAGES, RUN_KEY, USUAL_AIR, WARM_UP, About
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.settings import format_parameters
from roambus.python_protocol.vocabulary import SECOND

T = TypeVar("T")


class Driven(NamedTuple):
    """What the back-end calls itself, and what a user should know of the run."""

    simulator: str
    remarks: Sequence[str] = ()
    framing: Framing | None = None


Drive = Callable[[RunPlan, Scenario, type[Agent], TraceWriter, BackendFactory], Driven]
"""Has the agents of a run do what they do, and fills its trace."""


def drive_host(
    plan: RunPlan, scenario: Scenario, agent: type[Agent], trace: TraceWriter, backend: BackendFactory
) -> Driven:
    """Drives all agents by one host, over one back-end."""
    carrier: Backend = backend.make(scenario, agent, plan.folder)
    if is_foreign(backend):
        from roambus.bridge.checked_backend import CheckedBackend  # noqa: PLC0415  # ours need no check

        carrier = CheckedBackend(carrier, backend.name, getattr(backend, "deadline_s", None))
    if plan.record is not None:
        carrier = plan.record(carrier, plan.folder, scenario, plan.agent, plan.level)
    host = Host(scenario, agent, carrier, trace, check=plan.check)
    with shared_generators_unused(scenario.agent or plan.agent):
        host.run()
    return Driven(host.simulator, list(_too_long(host.failures)), host.framing)


def _too_long(failures: Mapping[str, int]) -> Iterator[str]:
    """Warn of messages that no frame has room for: a protocol whose every message is too long sends nothing."""
    for reason, count in failures.items():
        if "longer than" in reason:
            yield f"{count} messages were not sent: {reason}"


def execute(plan: RunPlan, backend: BackendFactory, key: str | None = None, drive: Drive = drive_host) -> None:
    """Makes the run, and leaves either a whole trace or a log with the error, which is raised again.

    `key` is the run's, if somebody has worked it out already. Live runs have their own way to `drive` the agents.

    Raises RoambusError, or whatever a broken agent or back-end raises. Raises OSError if the folder cannot be written;
    then, as after KeyboardInterrupt, nothing is left behind unless the trace was whole already.
    """
    key = key or run_key(plan, backend)
    try:
        with errors_named(plan.folder):
            _prepare(plan)
            _run(plan, key, backend, drive)
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
    # First of all, so that whatever fails from here on leaves no trace of an earlier run in the folder.
    discard_files(plan.folder)
    write_inputs(plan, plan.folder)


def write_inputs(plan: RunPlan, folder: Path) -> None:
    """Writes the ini and the files that it names; raises OSError, and UserError for a link where a folder should be."""
    folder.mkdir(parents=True, exist_ok=True)
    _write_anew(folder / INI_FILE, plan.ini.encode())
    for name, file in ((plan.radio_file.name, plan.radio_file), *plan.files):
        copy = unlinked_below(folder, Path(name))
        copy.parent.mkdir(parents=True, exist_ok=True)
        _write_anew(copy, file.read_bytes())


def _write_anew(file: Path, content: bytes) -> None:
    """Writes a file of its own, not one to which somebody's link of this name leads."""
    check_replaceable(file)
    file.unlink(missing_ok=True)
    file.write_bytes(content)


def _run(plan: RunPlan, key: str, backend: BackendFactory, drive: Drive) -> None:
    start, cpu = time.monotonic(), time.process_time()
    scenario = read_scenario(plan.folder / INI_FILE, beyond_of(backend))
    trace = TraceWriter(plan.level)
    agent = load_agent(plan.agent)
    driven = drive(plan, scenario, agent, trace, backend)
    seconds, cpu_seconds = time.monotonic() - start, time.process_time() - cpu
    used = f"{seconds:.2f} s, {cpu_seconds:.2f} s of CPU, {peak_memory_mib()} MiB at most"
    log = log_of(scenario, f"agent {scenario.agent or plan.agent}, seed {plan.seed}", used, driven.remarks)
    (plan.folder / LOG_FILE).write_text(log, encoding="utf-8")
    about = _about(plan, scenario, agent, backend.name, driven.simulator)
    warm_up = {WARM_UP: repr(scenario.warm_up / SECOND)} if scenario.warm_up else {}
    air = _air(scenario, driven.framing)
    # Last, for it is what makes a run complete.
    trace.write(plan.folder / TRACE_FILE, {RUN_KEY: key, **warm_up, **air, **_migrations(agent), **about.metadata()})


def _air(scenario: Scenario, framing: Framing | None) -> dict[str, str]:
    """What a frame is on the air, if it is not what metrics take for granted."""
    if framing is None:
        return {}
    air = framing.header_bytes, framing.bits_per_second or scenario.radio.data_rate_bps
    return {} if air == USUAL_AIR else {AIR: f"{air[0]} {air[1]}"}


def _migrations(agent: type[Agent]) -> dict[str, str]:
    """The message types by which metrics count the cost of migrations."""
    names = " ".join(message.message_type for message in agent.migration_messages)
    return {MIGRATION_MESSAGES: names} if names else {}


def _about(plan: RunPlan, scenario: Scenario, agent: type[Agent], backend: str, simulator: str) -> About:
    shared, others = parameters_of(scenario, agent)
    values = format_parameters(shared)
    return About(
        agent=Path(scenario.agent or plan.agent).name,  # of a file of the user's own, wherever it lies
        parameters=values,
        node_parameters={
            str(node): dict(format_parameters(own).items() - values.items()) for node, own in others.items()
        },
        template=plan.origin.template,
        settings=dict(plan.origin.settings),
        seed=plan.seed,
        level=plan.level.value,
        backend=backend,
        simulator=simulator,
        version=plan.origin.version or version_of_code(),
    )


def _record_failure(folder: Path, key: str, error: Exception) -> None:
    log = folder / LOG_FILE
    log.write_text(log_of_failure(error), encoding="utf-8", errors="backslashreplace")  # an agent has raised with it
    (folder / FAILED_FILE).write_text(key, encoding="utf-8")


# What there is of a run


def is_complete(folder: Path, key: str) -> bool:
    """Whether the folder holds the trace of just this run."""
    return trace_state(folder, key) is TraceState.COMPLETE


class TraceState(Enum):
    """What there is of a run: nothing, the trace of another run, a damaged trace, or the whole trace of just this."""

    MISSING = "missing"
    DAMAGED = "damaged"
    ANOTHER = "another run's"
    COMPLETE = "complete"


def trace_state(folder: Path, key: str) -> TraceState:
    """What the folder holds of the run with this key; the trace is read to its end, for damage can be anywhere.

    A footer that says the right key is not enough: a disk that was full, or a copy that broke off, damages pages before
    it.
    """
    trace = folder / TRACE_FILE
    if not os.path.lexists(trace):
        return TraceState.MISSING
    try:
        if read_footer(trace).metadata.get(RUN_KEY) != key:
            return TraceState.ANOTHER
    except DamagedTraceError:
        return TraceState.DAMAGED
    return TraceState.DAMAGED if damage_of(trace) else TraceState.COMPLETE


def has_failed(folder: Path, key: str) -> bool:
    """Whether just this run failed the last time."""
    marker = folder / FAILED_FILE
    return marker.is_file() and marker.read_bytes() == key.encode()


# What is left of a run


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
    ours = (FAILED_FILE, LOG_FILE, SIMULATOR_LOG, INI_FILE, SIMULATOR_FOLDER, NODES_FOLDER)
    patterns = (*whole, *(f".{name}.*" for name in whole), *ours)
    for file in chain.from_iterable(map(folder.glob, patterns)):
        if file.is_dir() and not file.is_symlink():  # the simulator's, or what somebody has put in a file's place
            shutil.rmtree(file)
        else:
            file.unlink()


def discard(plan: RunPlan) -> None:
    """Removes an unfinished run's folder, and the folders between it and the results that are then empty."""
    shutil.rmtree(plan.folder, ignore_errors=True)
    with suppress(OSError):  # the first that is not empty
        for parent in list(plan.place.parents)[:-1]:
            (plan.results / parent).rmdir()


# Runs in a child process


def execute_in_child(plan: RunPlan, backend: BackendFactory) -> None:
    """Do what `execute` does in a child process; raises EndedError, too, if the agent ends that process."""
    try:
        run_alone(lambda: execute(plan, backend))
    except EndedError as error:
        raise error if error.was_killed else record_ended(plan, backend, error) from None


def run_alone(make: Callable[[], T]) -> T:
    """Do what `run_in_child` does, for the `make` of a run."""
    pa.array([0])  # loads pandas, where it is there: else each run would do so while a simulator waits
    return run_in_child(make)


def record_ended(plan: RunPlan, backend: BackendFactory, ended: EndedError) -> EndedError:
    """Leave a log with the error of a run whose agent has ended the run's process; return that error."""
    culprit = f", or the back-end {backend.name}," if is_foreign(backend) else ""
    error = EndedError(ended.status, f"agent {plan.agent}{culprit}")
    _prepare(plan)
    _record_failure(plan.folder, run_key(plan, backend), error)
    return error
