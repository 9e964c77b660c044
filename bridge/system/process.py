"""The present process: its home, the folder in which it imports libraries, and its cores."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from types import ModuleType

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
