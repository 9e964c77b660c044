"""How a simulator connects to the host, which starts it or waits for one that the user starts; and how it ends.

A simulator finds what it needs in the folder `.roambus` beside the run's ini: the address with the token and the keys,
links to Castalia's modules and ours, and the ways of nodes that move by a file. The ini names that folder (`load-libs`,
`ned-path`), so that plain `CastaliaBin -f run.ini` works wherever things are installed. The folder is there only while
the host waits or runs.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

from roambus.bridge.backends.castalia.endpoint import SCHEMES, Endpoint, Transport
from roambus.bridge.backends.castalia.installation import Program, find_installation
from roambus.bridge.backends.castalia.local import LocalConnection
from roambus.bridge.backends.castalia.zeromq import Connection
from roambus.bridge.errors import BackendError, UserError, describe_end, memory_kills
from roambus.bridge.process import interrupts_postponed
from roambus.bridge.runs.layout import SIMULATOR_FOLDER, SIMULATOR_LOG
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.nodes import GivenWay, WayPoint
from roambus.python_protocol.vocabulary import NodeId

LAST_LINES = 5
"""Lines of a log that an error shows: in its last ones OMNeT++ says why it ends."""

LAST_BYTES = 4096

GRACE_S = 0.5
"""Seconds that a simulator may take to end after a failed run, before it is killed."""

_LINKER_STATUS = 127
"""With it the dynamic linker ends a program that wants another library than it finds."""

_NOT_LINKED = ": it may have been built with another OMNeT++, which roambus doctor shows"

EMPTY_FILES = (".cmdenv-log", "Castalia-Trace.txt")
"""Files that OMNeT++ and Castalia make in the run's folder, and write to only if they are told to."""

SESSION, WAYS = "session", "ways"

Ways = Mapping[NodeId, tuple[WayPoint, ...]]
"""The ways of the nodes that move by a file."""

NO_WAYS: Ways = MappingProxyType({})

FAREWELL_S = 1.0
"""Seconds that a simulator which somebody else started may take to read why a run failed."""

START_DEADLINES = 3
"""A simulator reads its files and builds its network before it says hello: it gets that many deadlines."""


class Simulator(Protocol):
    """A simulator and the way to it."""

    @property
    def run(self) -> str:
        """The name of the run that it belongs to, for errors."""

    @property
    def hello_within_s(self) -> float:
        """The time to wait for its Hello, in seconds."""

    def connect(self) -> Channel:
        """Listens, and sees to it that a simulator comes; it is called once, first. Raises UserError, BackendError."""

    def last_lines(self) -> str:
        """The end of its log, to be appended to an error, or nothing if that is not known."""

    def end(self, *, in_order: bool) -> None:
        """Frees everything; a simulator that does not end is killed. Called once, last.

        Raises BackendError if one that should have ended in order did not.
        """


Channel = Connection | LocalConnection
"""Bound at once, and from Hello on the way to the one peer that has the run's token; both have the same methods."""


def listen(endpoint: Endpoint, deadline_s: float, ended: Callable[[], str | None]) -> Channel:
    """Listens at the endpoint; `ended` says how the simulator ended. Raises UserError if the address cannot be had."""
    return (LocalConnection if endpoint.address.startswith(SCHEMES["local"]) else Connection)(
        endpoint, deadline_s, ended
    )


class _SimulatorOfRun:
    """What both kinds of simulators have: a run's folder, and a channel that is there until `resources` are freed."""

    def __init__(self, folder: Path, deadline_s: float, ways: Ways, transport: Transport) -> None:
        self._folder = folder
        self._deadline_s = deadline_s
        self._ways = ways
        self._transport = transport
        self._resources = ExitStack()
        self.run = f"run {folder}"

    def _listen(self, endpoint: Endpoint, links: Mapping[str, Path], ended: Callable[[], str | None]) -> Channel:
        self._resources.enter_context(endpoint)
        directory = run_directory(self._folder, links, endpoint, self._deadline_s, self._ways)
        self._directory = self._resources.enter_context(directory)
        channel = listen(endpoint, self._deadline_s, ended)
        self._resources.callback(channel.close)
        return channel


class StartedSimulator(_SimulatorOfRun):
    """A simulator that is a child of this process, in the run's folder."""

    def __init__(
        self,
        folder: Path,
        program: Program,
        deadline_s: float,
        ways: Ways = NO_WAYS,
        transport: Transport = "zeromq",
    ) -> None:
        super().__init__(folder, deadline_s, ways, transport)
        self._program = program
        self._child: Child | None = None
        self.hello_within_s = START_DEADLINES * deadline_s

    def connect(self) -> Channel:
        """Listens, and starts the simulator; raises UserError, BackendError."""
        # The order matters: core, then address, then child, which inherits the core and finds the session written.
        with interrupts_postponed():  # else what was just made might not be known to `end`
            self._resources.enter_context(core_of_our_own())
            channel = self._listen(
                Endpoint.private(self._transport),
                self._program.links,
                lambda: self._child.ended() if self._child else None,
            )
            for name, text in self._program.files.items():
                (self._directory / name).write_text(text, encoding="ascii")
            self._child = Child(self._program, self._folder, self._deadline_s)
            return channel

    def end(self, *, in_order: bool) -> None:
        """Ends the simulator, which is killed if it does not end by itself; raises BackendError."""
        with self._resources:
            if self._child is not None:
                self._child.end(in_order=in_order)

    def last_lines(self) -> str:
        """The end of the simulator's log."""
        return self._child.last_lines() if self._child else ""


class ServedSimulator(_SimulatorOfRun):
    """A simulator that somebody starts by hand, in a debugger or on another machine."""

    def __init__(  # noqa: PLR0913, PLR0917  # what the user can choose, and the run
        self,
        folder: Path,
        address: str | None,
        deadline_s: float,
        wait_s: float,
        announce: Callable[[Path], None],
        ways: Ways = NO_WAYS,
        transport: Transport = "zeromq",
    ) -> None:
        """`address` is tcp://ADDRESS:PORT or None; `announce` is told the run's folder as soon as the host listens."""
        super().__init__(folder, deadline_s, ways, transport)
        self._address = address
        self._announce = announce
        self._channel: Channel | None = None
        self.hello_within_s = wait_s

    def connect(self) -> Channel:
        """Listens, and waits for somebody to start a simulator; raises UserError, BackendError."""
        with interrupts_postponed():
            try:
                links = find_installation().links()
            except UserError:
                links = {}  # the simulator can only run on another machine
            endpoint = Endpoint.private(self._transport) if self._address is None else Endpoint.tcp(self._address)
            self._channel = self._listen(endpoint, links, lambda: None)
        self._announce(self._folder)
        return self._channel

    def last_lines(self) -> str:
        """Nothing, for whoever started the simulator sees its log."""
        return ""

    def end(self, *, in_order: bool) -> None:
        """Frees everything; the simulator is not ours to kill, but it should read what it was told last."""
        with self._resources:
            if self._channel is not None:
                self._channel.wait_until_left(self._deadline_s if in_order else FAREWELL_S)


class Child:
    """Castalia, started in the run's folder; what it prints goes to `simulator.log` there."""

    def __init__(self, program: Program, folder: Path, deadline_s: float) -> None:
        """Starts it; it may take `deadline_s` to end after a whole run. Raises BackendError if it cannot be started."""
        self._deadline_s = deadline_s
        self._log = folder / SIMULATOR_LOG
        self._kills_before = memory_kills()
        with self._log.open("wb") as log:
            try:
                # A session of its own: Ctrl-C reaches the host alone, which then ends it in order.
                self._process = subprocess.Popen(  # noqa: S603  # the user's own simulator, without a shell
                    program.command, cwd=folder, env=program.environment,
                    stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                    start_new_session=True,
                )  # fmt: skip
            except OSError as error:
                raise BackendError(f"{program.command[0]} cannot be started: {error.strerror}") from None

    def ended(self) -> str | None:
        """How it ended, in words; None while it runs."""
        status = self._process.poll()
        if status is None:
            return None
        advice = _NOT_LINKED if status == _LINKER_STATUS else ""
        return f"the simulator {describe_end(status, self._kills_before)}{advice}"

    def end(self, *, in_order: bool) -> None:
        """Waits a moment for its own end, then kills it, frozen or not.

        Raises BackendError if it was to end in order, and did not, or with another status than 0.

        A frozen simulator would not end by SIGTERM either, so it gets SIGKILL at once; what it has still to write is of
        no use by then, since the record and the trace are the host's.
        """
        within_s = self._deadline_s if in_order else GRACE_S
        try:
            self._process.wait(within_s)
        except subprocess.TimeoutExpired:
            if in_order:
                raise BackendError(f"the simulator did not end within {within_s:g} s") from None
        finally:
            self._process.kill()
            self._process.wait()
        for file in map(self._log.with_name, EMPTY_FILES):
            if file.is_file() and file.stat().st_size == 0:
                file.unlink()
        if in_order and (end := self.ended()) and self._process.returncode != 0:
            raise BackendError(end)

    def last_lines(self) -> str:
        """The end of its log, to be appended to an error."""
        with self._log.open("rb") as log:
            log.seek(max(0, log.seek(0, os.SEEK_END) - LAST_BYTES))
            lines = log.read().decode(errors="replace").split("\n")
        last = [line.strip() for line in lines if line.strip()][-LAST_LINES:]
        return "; its log ends:\n  " + "\n  ".join(last) if last else "; its log is empty"


def ways_of(scenario: Scenario) -> Ways:
    """The ways that the simulator cannot know otherwise, for it does not read movement files."""
    mobilities = enumerate(settings.mobility for settings in scenario.nodes)
    return {node: mobility.points for node, mobility in mobilities if isinstance(mobility, GivenWay)}


@contextmanager
def run_directory(
    folder: Path, links: Mapping[str, Path], endpoint: Endpoint, deadline_s: float, ways: Ways = NO_WAYS
) -> Iterator[Path]:
    """Makes the linked directory, and puts the session file and the ways of nodes into it."""
    with linked_directory(folder, links) as directory:
        session = os.open(directory / SESSION, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(session, "w", encoding="utf-8") as file:
            file.write(session_text(endpoint, deadline_s))
        write_ways(directory, ways)
        yield directory


def write_ways(directory: Path, ways: Ways) -> None:
    """Writes a line for each way-point: time (s), x and y (m), exactly."""
    for node, way in ways.items():
        file = directory / WAYS / str(node)
        file.parent.mkdir(exist_ok=True)
        lines = [f"{point.time_s!r} {point.x!r} {point.y!r}\n" for point in way]
        file.write_text("".join(lines), encoding="ascii")


@contextmanager
def linked_directory(folder: Path, links: Mapping[str, Path]) -> Iterator[Path]:
    """Makes `.roambus` in a run's folder, with these links in it; removes it at the end.

    What a killed run left there is removed first: an old session would lead a simulator to a host that is gone.
    """
    directory = folder / SIMULATOR_FOLDER
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(mode=0o700)
    try:
        for name, target in links.items():
            (directory / name).symlink_to(target.resolve())
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def session_text(endpoint: Endpoint, deadline_s: float) -> str:
    """The text that the simulator's side reads; docs/reference/bridge.md has the meaning of each name."""
    entries = {"endpoint": endpoint.address, "token": endpoint.token, "deadline_ms": str(round(deadline_s * 1000))}
    if endpoint.keys is not None:
        entries["server_key"] = endpoint.keys.server_public
        entries["public_key"] = endpoint.keys.client_public
        entries["secret_key"] = endpoint.keys.client_secret
    return "".join(f"{name}={value}\n" for name, value in entries.items())


@contextmanager
def core_of_our_own() -> Iterator[None]:
    """Keeps this process, and its children started meanwhile, on a core that no other run has claimed, if there is one.

    With every core claimed the scheduler places both, as always.
    """
    if not hasattr(os, "sched_getaffinity"):  # as on macOS
        yield
        return
    before = os.sched_getaffinity(0)
    lock = _claim(before)
    try:
        yield
    finally:
        with suppress(OSError):
            os.sched_setaffinity(0, before)
        if lock is not None:
            os.close(lock)


def _claim(cores: set[int]) -> int | None:
    """Locks a core, and returns the file descriptor; the lock ends with the process, however that ends."""
    folder = Path(tempfile.gettempdir(), f".roambus-cores-{os.getuid()}")
    with suppress(OSError):  # somebody else's folder, a full disk: then without
        folder.mkdir(mode=0o700, exist_ok=True)
        for core in sorted(cores):
            lock = os.open(folder / str(core), os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o600)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.sched_setaffinity(0, {core})
            except OSError:
                os.close(lock)
            else:
                return lock
    return None
