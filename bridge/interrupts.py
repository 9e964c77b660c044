"""Interruptions: SIGTERM and SIGHUP are taken as Ctrl-C, and none comes where nobody could clean up after it.

Python raises KeyboardInterrupt for Ctrl-C at any point of the main thread. Code that is called back from C cannot pass
it on, so the signal is kept there until the call is over.
"""

from __future__ import annotations

import dis
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType

_ENDS = (signal.SIGTERM, signal.SIGHUP)
"""By which a process is told to end, and that its terminal is gone."""
INTERRUPTING = (signal.SIGINT, *_ENDS)
"""All that interrupt: Ctrl-C, too."""
_noticed: list[int] = []


def _interrupt_once(number: int, _: FrameType | None) -> None:
    # What ends by the first one is not interrupted by a second.
    signal.signal(number, signal.SIG_IGN)
    _noticed.append(number)
    raise KeyboardInterrupt


@contextmanager
def termination_interrupts() -> Iterator[None]:
    """SIGTERM or SIGHUP during the block raises KeyboardInterrupt, so that nothing is left behind.

    A library may have swallowed it; then it is raised at the end of the block once more, or of a block inside it. What
    is ignored, as SIGHUP is below nohup, stays so.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in _ENDS}
    heard = [number for number, handler in before.items() if handler is not signal.SIG_IGN]
    for number in heard:
        signal.signal(number, _interrupt_once)
    try:
        yield
    finally:
        for number in heard:
            signal.signal(number, before[number])
        swallowed = bool(_noticed)
        _noticed.clear()
    if swallowed:
        raise KeyboardInterrupt


def termination_noticed() -> bool:
    """Whether SIGTERM or SIGHUP came during `termination_interrupts`, also if a library has swallowed it."""
    return bool(_noticed)


@contextmanager
def interrupts_postponed() -> Iterator[None]:
    """Ctrl-C during the block raises KeyboardInterrupt at its end.

    A library that calls Python back from C cannot pass the exception on: it prints a traceback, and the run goes on.
    """
    handlers = {number: signal.getsignal(number) for number in INTERRUPTING}
    raising = {
        number for number, handler in handlers.items() if handler in {signal.default_int_handler, _interrupt_once}
    }
    if threading.current_thread() is not threading.main_thread():
        raising = set()
    received: list[int] = []
    for number in raising:
        signal.signal(number, lambda number, _: received.append(number))
    try:
        yield
    finally:
        for number in raising:
            signal.signal(number, handlers[number])
    if received:
        raise KeyboardInterrupt


@contextmanager
def interrupts_noticed() -> Iterator[Callable[[], bool]]:
    """Ctrl-C, SIGTERM or SIGHUP during the block is not raised: the function that is yielded says whether one came.

    So a loop can end in good order. In another thread than the main one nothing is noticed.
    """
    received: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    before = {number: signal.getsignal(number) for number in INTERRUPTING}
    heard = [number for number, handler in before.items() if handler is not signal.SIG_IGN]
    for number in heard:
        signal.signal(number, lambda number, _: received.append(number))
    try:
        yield lambda: bool(received)
    finally:
        for number in heard:
            signal.signal(number, before[number])


def is_raised(error: BaseException) -> bool:
    """Whether somebody wrote `raise` for this KeyboardInterrupt, which then did not come from a signal."""
    last = _last(error.__traceback__)
    if last is None or last.tb_frame.f_code is _interrupt_once.__code__:
        return False
    return last.tb_frame.f_code.co_code[last.tb_lasti] == dis.opmap["RAISE_VARARGS"]


def _last(found: TracebackType | None) -> TracebackType | None:
    while found is not None and found.tb_next is not None:
        found = found.tb_next
    return found
