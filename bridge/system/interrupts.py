"""The signals that end a process: SIGTERM and SIGHUP count as Ctrl-C.

A block ends at once (`termination_interrupts`) or stays whole (`interrupts_postponed`).
"""

from __future__ import annotations

import linecache
import signal
import threading
import traceback
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType

_ENDS = (signal.SIGTERM, signal.SIGHUP)
"""Signals of termination and a lost terminal."""
INTERRUPTING = (signal.SIGINT, *_ENDS)
"""All that interrupt: Ctrl-C, too."""
NOTICED: list[int] = []
"""The signals of termination that have come, even if a library or Python itself swallowed what was raised for them."""


class NamedInterruption(KeyboardInterrupt):
    """Ctrl-C whose message tells users what it ended. That of a plain KeyboardInterrupt is some library's."""


def _interrupt_once(number: int, _: FrameType | None) -> None:
    # What ends by the first one is not interrupted by a second.
    signal.signal(number, signal.SIG_IGN)
    NOTICED.append(number)
    raise KeyboardInterrupt


@contextmanager
def termination_interrupts() -> Iterator[None]:
    """Raise KeyboardInterrupt on SIGTERM or SIGHUP in the block, for cleanup.

    If a library swallows it, the end of the block, or of an inner one, raises again. Ignored signals stay ignored
    (nohup).
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    try:
        with _handled(_not_ignored(_ENDS), _interrupt_once):
            yield
    finally:
        swallowed = NOTICED.copy()
        NOTICED.clear()
    if swallowed:
        raise KeyboardInterrupt


@contextmanager
def _handled(numbers: Collection[int], handler: Callable[[int, FrameType | None], object]) -> Iterator[None]:
    before = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)


def _not_ignored(numbers: Iterable[int]) -> list[int]:
    """Return the signals not ignored; none outside the main thread."""
    if threading.current_thread() is not threading.main_thread():
        return []
    return [number for number in numbers if signal.getsignal(number) is not signal.SIG_IGN]


@contextmanager
def interrupts_postponed() -> Iterator[None]:
    """Raise KeyboardInterrupt for Ctrl-C only at the block's end.

    C libraries cannot pass it on from a callback: they print a traceback and continue.
    """
    ours = {signal.default_int_handler, _interrupt_once}
    received: list[int] = []
    raising = [number for number in _not_ignored(INTERRUPTING) if signal.getsignal(number) in ours]
    with _handled(raising, lambda number, _: received.append(number)):
        yield
    if received:
        raise KeyboardInterrupt


def is_raised(error: BaseException) -> bool:
    """Return whether a `raise` of a source file, not a signal, caused the KeyboardInterrupt."""
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    if last is None or last.tb_frame.f_code is _interrupt_once.__code__:
        return False
    (place,) = traceback.extract_tb(last)
    line = linecache.getline(place.filename, place.lineno or 0)
    return line.encode()[place.colno or 0 :].startswith(b"raise")  # columns count bytes
