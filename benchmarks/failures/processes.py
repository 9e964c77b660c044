"""The processes of a trial, found in /proc: wherever they go, they carry the trial's mark in their environment."""

from __future__ import annotations

import ctypes
import os
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

MARK = "ROAMBUS_TRIAL"
POLL_S = 0.01
PR_SET_CHILD_SUBREAPER = 36
SYS_PIDFD_GETFD = 438
CONNECTED = "03"
"""A socket's state, as /proc/net/unix has it."""

_libc = ctypes.CDLL(None, use_errno=True)


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
    for path in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):  # gone by now, or another user's
            if entry in path.read_bytes().split(b"\0"):
                found.append(int(path.parent.name))
    return found


def describe(process: int) -> str:
    """What it runs."""
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
