"""Keeps what lies in the working folder from becoming settings, or code, of the libraries that roambus uses.

Who looks at somebody's results often does so from within that folder. Some libraries read a file of settings from the
working folder when they are imported: Matplotlib `matplotlibrc`, which can have LaTeX run, and Numba
`.numba_config.yaml`, which can say from where compiled code is loaded.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from types import ModuleType

_OPEN = os.O_DIRECTORY | getattr(os, "O_PATH", os.O_RDONLY)
"""A folder that may not be read can still be come back to, where the system has O_PATH."""


def import_elsewhere(name: str) -> ModuleType:
    """The module of that name, imported while another folder is the working folder, unless it is imported already."""
    if name in sys.modules:
        return sys.modules[name]
    with _elsewhere():
        return import_module(name)


@contextmanager
def _elsewhere() -> Iterator[None]:
    """Makes the folder of this file the working folder in the block; it holds no settings of anybody's."""
    before = None
    with suppress(OSError):  # the working folder may have been removed
        before = os.open(".", _OPEN)
    os.chdir(Path(__file__).parent)
    try:
        yield
    finally:
        if before is not None:
            os.fchdir(before)
            os.close(before)
