"""How a command is hit: a signal to one of its processes, or a file system that is full from now on."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random

from benchmarks.failures.processes import marked, program
from benchmarks.killing.subjects import HOST, JAVA, SIMULATOR, WORKER

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
FULL = "full disk"
DISK_MIB = 24
_FILLER = "filler"


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


def hit(mark: str, host: int, target: str, number: signal.Signals, random: Random) -> str:
    """Sends the signal to a process of that kind, or to the host if there is none; says to what it was sent."""
    kinds = {process: kind_of(process, host) for process in marked(mark)}
    chosen = [process for process, kind in kinds.items() if kind == target] or [host]
    process = random.choice(chosen)
    with suppress(ProcessLookupError):
        os.kill(process, number)
    return kinds.get(process, HOST)


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
