"""Processes of roambus: the signals that end them, child processes, temporary folders, and the working folder.

SIGTERM and SIGHUP count as Ctrl-C. A block ends at once (`termination_interrupts`) or stays whole
(`interrupts_postponed`). Temporary folders are locked; the next command removes those of killed processes, whose locks
are free.

A crash of a child process ends one run and not the sweep. The outcome comes pickled through a pipe. The kernel ends the
child with its parent. Signals stay blocked in a child until it has its handlers: an earlier one would end it without a
message.
"""

from __future__ import annotations

import ctypes
import dis
import fcntl
import io
import os
import pickle
import re
import shutil
import signal
import stat
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from importlib import import_module
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any, TypeVar

from roambus.bridge.system.errors import AgentError, BackendError, RoambusError
from roambus.bridge.system.watch import Watch, read_watched, watching

_ENDS = (signal.SIGTERM, signal.SIGHUP)
"""Signals of termination and a lost terminal."""
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
        swallowed = _noticed.copy()
        _noticed.clear()
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


def termination_noticed() -> bool:
    """Return whether SIGTERM or SIGHUP came, even if swallowed by a library."""
    return bool(_noticed)


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
    """Return whether a `raise`, not a signal, caused the KeyboardInterrupt."""
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    if last is None or last.tb_frame.f_code is _interrupt_once.__code__:
        return False
    return last.tb_frame.f_code.co_code[last.tb_lasti] == dis.opmap["RAISE_VARARGS"]


# Temporary folders

BRIDGE, SPARK, SHIPMENT = PURPOSES = ("bridge", "spark", "shipment")
"""The folders' purposes; others are never removed."""
NEW = "new-"
BEING_MADE_S = 10.0
"""A folder with its first name for longer belongs to a killed process."""
_NAMES = re.compile(rf"({NEW})?roambus-({'|'.join(PURPOSES)})-[a-z0-9_]{{8}}")
_MODE = 0o700
"""`mkdtemp`'s names and mode."""


LONGEST_TEMPORARY = 70
"""A Unix socket's path holds 107 bytes, up to 30 for our names."""


@contextmanager
def private_folder(purpose: str, parent: Path | None = None) -> Iterator[Path]:
    """Yield a folder PARENT/roambus-PURPOSE-…, by default a temporary one; raise OSError."""
    temporary = tempfile.gettempdir()
    if purpose == BRIDGE and len(os.fsencode(temporary)) > LONGEST_TEMPORARY:
        temporary = "/tmp"  # noqa: S108  # mkdtemp follows
    parent = parent or Path(temporary)
    remove_abandoned(parent)
    resources = ExitStack()
    try:
        try:
            with interrupts_postponed():  # a folder that is made, and whose name is not known yet, would stay
                new = Path(tempfile.mkdtemp(prefix=f"{NEW}{prefix_of(purpose)}", dir=parent))
                folder = new.with_name(new.name.removeprefix(NEW))
                for place in (new, folder):
                    resources.callback(shutil.rmtree, place, ignore_errors=True)
                lock = os.open(new, os.O_DIRECTORY)
                resources.callback(os.close, lock)
                with suppress(OSError):  # not every file system has locks: then it is never taken for abandoned
                    fcntl.flock(lock, fcntl.LOCK_EX)
                new.rename(folder)
            yield folder
        finally:
            with interrupts_postponed():
                resources.close()
    finally:
        resources.close()  # if the interrupt came a moment before it was postponed


def prefix_of(purpose: str) -> str:
    """Return the prefix of a purpose's folders."""
    return f"roambus-{purpose}-"


def remove_abandoned(parent: Path | None = None) -> None:
    """Remove killed processes' folders."""
    with suppress(OSError), os.scandir(parent or tempfile.gettempdir()) as entries:
        for entry in entries:
            if _NAMES.fullmatch(entry.name):
                _remove_if_abandoned(entry.path)


def _remove_if_abandoned(folder: str) -> None:
    """Remove it unless foreign, in use, or not to be opened or locked."""
    with ExitStack() as stack, suppress(OSError):
        lock = os.open(folder, os.O_DIRECTORY | os.O_NOFOLLOW)
        stack.callback(os.close, lock)
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        status = os.fstat(lock)
        is_ours = status.st_uid == os.geteuid() and stat.S_IMODE(status.st_mode) == _MODE
        is_being_made = Path(folder).name.startswith(NEW) and time.time() - status.st_mtime < BEING_MADE_S
        if is_ours and not is_being_made:
            shutil.rmtree(folder, ignore_errors=True)


# The working folder

_OPEN = os.O_DIRECTORY | getattr(os, "O_PATH", os.O_RDONLY)
"""Allows returning to an unreadable folder where O_PATH exists."""


if os.path.expanduser("~") == "~":  # noqa: PTH111  # Path.home() raises then
    os.environ["HOME"] = os.devnull  # a user without a home: libraries would make a folder of this name


def import_elsewhere(name: str) -> ModuleType:
    """Import a module from this file's folder, which holds no settings, unless imported.

    `contextlib.chdir` fails to return to a removed or unreadable folder.
    """
    if name in sys.modules:
        return sys.modules[name]
    before = None
    with suppress(OSError):  # the working folder may have been removed
        before = os.open(".", _OPEN)
    os.chdir(Path(__file__).parent)
    try:
        return import_module(name)
    finally:
        if before is not None:
            os.fchdir(before)
            os.close(before)


def cores() -> int:
    """Return this process's usable cores, or else the machine's."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


# Child processes


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
