"""How a command is hit: a signal to one of its processes, or a file system that is full from now on."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random

from benchmarks.failures.processes import marked, program
from benchmarks.killing.subjects import HOST, JAVA, SIMULATOR, WORKER

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
SOON_S = 0.2
"""A process that was waited for is hit within this."""
FULL = "full disk"
DISK_MIB = 24
_FILLER = "filler"


@dataclass(frozen=True, slots=True)
class Blow:
    """The kind of process that is to be hit, and with what; or the small disk that is to be full."""

    target: str
    how: str
    random: Random
    disk: Path | None = None


def kind_of(process: int, host: int) -> str:
    """What kind of process of a command it is; empty for helpers, such as shells."""
    if process == host:
        return HOST
    name = Path(program(process) or "").name
    if name == "java":
        return JAVA
    if name in {"CastaliaBin", "stand-in"}:
        return SIMULATOR
    with suppress(OSError):
        if b"spawn_main" in Path(f"/proc/{process}/cmdline").read_bytes():
            return WORKER
    return ""


def hit(mark: str, host: subprocess.Popen[bytes], blow: Blow) -> str | None:
    """Sends the signal to a process of the kind, once there is one; says to what it was sent, if to any."""
    while host.poll() is None:
        kinds = {process: kind_of(process, host.pid) for process in marked(mark)}
        chosen = [process for process, kind in kinds.items() if kind == blow.target]
        if chosen:
            time.sleep(blow.random.uniform(0, SOON_S))
            with suppress(ProcessLookupError):
                os.kill(blow.random.choice(chosen), signal.Signals[blow.how])
                return blow.target
        time.sleep(SOON_S / 20)
    return None


@contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    """A file system of some MiB at `folder`; raises CalledProcessError if it may not be mounted."""
    folder.mkdir()
    options = ["-t", "tmpfs", "-o", f"size={DISK_MIB}m", "none", str(folder)]
    subprocess.run(["mount", *options], check=True, capture_output=True)  # wherever the system has it
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True, capture_output=True)  # as above


def fill(disk: Path) -> None:
    """Leaves no byte free."""
    with suppress(OSError), (disk / _FILLER).open("ab", buffering=0) as file:
        while True:
            file.write(bytes(1 << 20))
    with suppress(OSError), (disk / _FILLER).open("ab", buffering=0) as file:
        while file.write(bytes(512)):
            pass


def empty(disk: Path) -> None:
    """Gives the room back."""
    (disk / _FILLER).unlink(missing_ok=True)
