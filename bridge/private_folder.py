"""Temporary folders that only the user can enter, and that are gone once whoever made them is, however that ended.

Each is locked by the process that made it. The lock ends with the process, so that a folder whose lock is free was left
by one that was killed: the next command removes it. Until a new folder is locked it has another name.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

BRIDGE, SPARK, SHIPMENT = PURPOSES = ("bridge", "spark", "shipment")
"""What the folders are for. No folder with another name is ever removed."""
NEW = "new-"
BEING_MADE_S = 10.0
"""A folder that has its first name for so long was left by a process that was killed while making it."""


_NAMES = re.compile(rf"({NEW})?roambus-({'|'.join(PURPOSES)})-[a-z0-9_]{{8}}")
_MODE = 0o700
"""The names and the mode that `mkdtemp` gives."""


@contextmanager
def private_folder(purpose: str, parent: Path | None = None) -> Iterator[Path]:
    """A folder PARENT/roambus-PURPOSE-…, in the system's temporary folder unless told otherwise; raises OSError."""
    parent = parent or Path(tempfile.gettempdir())
    remove_abandoned(parent)
    new = Path(tempfile.mkdtemp(prefix=f"{NEW}{prefix_of(purpose)}", dir=parent))
    lock = os.open(new, os.O_DIRECTORY)
    folder = new.with_name(new.name.removeprefix(NEW))
    try:
        with suppress(OSError):  # not every file system has locks: then it is never taken for abandoned
            fcntl.flock(lock, fcntl.LOCK_EX)
        new.rename(folder)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.rmtree(new, ignore_errors=True)
        os.close(lock)


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
    try:
        lock = os.open(folder, os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:  # another user's, something else, or gone by now
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if _is_ours_and_old(folder, os.fstat(lock)):
            shutil.rmtree(folder, ignore_errors=True)
    except OSError:  # its process lives
        return
    finally:
        os.close(lock)


def _is_ours_and_old(folder: str, status: os.stat_result) -> bool:
    is_ours = status.st_uid == os.geteuid() and stat.S_IMODE(status.st_mode) == _MODE
    is_being_made = Path(folder).name.startswith(NEW) and time.time() - status.st_mtime < BEING_MADE_S
    return is_ours and not is_being_made
