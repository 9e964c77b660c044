"""Commands of roambus in processes of their own, of which nothing may be left, and the stand-in as their simulator.

Wherever the processes of a trial go, they carry its mark in their environment, and are found by it in /proc. The
stand-in (omnet/stand_in) takes the place of Castalia where OMNeT++ is not needed: hosts find and start it like any
other installation.
"""

from __future__ import annotations

import ctypes
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from types import TracebackType
from typing import Self

from roambus.bridge.backends.castalia.installation import CASTALIA_ROOT, LIBRARY, OMNET_ROOT, OMNETPP_ROOT, TRIED
from roambus.bridge.runs.layout import INI_FILE
from roambus.bridge.system.errors import UserError
from roambus.python_protocol.simtime import SECOND

ROOT = Path(__file__).resolve().parents[2]
ROAMBUS = (sys.executable, "-c", "import sys; sys.argv[0] = 'roambus'; from roambus.command_line import main; main()")
STAND_IN = ROOT / "omnet" / "build" / "stand-in"
MARK = "ROAMBUS_TRIAL"
POLL_S = 0.01
LONGEST_S = 150.0
"""No command takes longer, harmed or not, however busy the machine is."""
GONE_S = 15.0
"""Within this all processes of a command are gone once it has ended."""
PR_SET_CHILD_SUBREAPER = 36
SYS_PIDFD_GETFD = 438
CONNECTED = "03"
"""A socket's state, as /proc/net/unix has it."""
_KEPT = re.compile(r"\.roambus-cores-\d+")
"""A folder of empty files, by which runs share the machine's cores."""

_libc = ctypes.CDLL(None, use_errno=True)


# Commands


def surroundings(mark: str, temporary: Path, environment: Mapping[str, str]) -> dict[str, str]:
    """The environment of a process of a trial, and of its children."""
    path = os.pathsep.join(filter(None, [environment.get("PYTHONPATH"), str(ROOT)]))
    ours = {MARK: mark, "TMPDIR": str(temporary), "PYTHONPATH": path}
    return {**os.environ, **environment, **ours}


class Command:
    """A command of roambus that was started. As a context manager it ends all of its processes."""

    def __init__(  # all that a process has from whoever starts it
        self,
        words: Sequence[str],
        place: Path,
        *,
        temporary: Path | None = None,
        environment: Mapping[str, str] | None = None,
        folder: Path | None = None,
    ) -> None:
        """`place`, with suffixes of its own, is where its output and its temporary files are kept."""
        self.mark = uuid.uuid4().hex
        self.temporary = temporary or _beside(place, ".tmp")
        self.temporary.mkdir(parents=True, exist_ok=True)
        self._errors, self._output = _beside(place, ".errors"), _beside(place, ".output")
        self.started = time.monotonic()
        with self._errors.open("wb") as errors, self._output.open("wb") as output:
            self.host = subprocess.Popen(
                [*ROAMBUS, *words], env=surroundings(self.mark, self.temporary, environment or {}), cwd=folder,
                stdin=subprocess.DEVNULL, stdout=output, stderr=errors, start_new_session=True,
            )  # fmt: skip

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._kill()

    def live(self) -> list[int]:
        """Its processes that are there."""
        return marked(self.mark)

    def errors(self) -> str:
        """Its error output."""
        return self._errors.read_text(encoding="utf-8", errors="replace")

    def output(self) -> str:
        """Its standard output."""
        return self._output.read_text(encoding="utf-8", errors="replace")

    def end(self, within_s: float = LONGEST_S) -> list[str]:
        """Waits until it has ended; what is wrong with that. Nothing of it is there afterwards."""
        with suppress(subprocess.TimeoutExpired):
            self.host.wait(within_s)
        hangs = self.host.poll() is None
        wait_for(lambda: not self.live(), 0 if hangs else GONE_S)
        left = [f"process {describe(process)} is left" for process in self.live()]
        self._kill()
        return [*([f"it hangs, after {within_s:g} s"] if hangs else []), *left]

    def _kill(self) -> None:
        self.host.kill()
        for process in self.live():
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        self.host.wait()


def _beside(place: Path, suffix: str) -> Path:
    return place.with_name(place.name + suffix)


def left_in(temporary: Path) -> list[str]:
    """A complaint for each temporary file that a command has left."""
    return [f"{path.name} is left" for path in temporary.iterdir() if not _KEPT.fullmatch(path.name)]


# Processes


def adopt_orphans() -> None:
    """Makes this process the parent of those whose parent dies, so that it learns how they end."""
    _libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def wait_for(condition: Callable[[], bool], within_s: float) -> bool:
    """Whether it came true in time."""
    give_up = time.monotonic() + within_s
    while not condition():
        if time.monotonic() > give_up:
            return False
        time.sleep(POLL_S)
    return True


def marked(mark: str) -> list[int]:
    """The live processes of a trial."""
    entry = f"{MARK}={mark}".encode()
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # gone by now, or another user's
            if entry in (path / "environ").read_bytes().split(b"\0"):
                found.append(int(path.name))
    return found


def describe(process: int) -> str:
    """The command line of a process."""
    try:
        words = Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return f"{process} (gone by now)"
    return f"{process} ({b' '.join(words).decode(errors='replace').strip()})"


def program(process: int) -> str | None:
    """The file that it executes; None if it is gone."""
    try:
        return str(Path(f"/proc/{process}/exe").readlink())
    except OSError:
        return None


def status_of_orphan(process: int) -> int | None:
    """The exit status of a process that this one has adopted; None if it has not, or if it still runs."""
    try:
        ended, status = os.waitpid(process, os.WNOHANG)
    except ChildProcessError:
        return None
    return os.waitstatus_to_exitcode(status) if ended else None


@dataclass(frozen=True, slots=True)
class Use:
    """The resources of a process at a moment."""

    memory_mib: float = 0.0
    descriptors: int = 0
    threads: int = 0


def use_of(process: int) -> Use:
    """The present resources of a process."""
    proc = Path(f"/proc/{process}")
    (pages,) = (line for line in (proc / "status").read_text(encoding="utf-8").splitlines() if "VmRSS" in line)
    descriptors, threads = (len(list((proc / name).iterdir())) for name in ("fd", "task"))
    return Use(int(pages.split()[1]) / 1024, descriptors, threads)


def cut_connections(process: int, folder: Path) -> int:
    """Shuts the connections to sockets below `folder` that `process` has accepted, in both directions; how many.

    It takes them by duplicates of the process's own descriptors, which needs no debugger, and no relay between.
    """
    inodes = _connected_below(folder)
    descriptors = [int(path.name) for path in _descriptors(process) if _inode(path) in inodes]
    for descriptor in descriptors:
        with socket.socket(fileno=_duplicate(process, descriptor)) as connection:
            connection.shutdown(socket.SHUT_RDWR)
    return len(descriptors)


def _connected_below(folder: Path) -> set[str]:
    lines = Path("/proc/net/unix").read_text(encoding="utf-8", errors="replace").splitlines()
    rows = [fields for fields in (line.split() for line in lines) if len(fields) == 8]
    return {f"socket:[{row[6]}]" for row in rows if row[5] == CONNECTED and row[7].startswith(str(folder))}


def _descriptors(process: int) -> list[Path]:
    try:
        return list(Path(f"/proc/{process}/fd").iterdir())
    except OSError:
        return []


def _inode(descriptor: Path) -> str | None:
    try:
        return str(descriptor.readlink())
    except OSError:
        return None


def _duplicate(process: int, descriptor: int) -> int:
    pidfd = os.pidfd_open(process)
    try:
        duplicate = int(_libc.syscall(SYS_PIDFD_GETFD, pidfd, descriptor, 0))
    finally:
        os.close(pidfd)
    if duplicate < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return duplicate


# The stand-in

STARTER = """\
#!/bin/sh
exec {stand_in} /dev/stdin <<END
seed $(sed -n 's/^seed-set = //p' {ini})
{script}
END
"""
"""The script in the place of CastaliaBin, with each run's own seed."""


def stand_in() -> Path:
    """The program; raises UserError if it is not built."""
    if not STAND_IN.is_file():
        raise UserError(f"{STAND_IN} is not there: build it with make -C omnet stand-in")
    return STAND_IN


def all_linked(nodes: int, seconds: int) -> list[str]:
    """The script of a simulation in which everybody hears everybody; omnet/stand_in/script.h has the statements."""
    links = [f"link {a} {b}" for a, b in combinations(range(nodes), 2)]
    return [f"nodes {nodes}", f"time_limit {seconds * SECOND}", *links]


def install_stand_in(folder: Path, script: Iterable[str]) -> dict[str, str]:
    """Makes the installation in `folder`, all of whose runs follow `script`, which leaves out the seed.

    Returns the environment variables that name it. Raises UserError if the stand-in is not built.
    """
    omnet, simulator = folder / "omnet", folder / "src" / "CastaliaBin"
    text = STARTER.format(stand_in=shlex.quote(str(stand_in())), ini=INI_FILE, script="\n".join(script))
    for file in (simulator, omnet / "build" / LIBRARY):
        file.parent.mkdir(parents=True)
        file.touch(mode=0o755)
    simulator.write_text(text, encoding="utf-8")
    (folder / "Version").write_text(f"omnetpp-{TRIED[0]}\n", encoding="utf-8")
    return {OMNETPP_ROOT: str(folder), CASTALIA_ROOT: str(folder), OMNET_ROOT: str(omnet)}


def castalia() -> dict[str, str] | None:
    """The variables that say where Castalia is, if the environment has them."""
    found = {name: os.environ.get(name, "") for name in (OMNETPP_ROOT, CASTALIA_ROOT)}
    return found if all(found.values()) else None
