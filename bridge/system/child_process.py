"""Child processes: a crash of one ends a run and not the sweep.

The outcome comes pickled through a pipe. The kernel ends the child with its parent. Signals stay blocked in a child
until it has its handlers: an earlier one would end it without a message.
"""

from __future__ import annotations

import ctypes
import io
import os
import pickle
import signal
import sys
import traceback
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from roambus.bridge.system.errors import AgentError, BackendError, RoambusError
from roambus.bridge.system.interrupts import INTERRUPTING, interrupts_postponed, termination_interrupts
from roambus.bridge.system.watch import Watch, read_watched, watching

T = TypeVar("T")
_DIE_WITH_PARENT = 1
"""The option PR_SET_PDEATHSIG of `prctl`."""


class EndedError(RoambusError):
    """A run's child process ended without an outcome."""

    exit_code = AgentError.exit_code

    def __init__(self, status: int, who: str = "the agent") -> None:
        """`status` is the exit code, or the negative signal number."""
        super().__init__(status, who)  # exceptions pickle these arguments
        self.status = status

    def __str__(self) -> str:
        _, who = self.args
        return f"{who} ended the process of its run, {self.how}"

    @property
    def how(self) -> str:
        """Name its signal or exit code."""
        number = -self.status
        name = number if number not in set(signal.Signals) else signal.Signals(number).name
        return f"by the signal {name}" if number > 0 else f"with exit code {self.status}"

    @property
    def was_killed(self) -> bool:
        """Whether something outside may have killed it, such as for lack of memory."""
        return self.status == -signal.SIGKILL


class OverdueError(EndedError):
    """A run's child process was ended, because a call of it did not return in time."""

    exit_code = BackendError.exit_code

    def __init__(self, problem: str) -> None:
        super().__init__(0, problem)

    def __str__(self) -> str:
        return str(self.args[1])

    def __reduce__(self) -> tuple[type[OverdueError], tuple[str]]:
        return OverdueError, (str(self),)


def run_in_child(make: Callable[[], T]) -> T:
    """Return `make()` from a child process; raises its errors, and EndedError.

    Only what `make` has returned counts: a child that ends in any other way, whatever its exit code, is an error.
    Unpickling is safe because only our own child writes.
    """
    with watching() as watch:
        return _run_watched(make, watch)


def _run_watched(make: Callable[[], T], watch: Watch) -> T:
    reading, writing = os.pipe()
    child, data, late = 0, b"", ""
    try:
        with interrupts_postponed():  # an interruption between fork and assignment would lose the child's number
            child = fork()
            if child == 0:
                os.close(reading)
                _serve(make, writing)
            os.close(writing)
        data, late = read_watched(reading, child, watch)
    except KeyboardInterrupt as interruption:
        if child:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGTERM)
            data = _read(reading)
        outcome = _outcome(data)
        raise outcome if isinstance(outcome, KeyboardInterrupt) else interruption from None
    finally:
        os.close(reading)
        status = os.waitpid(child, 0)[1] if child else 0
    if late:
        raise OverdueError(late)
    if not data:
        raise EndedError(os.waitstatus_to_exitcode(status))
    outcome = _outcome(data)
    if isinstance(outcome, BaseException):
        raise outcome
    return outcome  # type: ignore[no-any-return]  # it is what `make` has returned


def start_child(serve: Callable[[], object]) -> int:
    """Start a child process that calls `serve`; return its number to wait for."""
    child = fork()
    if child == 0:
        _serve(serve, os.open(os.devnull, os.O_WRONLY))
    return child


def fork() -> int:
    """Fork, with interrupting signals blocked in the child until it unblocks them."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()  # else both processes would write what is buffered
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, INTERRUPTING)
    child = -1
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of threads: the libraries' do nothing in a child
            child = os.fork()
    finally:
        if child != 0:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
    return child


def _read(reading: int) -> bytes:
    with io.FileIO(reading, closefd=False) as file:
        return file.readall() or b""


def _outcome(data: bytes) -> Any:
    return pickle.loads(data) if data else None  # noqa: S301  # from our own child


def _serve(make: Callable[[], Any], writing: int) -> None:
    """Write the outcome and exit; never returns.

    SystemExit would run the parent's `finally` blocks and exit handlers, too.
    """
    try:
        _die_with_parent()
        data = _pickled_outcome(make)
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        with io.FileIO(writing, "w") as file:
            file.write(data)
    finally:
        os._exit(EndedError.exit_code)


def _pickled_outcome(make: Callable[[], Any]) -> bytes:
    try:
        with termination_interrupts():
            signal.pthread_sigmask(signal.SIG_UNBLOCK, INTERRUPTING)
            return pickle.dumps(make())
    except SystemExit as error:  # else the parent would end with it, perhaps with 0
        return pickle.dumps(EndedError(error.code if isinstance(error.code, int) else int(error.code is not None)))
    except BaseException as error:
        if not isinstance(error, RoambusError | OSError | KeyboardInterrupt):
            error.add_note(f"in the process of the run:\n{''.join(traceback.format_exception(error))}")
        return pickle.dumps(error)


def _die_with_parent() -> None:
    """Leave terminal signals to the parent, which passes them on, and die with it."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    with suppress(OSError, AttributeError):  # only Linux has prctl
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
