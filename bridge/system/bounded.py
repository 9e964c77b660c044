"""A block of a stranger's instructions, such as a template, that may take so much memory and time, and no more."""

from __future__ import annotations

import resource
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

_PAGES = Path("/proc/self/statm")


class ExceededError(Exception):
    """The block has taken more than it may; the message says of what."""


@contextmanager
def bounded(mib: int, seconds: float) -> Iterator[None]:
    """Raise ExceededError if the block takes more memory than it found, by that much, or longer than that.

    The time is known in the main thread only, the memory where Linux tells it. A limit that was there stays.
    """
    with _memory(mib << 20), _time(seconds):
        yield


@contextmanager
def _memory(room: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    try:
        used = int(_PAGES.read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    except OSError:  # no Linux
        yield
        return
    limit = used + room
    if soft != resource.RLIM_INFINITY and soft <= limit:
        yield  # whoever set that limit gets its error
        return
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
    try:
        yield
    except MemoryError:
        raise ExceededError(f"more than {room >> 20:,} MiB of memory") from None
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


@contextmanager
def _time(seconds: float) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def late(_: int, __: FrameType | None) -> None:
        raise ExceededError(f"more than {seconds:g} s")

    before = signal.signal(signal.SIGALRM, late)
    left, _ = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, left)
        signal.signal(signal.SIGALRM, before)
