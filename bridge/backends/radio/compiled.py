"""How this package compiles: one decorator for the parts, one for the entry point.

The parts have no cache of their own: LLVM inlines them into the entry point, which Numba caches on disk. Numba looks
for changes only in the file of the cached function, so the entry point closes over a fingerprint of every source
of the package: the values that a function closes over are part of its key in the cache, and code that was edited or upgraded
is compiled anew.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

from numba import njit

F = TypeVar("F", bound=Callable[..., Any])

PACKAGE = Path(__file__).parent


def compiled(function: F) -> F:
    """A part of the compiled loop, inlined where it is called."""
    return cast("F", njit(forceinline=True, error_model="numpy")(function))


def entry_point(function: F) -> F:
    """A function that Python calls; it must close over `fingerprint()`."""
    return cast("F", njit(cache=True, error_model="numpy")(function))


def fingerprint(folder: Path = PACKAGE) -> str:
    """A hash of the Python sources in `folder`, names and contents."""
    digest = hashlib.sha256()
    for path in sorted(folder.glob("*.py")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()
