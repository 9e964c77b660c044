"""Makes a run in a process of its own: whatever an agent does to its process ends with the run.

The process is forked from one that has everything loaded, which takes hundredths of a second. What the run comes to is
told through a pipe, as a value or as the error that ended it. A process that ends without telling was ended by the
agent, or by the system for want of memory: that is an error, and never taken for an end of the run. Forked processes
end with the one that they were forked from, however that ends.
"""

from __future__ import annotations

import ctypes
import io
import mmap
import os
import pickle
import signal
import sys
import traceback
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from roambus.bridge.errors import AgentError, RoambusError
from roambus.bridge.interrupts import INTERRUPTING, interrupts_postponed, termination_interrupts

T = TypeVar("T")
_LAST_WORDS = 500
"""So many bytes are told of what an agent was about to do."""
_DIE_WITH_PARENT, _ADOPT_ORPHANS = 1, 36
"""What `prctl` calls PR_SET_PDEATHSIG and PR_SET_CHILD_SUBREAPER."""


class EndedError(RoambusError):
    """The process of a run has ended without telling what came of the run."""

    exit_code = AgentError.exit_code

    def __init__(self, status: int) -> None:
        """`status` is the process' exit code, or a signal's number, negative."""
        super().__init__(f"the agent ended the process of its run, {_describe(status)}")
        self.status = status

    def __reduce__(self) -> tuple[type[EndedError], tuple[int], dict[str, Any]]:
        return type(self), (self.status,), {"args": self.args}  # exceptions pickle their text

    def at(self, agent: str, place: str) -> EndedError:
        """The same error with the agent, and with the place of what it did last."""
        error = EndedError(self.status)
        error.args = (f"agent {agent} ended the process of its run, {_describe(self.status)}{place}",)
        return error

    @property
    def was_killed(self) -> bool:
        """Whether somebody else may have done it: the system, for want of memory."""
        return self.status == -signal.SIGKILL


def _describe(status: int) -> str:
    if status >= 0:
        return f"with exit code {status}"
    try:
        return f"by the signal {signal.Signals(-status).name}"
    except ValueError:
        return f"by the signal {-status}"


def apart(make: Callable[[], T]) -> T:
    """What `make` returns in a process of its own; raises what it raises, and EndedError.

    An interruption is passed on, and waited for: what the process has begun is gone then.
    """
    reading, writing = os.pipe()
    process = None
    told = b""
    try:
        with interrupts_postponed():
            process = _fork()
            if process == 0:
                os.close(reading)
                _serve(make, writing)
            os.close(writing)
        told = _read(reading)
    except KeyboardInterrupt as interruption:
        outcome = _outcome(_end(process, reading)) if process else None
        raise outcome if isinstance(outcome, KeyboardInterrupt) else interruption from None
    finally:
        os.close(reading)
        status = os.waitpid(process, 0)[1] if process else 0
    if not told:
        raise EndedError(os.waitstatus_to_exitcode(status))
    outcome = _outcome(told)
    if isinstance(outcome, BaseException):
        raise outcome
    return outcome  # type: ignore[no-any-return]  # it is what `make` has returned


def place_of_end(make: Callable[[Callable[[str], None]], None]) -> str:
    """Where a process ends that ended without telling: `make` does it once more, and tells what it is about to do.

    It begins with a colon; it is empty if the process does not end again.
    """
    with mmap.mmap(-1, _LAST_WORDS) as words:

        def tell(what: str) -> None:
            words[:] = what.encode(errors="backslashreplace")[:_LAST_WORDS].ljust(_LAST_WORDS)

        try:
            apart(lambda: make(tell))
        except EndedError:
            told = words[:].strip(b"\0 ").decode(errors="ignore")
            return f": {told}" if told else ""
        except Exception:  # noqa: S110  # it does something else this time, and so nobody knows
            pass
        return ""


def _fork() -> int:
    """Forks; signals that end a process wait in the new one until `_told` can pass them on."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()  # what waits in it would be written twice
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, INTERRUPTING)
    process = None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of threads: the libraries' have nothing to do here
            process = os.fork()
    finally:
        if process != 0:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
    return process


def _end(process: int, reading: int) -> bytes:
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGTERM)
    return _read(reading)


def _read(reading: int) -> bytes:
    with io.FileIO(reading, closefd=False) as file:
        return file.readall() or b""


def _outcome(told: bytes) -> Any:
    return pickle.loads(told) if told else None  # noqa: S301  # from the process that we have forked


def _serve(make: Callable[[], Any], writing: int) -> None:
    """What the process does; it never returns."""
    end = os._exit  # nothing of the parent's is to be cleaned up twice
    try:
        _belong_to_parent()
        told = _told(make)
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        with io.FileIO(writing, "w") as file:
            file.write(told)
    finally:
        end(EndedError.exit_code)


def _told(make: Callable[[], Any]) -> bytes:
    try:
        with termination_interrupts():
            signal.pthread_sigmask(signal.SIG_UNBLOCK, INTERRUPTING)
            return pickle.dumps(make())
    except BaseException as error:
        if not isinstance(error, RoambusError | OSError | KeyboardInterrupt):
            error.add_note(f"in the process of the run:\n{''.join(traceback.format_exception(error))}")
        return pickle.dumps(error)


def _belong_to_parent() -> None:
    """What ends a terminal's processes is for the parent, which passes it on once; orphans become children of this."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    with suppress(OSError, AttributeError):
        library = ctypes.CDLL(None)
        library.prctl(_DIE_WITH_PARENT, signal.SIGKILL)
        library.prctl(_ADOPT_ORPHANS, 1)
