"""Temporary folders that no other user reads.

They are locked; the next command removes those of killed processes, whose locks are free.
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
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from roambus.bridge.system.interrupts import interrupts_postponed

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
