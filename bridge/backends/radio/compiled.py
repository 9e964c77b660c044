"""Compiles the parts of the loop, and the one function that Python calls.

The parts have neither wrappers to be called from Python nor a cache of their own: LLVM inlines them into the entry
point, which Numba caches on disk. Numba looks for changes in the file of the cached function only, and cannot read a
cache whose types have since been renamed. So the entry point's name, which is that of its cache, ends in a fingerprint
of every source of the package: code that was edited or upgraded finds no cache, and is compiled anew.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

from roambus.bridge.working_folder import import_elsewhere

_numba: Any = import_elsewhere("numba")
_settings: Any = import_elsewhere("numba.core.config")
_settings._config_fname = ""  # Numba would read settings from the working folder whenever it compiles

F = TypeVar("F", bound=Callable[..., Any])

PACKAGE = Path(__file__).parent
FINGERPRINT_LENGTH = 16

_njit: Any = _numba.njit
typeof: Any = _numba.typeof
int64: Any = _numba.int64

_OPTIONS = {
    "error_model": "numpy",
    "_nrt": False,  # nothing here makes an array, and counting references to the given ones takes four times as long
}


def compiled(function: F) -> F:
    """Makes a function a part of the compiled loop, which Python can call by its `py_func` only."""
    options = {"forceinline": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return cast("F", _njit(**options, **_OPTIONS)(function))


def entry_point(function: F) -> F:
    """Makes a function one that Python calls, and that is cached under a name that changes with the package."""
    function.__qualname__ = f"{function.__qualname__}_{fingerprint()[:FINGERPRINT_LENGTH]}"
    return cast("F", _njit(cache=True, **_OPTIONS)(function))


def fingerprint(folder: Path = PACKAGE) -> str:
    """A hash of the Python sources in `folder`, names and contents."""
    digest = hashlib.sha256()
    for path in sorted(folder.glob("*.py")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()
