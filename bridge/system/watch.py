"""A deadline that the parent of a run's process watches.

The child writes into shared memory until when its current call must return, and what to say if it has not. The parent
looks while it waits for the child's outcome, and ends a child that is late, even one that is stopped.
"""

from __future__ import annotations

import mmap
import os
import select
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from struct import Struct

_FORM = Struct("=dH")
"""When the call is late (s of the monotonic clock, 0: never), and the bytes of the text that follows."""
_LOOKS_S = 0.5
"""The time between two looks."""


class Watch:
    """Memory of a parent and its child."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, mmap.PAGESIZE)

    def begin(self, seconds: float, text: bytes) -> None:
        """Have the parent end this process after that time, and say so."""
        kept = text[: mmap.PAGESIZE - _FORM.size]
        self._memory[_FORM.size : _FORM.size + len(kept)] = kept
        _FORM.pack_into(self._memory, 0, time.monotonic() + seconds, len(kept))

    def end(self) -> None:
        """The call has returned."""
        _FORM.pack_into(self._memory, 0, 0.0, 0)

    def late(self) -> str:
        """What a late child is to be ended with; empty if none is late."""
        until, length = _FORM.unpack_from(self._memory)
        if not 0 < until < time.monotonic():
            return ""
        return self._memory[_FORM.size : _FORM.size + length].decode(errors="replace")


_current: Watch | None = None


@contextmanager
def watching() -> Iterator[Watch]:
    """Yield a watch, which children forked in the block have as theirs."""
    global _current  # noqa: PLW0603  # a forked child has it, whoever calls there
    before, _current = _current, Watch()
    try:
        yield _current
    finally:
        _current = before


@contextmanager
def ended_after(seconds: float, text: str) -> Iterator[None]:
    """Have the parent end this process if the block takes longer; does nothing in a process without a watch."""
    if _current is None:
        yield
        return
    _current.begin(seconds, text.encode())
    try:
        yield
    finally:
        _current.end()


def read_watched(reading: int, child: int, watch: Watch) -> tuple[bytes, str]:
    """Read all that the child writes; end it if it is late. Returns the data, and what a late one is ended with."""
    pieces: list[bytes] = []
    late = ""
    while True:
        if select.select([reading], [], [], _LOOKS_S)[0]:
            if not (piece := os.read(reading, 1 << 20)):
                return b"".join(pieces), late
            pieces.append(piece)
        elif not late and (late := watch.late()):
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
