"""A process of roambus: the signals that end it, its temporary folders, and its working folder.

SIGTERM and SIGHUP count as Ctrl-C, so that the same code cleans up. A block chooses how it bears an interruption: it is
ended at once (`termination_interrupts`), stays whole (`interrupts_postponed`), or ends in good order
(`interrupts_noticed`).

A temporary folder is locked by the process that made it: a folder whose lock is free was left by a killed process, and
the next command removes it. Matplotlib and Numba read settings from the working folder, which may hold a stranger's
results, and so are imported from elsewhere.
"""

from __future__ import annotations

import dis
import fcntl
import os
import re
import shutil
import signal
import stat
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from importlib import import_module
from pathlib import Path
from types import FrameType, ModuleType

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
    """These signals are handled so during the block, and as before after it."""
    before = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)


def _not_ignored(numbers: Iterable[int]) -> list[int]:
    """The signals that are not ignored; none in another thread than the main one, which hears none."""
    if threading.current_thread() is not threading.main_thread():
        return []
    return [number for number in numbers if signal.getsignal(number) is not signal.SIG_IGN]


def termination_noticed() -> bool:
    """Whether SIGTERM or SIGHUP came during `termination_interrupts`, also if a library has swallowed it."""
    return bool(_noticed)


@contextmanager
def interrupts_postponed() -> Iterator[None]:
    """Ctrl-C during the block raises KeyboardInterrupt at its end.

    A library that calls Python back from C cannot pass the exception on: it prints a traceback, and the run goes on.
    """
    ours = {signal.default_int_handler, _interrupt_once}
    received: list[int] = []
    raising = [number for number in _not_ignored(INTERRUPTING) if signal.getsignal(number) in ours]
    with _handled(raising, lambda number, _: received.append(number)):
        yield
    if received:
        raise KeyboardInterrupt


@contextmanager
def interrupts_noticed() -> Iterator[Callable[[], bool]]:
    """Ctrl-C, SIGTERM or SIGHUP during the block is not raised: the function that is yielded says whether one came.

    So a loop can end in good order. In another thread than the main one nothing is noticed.
    """
    received: list[int] = []
    with _handled(_not_ignored(INTERRUPTING), lambda number, _: received.append(number)):
        yield lambda: bool(received)


def is_raised(error: BaseException) -> bool:
    """Whether somebody wrote `raise` for this KeyboardInterrupt, which then did not come from a signal."""
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    if last is None or last.tb_frame.f_code is _interrupt_once.__code__:
        return False
    return last.tb_frame.f_code.co_code[last.tb_lasti] == dis.opmap["RAISE_VARARGS"]


# Temporary folders

BRIDGE, SPARK, SHIPMENT = PURPOSES = ("bridge", "spark", "shipment")
"""What the folders are for. No folder with another name is ever removed."""
NEW = "new-"
BEING_MADE_S = 10.0
"""After this time with its first name a folder was left by a process that was killed while it made the folder."""
_NAMES = re.compile(rf"({NEW})?roambus-({'|'.join(PURPOSES)})-[a-z0-9_]{{8}}")
_MODE = 0o700
"""The names and the mode that `mkdtemp` gives."""


@contextmanager
def private_folder(purpose: str, parent: Path | None = None) -> Iterator[Path]:
    """A folder PARENT/roambus-PURPOSE-…, in the system's temporary folder unless told otherwise; raises OSError."""
    parent = parent or Path(tempfile.gettempdir())
    remove_abandoned(parent)
    resources = ExitStack()
    try:
        try:
            with interrupts_postponed():  # a folder that is made, and whose name is not known yet, would stay
                new = Path(tempfile.mkdtemp(prefix=f"{NEW}{prefix_of(purpose)}", dir=parent))
                folder = new.with_name(new.name.removeprefix(NEW))
                for one in (new, folder):
                    resources.callback(shutil.rmtree, one, ignore_errors=True)
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
    """What the names of the folders for it begin with."""
    return f"roambus-{purpose}-"


def remove_abandoned(parent: Path | None = None) -> None:
    """Removes the folders of processes that were killed, for nobody else could."""
    with suppress(OSError), os.scandir(parent or tempfile.gettempdir()) as entries:
        for entry in entries:
            if _NAMES.fullmatch(entry.name):
                _remove_if_abandoned(entry.path)


def _remove_if_abandoned(folder: str) -> None:
    """A folder that is not ours, or whose process lives, is left alone: so is one that cannot be opened or locked."""
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
"""A folder that may not be read can still be come back to, where the system has O_PATH."""


def import_elsewhere(name: str) -> ModuleType:
    """The module of that name, imported while another folder is the working folder, unless it is imported already.

    That folder is the one of this file, in which there are no settings of anybody's. `contextlib.chdir` would not do:
    it goes back by the name of the working folder, and fails in one that was removed or may not be read.
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
    """Return how many cores this process may use; on systems that do not tell, how many the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
