"""How a simulator connects to the host, which starts it or waits for one; and how it ends.

While the host waits or runs, `.roambus` beside the run's ini holds the address with token and keys, links to Castalia's
modules and ours, and ways from movement files. The ini names it (`load-libs`, `ned-path`), so plain `CastaliaBin -f
run.ini` works with any installation.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

from roambus.bridge.backends.castalia.installation import Program, find_installation
from roambus.bridge.backends.castalia.zeromq import Connection, Endpoint
from roambus.bridge.mobility.given_way import GivenWay
from roambus.bridge.mobility.model import WayPoint
from roambus.bridge.mobility.paths import places_of, steered
from roambus.bridge.runs.layout import SIMULATOR_FOLDER, SIMULATOR_LOG
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.system.errors import BackendError, UserError, describe_end
from roambus.bridge.system.interrupts import interrupts_postponed
from roambus.python_protocol.roles import NodeId

LAST_LINES = 5
"""Log lines in an error: OMNeT++'s reason."""

LAST_BYTES = 4096

GRACE_S = 0.5
"""Seconds to end after a failed run before SIGKILL."""

_LINKER_STATUS = 127
"""The dynamic linker's exit status for a mismatched library."""

_NOT_LINKED = ": it may have been built with another OMNeT++, which roambus doctor shows"

EMPTY_FILES = (".cmdenv-log", "Castalia-Trace.txt")
"""Files, by default empty, of OMNeT++ and Castalia in the run's folder."""

SESSION, WAYS = "session", "ways"

Ways = Mapping[NodeId, tuple[WayPoint, ...]]
"""Ways from movement files; of a node that its agent moves, where it starts."""

NO_WAYS: Ways = MappingProxyType({})

FAREWELL_S = 1.0
"""Seconds for a served simulator to read the failure's reason."""

START_DEADLINES = 3
"""Deadlines before hello, while a simulator builds its network."""


class Simulator(Protocol):
    """A simulator and the way to it."""

    @property
    def run(self) -> str:
        """Return the run's name, for errors."""

    @property
    def hello_within_s(self) -> float:
        """Return the seconds to wait for Hello."""

    def connect(self) -> Connection:
        """Get a simulator; called once, first. Raise UserError, BackendError."""

    def last_lines(self) -> str:
        """Return the log's end for an error, or ""."""

    def end(self, *, in_order: bool) -> None:
        """Free everything, by SIGKILL if necessary; called once, last.

        Raises BackendError if an orderly end failed.
        """


class _SimulatorOfRun:
    def __init__(self, folder: Path, deadline_s: float, ways: Ways) -> None:
        self._folder = folder
        self._deadline_s = deadline_s
        self._ways = ways
        self._resources = ExitStack()
        self.run = f"run {folder}"

    def _listen(self, endpoint: Endpoint, links: Mapping[str, Path], ended: Callable[[], str | None]) -> Connection:
        self._resources.enter_context(endpoint)
        directory = run_directory(self._folder, links, endpoint, self._deadline_s, self._ways)
        self._directory = self._resources.enter_context(directory)
        channel = Connection(endpoint, self._deadline_s, ended)
        self._resources.callback(channel.close)
        return channel


class StartedSimulator(_SimulatorOfRun):
    """A simulator as a child process in the run's folder."""

    def __init__(self, folder: Path, program: Program, deadline_s: float, ways: Ways = NO_WAYS) -> None:
        super().__init__(folder, deadline_s, ways)
        self._program = program
        self._child: Child | None = None
        self.hello_within_s = START_DEADLINES * deadline_s

    def connect(self) -> Connection:
        """Listen and start the simulator; raise UserError, BackendError."""
        # The order matters: core, then address, then child, which inherits the core and finds the session written.
        with interrupts_postponed():  # else what was just made might not be known to `end`
            self._resources.enter_context(core_of_our_own())
            channel = self._listen(
                Endpoint.private(),
                self._program.links,
                lambda: self._child.ended() if self._child else None,
            )
            for name, text in self._program.files.items():
                (self._directory / name).write_text(text, encoding="ascii")
            self._child = Child(self._program, self._folder, self._deadline_s)
            return channel

    def end(self, *, in_order: bool) -> None:
        """End the simulator, by SIGKILL if necessary; raise BackendError."""
        with self._resources:
            if self._child is not None:
                self._child.end(in_order=in_order)

    def last_lines(self) -> str:
        """Return the end of its log."""
        return self._child.last_lines() if self._child else ""


class ServedSimulator(_SimulatorOfRun):
    """A simulator that a user starts, in a debugger or on another machine."""

    def __init__(  # noqa: PLR0913, PLR0917  # what the user can choose, and the run
        self,
        folder: Path,
        address: str | None,
        deadline_s: float,
        wait_s: float,
        announce: Callable[[Path], None],
        ways: Ways = NO_WAYS,
    ) -> None:
        """`address` is tcp://ADDRESS:PORT or None; `announce` gets the folder once listening."""
        super().__init__(folder, deadline_s, ways)
        self._address = address
        self._announce = announce
        self._channel: Connection | None = None
        self.hello_within_s = wait_s

    def connect(self) -> Connection:
        """Listen and wait for a user's simulator; raise UserError, BackendError."""
        with interrupts_postponed():
            try:
                links = find_installation().links()
            except UserError:
                links = {}  # the simulator can only run on another machine
            endpoint = Endpoint.private() if self._address is None else Endpoint.tcp(self._address)
            self._channel = self._listen(endpoint, links, lambda: None)
        self._announce(self._folder)
        return self._channel

    def last_lines(self) -> str:
        """Return nothing: its user sees the log."""
        return ""

    def end(self, *, in_order: bool) -> None:
        """Free everything without killing, after a while to read the last message."""
        with self._resources:
            if self._channel is not None:
                self._channel.wait_until_left(self._deadline_s if in_order else FAREWELL_S)


class Child:
    """Castalia in the run's folder; it prints to `simulator.log` there."""

    def __init__(self, program: Program, folder: Path, deadline_s: float) -> None:
        """Start it, with `deadline_s` for an orderly end; raise BackendError."""
        self._deadline_s = deadline_s
        self._log = folder / SIMULATOR_LOG
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
        """Return its end in words; None while it runs."""
        status = self._process.poll()
        if status is None:
            return None
        advice = _NOT_LINKED if status == _LINKER_STATUS else ""
        return f"the simulator {describe_end(status)}{advice}"

    def end(self, *, in_order: bool) -> None:
        """Wait a moment for its end, then send SIGKILL.

        Raises BackendError if an orderly end failed. A frozen simulator ignores SIGTERM; record and trace are the
        host's.
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
        """Return the log's end for an error."""
        with self._log.open("rb") as log:
            log.seek(max(0, log.seek(0, os.SEEK_END) - LAST_BYTES))
            lines = log.read().decode(errors="replace").split("\n")
        last = [line.strip() for line in lines if line.strip()][-LAST_LINES:]
        return "; its log ends:\n  " + "\n  ".join(last) if last else "; its log is empty"


def ways_of(scenario: Scenario) -> Ways:
    """Return ways from movement files, which the simulator does not read, and where nodes of agents' ways start."""
    mobilities = enumerate(settings.mobility for settings in scenario.nodes)
    given = {node: mobility.points for node, mobility in mobilities if isinstance(mobility, GivenWay)}
    if own := steered(scenario):  # the host has to know their places, so that it draws those that the ini leaves open
        places = places_of(scenario).tolist()
        given |= {node: (WayPoint(0.0, *places[node]),) for node in own}
    return given


@contextmanager
def run_directory(
    folder: Path, links: Mapping[str, Path], endpoint: Endpoint, deadline_s: float, ways: Ways = NO_WAYS
) -> Iterator[Path]:
    """Make the linked directory with the session file and the nodes' ways."""
    with linked_directory(folder, links) as directory:
        session = os.open(directory / SESSION, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(session, "w", encoding="utf-8") as file:
            file.write(session_text(endpoint, deadline_s))
        write_ways(directory, ways)
        yield directory


def write_ways(directory: Path, ways: Ways) -> None:
    """Write a line per way-point: exact time (s), x and y (m)."""
    for node, way in ways.items():
        file = directory / WAYS / str(node)
        file.parent.mkdir(exist_ok=True)
        lines = [f"{point.time_s!r} {point.x!r} {point.y!r}\n" for point in way]
        file.write_text("".join(lines), encoding="ascii")


@contextmanager
def linked_directory(folder: Path, links: Mapping[str, Path]) -> Iterator[Path]:
    """Make `.roambus` with links in a run's folder; remove it at the end.

    A killed run's leftover would lead a simulator to a dead host, and is removed first.
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
    """Return the session file's text (docs/reference/bridge.md)."""
    entries = {"endpoint": endpoint.address, "token": endpoint.token, "deadline_ms": str(round(deadline_s * 1000))}
    if endpoint.keys is not None:
        entries["server_key"] = endpoint.keys.server_public
        entries["public_key"] = endpoint.keys.client_public
        entries["secret_key"] = endpoint.keys.client_secret
    return "".join(f"{name}={value}\n" for name, value in entries.items())


@contextmanager
def core_of_our_own() -> Iterator[None]:
    """Pin this process and new children to an unclaimed core, if any."""
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


def _is_only_ours(folder: Path) -> bool:
    status = folder.lstat()
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid() and stat.S_IMODE(status.st_mode) == 0o700


def _claim(cores: set[int]) -> int | None:
    """Lock a core, as long as the process lives; return the file descriptor."""
    folder = Path(tempfile.gettempdir(), f".roambus-cores-{os.getuid()}")
    with suppress(OSError):  # a full disk: then without
        folder.mkdir(mode=0o700, exist_ok=True)
        if not _is_only_ours(folder):
            return None  # its name can be guessed, so another user may have made it
        for core in sorted(cores):
            # A FIFO would let it wait for a reader, for ever.
            lock = os.open(folder / str(core), os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.sched_setaffinity(0, {core})
            except OSError:
                os.close(lock)
            else:
                return lock
    return None
