"""Keeps what a command has not finished: in a folder of its own in the results, which is gone when the command ends.

The folder lies on the same disk as the results, so that what is finished moves in place in one step. A command that was
killed leaves its folder behind; the next one knows it by its lock, which ended with the command.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PREFIX = ".unfinished-"
LOCK_FILE = "lock"


@contextmanager
def workspace(results: Path) -> Iterator[Path]:
    """A folder for this command alone below `results`, an existing folder; raises OSError.

    Whoever is still at work in it at the end fails: there is no such folder any more.
    """
    with locked(results):
        _remove_abandoned(results)
        folder = new_folder(results, PREFIX)
        lock = _lock(folder)
    try:
        yield folder
    finally:
        remove_at_once(folder)
        os.close(lock)


def new_folder(parent: Path, prefix: str = "") -> Path:
    """Makes a folder of a new name in this one; raises OSError."""
    made = tempfile.mkdtemp(prefix=prefix, dir=parent)
    return parent / Path(made).name  # since Python 3.12 it is absolute, and messages name files as the user does


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Lets one process at a time into the block, if the folder's file system has locks; raises OSError."""
    descriptor = os.open(folder, os.O_DIRECTORY)
    try:
        with suppress(OSError):  # not every network's file system has them
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def remove_at_once(folder: Path) -> None:
    """Takes the folder away under a new name first, so that nobody adds to it while it is being removed."""
    removed = folder.with_name(f"{folder.name}-removed")
    with suppress(OSError):
        folder.rename(removed)
    shutil.rmtree(removed, ignore_errors=True)


def tidy(results: Path) -> None:
    """Removes what killed commands left below `results`, if that exists; raises OSError."""
    if results.is_dir():
        with locked(results):
            _remove_abandoned(results)


def _remove_abandoned(results: Path) -> None:
    for folder in results.glob(f"{PREFIX}*"):
        if _is_abandoned(folder):
            remove_at_once(folder)


def _is_abandoned(folder: Path) -> bool:
    """Whether its command has ended. Where there are no locks nobody can tell, and it stays."""
    try:
        lock = os.open(folder / LOCK_FILE, os.O_RDWR)
    except FileNotFoundError:  # killed between two steps
        return True
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(lock)
    return True


def _lock(folder: Path) -> int:
    lock = os.open(folder / LOCK_FILE, os.O_RDWR | os.O_CREAT, 0o600)
    with suppress(OSError):
        fcntl.flock(lock, fcntl.LOCK_EX)
    return lock
