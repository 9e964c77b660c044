"""A run: its plan, its key, and how it is made in a folder with the trace, the ini, the ini's files and a log.

The key is a hash of everything that can change the trace: ini and files, seed, trace level, kind of back-end, the code
of agent, host and back-end (`roambus.bridge.system.code`), and the agent's data files. The trace lists the other files
that it read (`roambus.bridge.runs.data`). If one of them has changed, the run is another one.

The trace holds the key and is written last, in one step: a killed run has no trace and is made again. A failed run
leaves a log and the file `failed` with the key.
"""

from __future__ import annotations

import inspect
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import Enum
from functools import cache
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from roambus.bridge.agents import agent_sources, data_hash, load_agent
from roambus.bridge.backend import Backend, BackendFactory, Framing, calling, is_foreign, simulator_keys_of
from roambus.bridge.formats.format import packages_of
from roambus.bridge.formats.ini import read_scenario, reader
from roambus.bridge.host import event_loop
from roambus.bridge.host.agents import parameters_of, shared_generators_unused
from roambus.bridge.host.event_loop import Host
from roambus.bridge.runs.data import changed_data, data_read
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
from roambus.bridge.runs.log import NOTHING_PUBLISHED, log_of, log_of_failure, version_of_code
from roambus.bridge.scenario import macs, models
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.system import code
from roambus.bridge.system.child_process import EndedError, OverdueError, run_in_child
from roambus.bridge.system.code import (
    MACS,
    MOBILITIES,
    PROPAGATIONS,
    RADIOS,
    code_hash,
    find_files,
    is_core,
    is_ours,
    named,
)
from roambus.bridge.system.errors import peak_memory_mib
from roambus.bridge.system.files import check_replaceable
from roambus.bridge.system.reading import reading
from roambus.bridge.trace.parquet import DamagedTraceError, TraceLevel, TraceWriter, damage_of, read_footer
from roambus.bridge.trace.schema import (
    AIR,
    END,
    MIGRATION_MESSAGES,
    NO_TEMPLATE,
    PUBLISH,
    RUN_KEY,
    USUAL_AIR,
    WARM_UP,
    About,
)
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.settings import format_parameters
from roambus.python_protocol.simtime import SECOND


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin of a run's ini, for its trace: name and settings of the template.

    A repeated run keeps the `version` of roambus that made the first.
    """

    template: str = NO_TEMPLATE
    settings: tuple[tuple[str, Any], ...] = ()
    version: str | None = None


Recorder = Callable[[Backend, Path, Scenario, str, TraceLevel], Backend]
"""Wraps the back-end, given the run's folder, scenario, agent and trace level."""


@dataclass(frozen=True, slots=True)
class RunPlan:
    """A run executable in any process. Its folder is `place` below `results`."""

    results: Path
    place: Path
    ini: str
    radio_file: Path
    agent: str
    seed: int
    level: TraceLevel = TraceLevel.APP
    record: Recorder | None = None
    """Records the frames for `roambus rerun`, if set; the trace is the same."""
    check: bool = False
    """Whether to compare every message with its bytes; the trace is the same."""
    files: tuple[tuple[str, Path], ...] = ()
    """Files of movements and links by their names in the ini, and companion files."""

    origin: Origin = Origin()

    @property
    def folder(self) -> Path:
        """The folder of trace, ini and log."""
        return self.results / self.place


EVERY_RUN = (Path(event_loop.__file__), Path(reader.__file__))
"""Roots of every run's code: the host imports the trace's schema and writer."""


def run_key(plan: RunPlan, backend: BackendFactory) -> str:
    """The key of a run; raises UserError, OSError.

    Parts have a fixed order and are hashed separately, so that inputs cannot run into each other.
    """
    digest = sha256()
    settings = f"{plan.seed} {plan.level.value} {backend.name}"
    files = (file.read_bytes() for _, file in plan.files)
    for part in (plan.ini.encode(), plan.radio_file.read_bytes(), settings.encode(), *files):
        digest.update(sha256(part).digest())
    agent = load_agent(plan.agent)
    models = [*model_sources(plan.ini), *_format_sources(plan)]
    digest.update(code_hash([*EVERY_RUN, *models, *agent_sources(agent), Path(inspect.getfile(type(backend)))]))
    digest.update(data_hash(plan.agent, agent) + _model_data(plan.ini))
    return digest.hexdigest()


def model_sources(ini: str) -> Iterator[Path]:
    """Yield the files of the core's models, and of others that the ini names: no import shows them."""
    for name, of_core, files, _ in _models():
        if of_core or name in ini:
            yield from files


def _model_data(ini: str) -> bytes:
    """Return a hash of the data files of the packages whose models the ini names; empty without any."""
    modules = (module for name, _, _, found in _models() if name in ini for module in found if not is_ours(module))
    return code.data_hash(dict.fromkeys(file for module in modules for file in code.data_files(module)))


def _format_sources(plan: RunPlan) -> Iterator[Path]:
    """Yield the files of the packages' formats that the run's files have."""
    for module in packages_of(file for _, file in plan.files):
        yield from find_files(module)


@cache
def _models() -> list[tuple[str, bool, list[Path], list[str]]]:
    """Each model's name, whether it is the core's, its files and modules, found once: a process runs what it loaded."""
    points = [(name, point, [point.module]) for name, point in named(MOBILITIES).items()]
    of_settings = (MACS, macs.SETTINGS), (PROPAGATIONS, models.PROPAGATIONS.settings), (RADIOS, models.RADIOS.settings)
    for group, settings in of_settings:
        points += [(name, point, [point.module, settings[name].MODULE]) for name, point in named(group).items()]
    return [
        (name, is_core(point.value), [file for module in modules for file in find_files(module)], modules)
        for name, point, modules in points
    ]


# A run and its key


T = TypeVar("T")


class Driven(NamedTuple):
    """The back-end's name, and remarks for the user."""

    simulator: str
    remarks: Sequence[str] = ()
    framing: Framing | None = None


Drive = Callable[[RunPlan, Scenario, type[Agent], TraceWriter, BackendFactory], Driven]
"""Drives the agents of a run, and fills its trace."""


def drive_host(
    plan: RunPlan, scenario: Scenario, agent: type[Agent], trace: TraceWriter, backend: BackendFactory
) -> Driven:
    """Drive all agents by one host, over one back-end."""
    with calling(backend, "make"):
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
    """Warn of messages too long for any frame, which are never sent."""
    for reason, count in failures.items():
        if "longer than" in reason:
            yield f"{count} messages were not sent: {reason}"


def execute(plan: RunPlan, backend: BackendFactory, key: str | None = None, drive: Drive = drive_host) -> None:
    """Make the run; leave a whole trace, or a log with the error, which is raised again.

    Raises RoambusError, any error of a broken agent or back-end, or OSError for an unwritable folder. After
    KeyboardInterrupt only a whole trace remains.
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
    """Write the ini and its files; raises OSError, and UserError for a link in place of a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    _write_anew(folder / INI_FILE, plan.ini.encode())
    for name, file in ((plan.radio_file.name, plan.radio_file), *plan.files):
        copy = unlinked_below(folder, Path(name))
        copy.parent.mkdir(parents=True, exist_ok=True)
        _write_anew(copy, file.read_bytes())


def _write_anew(file: Path, content: bytes) -> None:
    """Write a new file, never through an existing link."""
    check_replaceable(file)
    file.unlink(missing_ok=True)
    file.write_bytes(content)


def _run(plan: RunPlan, key: str, backend: BackendFactory, drive: Drive) -> None:
    start, cpu = time.monotonic(), time.process_time()
    scenario = read_scenario(plan.folder / INI_FILE, simulator_keys_of(backend))
    trace = TraceWriter(plan.level)
    agent = load_agent(plan.agent)
    with reading():
        driven = drive(plan, scenario, agent, trace, backend)
    seconds, cpu_seconds = time.monotonic() - start, time.process_time() - cpu
    used = f"{seconds:.2f} s, {cpu_seconds:.2f} s of CPU, {peak_memory_mib()} MiB at most"
    remarks = [*driven.remarks, *([] if trace.has(PUBLISH) else [NOTHING_PUBLISHED])]
    log = log_of(scenario, f"agent {scenario.agent or plan.agent}, seed {plan.seed}", used, remarks)
    (plan.folder / LOG_FILE).write_text(log, encoding="utf-8")
    about = _about(plan, scenario, agent, backend.name, driven.simulator)
    counted = {
        **_times(scenario),
        **_air(scenario, driven.framing),
        **_migrations(agent),
        **data_read(plan.agent, agent),
    }
    # Last, for it is what makes a run complete.
    trace.write(plan.folder / TRACE_FILE, {RUN_KEY: key, **counted, **about.metadata()})


def _times(scenario: Scenario) -> dict[str, str]:
    warm_up = {WARM_UP: repr(scenario.warm_up / SECOND)} if scenario.warm_up else {}
    return {END: repr(scenario.time_limit / SECOND), **warm_up}


def _air(scenario: Scenario, framing: Framing | None) -> dict[str, str]:
    headers, rate = (framing.header_bytes, framing.bits_per_second) if framing else (scenario.header_bytes, 0)
    air = headers, rate or scenario.radio.data_rate_bps
    return {} if air == USUAL_AIR else {AIR: f"{air[0]} {air[1]}"}


def _migrations(agent: type[Agent]) -> dict[str, str]:
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
    """Whether the folder holds this run's trace."""
    return trace_state(folder, key) is TraceState.COMPLETE


class TraceState(Enum):
    """A run's state: no trace, another run's, a damaged one, or its own whole trace."""

    MISSING = "missing"
    DAMAGED = "damaged"
    ANOTHER = "another run's"
    COMPLETE = "complete"


def trace_state(folder: Path, key: str, agent: str = "") -> TraceState:
    """The state of the run with this key, and the files that this agent read; the trace is read to its end.

    The right key in the footer is not enough: a full disk or a broken copy damages earlier pages.
    """
    trace = folder / TRACE_FILE
    if not os.path.lexists(trace):
        return TraceState.MISSING
    try:
        metadata = read_footer(trace).metadata
        if metadata.get(RUN_KEY) != key or (agent and changed_data(agent, metadata) is not None):
            return TraceState.ANOTHER
    except DamagedTraceError:
        return TraceState.DAMAGED
    return TraceState.DAMAGED if damage_of(trace) else TraceState.COMPLETE


def has_failed(folder: Path, key: str) -> bool:
    """Whether this run failed the last time."""
    marker = folder / FAILED_FILE
    return marker.is_file() and marker.read_bytes() == key.encode()


# What is left of a run


@contextmanager
def errors_named(path: Path) -> Iterator[None]:
    """Name `path` in an OSError without a file name, such as of a full disk."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, error.filename or str(path)) from error


def discard_files(folder: Path) -> None:
    """Remove only the files that earlier runs left in the folder."""
    whole = (TRACE_FILE, RECORD_FILE)
    ours = (FAILED_FILE, LOG_FILE, SIMULATOR_LOG, INI_FILE, SIMULATOR_FOLDER, NODES_FOLDER)
    patterns = (*whole, *(f".{name}.*" for name in whole), *ours)
    for file in chain.from_iterable(map(folder.glob, patterns)):
        if file.is_dir() and not file.is_symlink():  # the simulator's, or what somebody has put in a file's place
            shutil.rmtree(file)
        else:
            file.unlink()


def discard(plan: RunPlan) -> None:
    """Remove an unfinished run's folder, and then empty parents up to the results."""
    shutil.rmtree(plan.folder, ignore_errors=True)
    with suppress(OSError):  # the first that is not empty
        for parent in list(plan.place.parents)[:-1]:
            (plan.results / parent).rmdir()


# Runs in a child process


def execute_in_child(plan: RunPlan, backend: BackendFactory) -> None:
    """Call `execute` in a child process; raises EndedError, too, if the agent ends it."""
    try:
        run_in_child(lambda: execute(plan, backend))
    except EndedError as error:
        raise error if error.was_killed else record_ended(plan, backend, error) from None


def record_ended(plan: RunPlan, backend: BackendFactory, ended: EndedError) -> EndedError:
    """Log and return the error of a run whose agent ended its process."""
    culprit = f", or the back-end {backend.name}," if is_foreign(backend) else ""
    error = ended if isinstance(ended, OverdueError) else EndedError(ended.status, f"agent {plan.agent}{culprit}")
    _prepare(plan)
    _record_failure(plan.folder, run_key(plan, backend), error)
    return error
