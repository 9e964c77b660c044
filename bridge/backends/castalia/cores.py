"""Keeps host and simulator together on one core of the machine.

The two take turns: one computes while the other waits. On one core the turn passes in a third of the time that it takes
to wake another core.
"""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def core_of_our_own() -> Iterator[None]:
    """Keeps this process, and its children started meanwhile, on a core that no other run has claimed, if there is one.

    With every core claimed the scheduler places both, as always.
    """
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
            if _lock(lock):
                os.sched_setaffinity(0, {core})
                return lock
            os.close(lock)
    return None


def _lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
