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

from roambus.bridge.process import import_elsewhere

_numba: Any = import_elsewhere("numba")
_settings: Any = import_elsewhere("numba.core.config")
_extending: Any = import_elsewhere("numba.extending")
_cgutils: Any = import_elsewhere("numba.core.cgutils")
_ir: Any = import_elsewhere("llvmlite.ir")
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


@_extending.intrinsic  # type: ignore[untyped-decorator]  # Numba has no types
def row_hint(_context: Any, array: Any, row: Any, byte: Any) -> Any:  # noqa: ARG001  # Numba reads the names only
    """`row_hint(array, row, byte)` asks the processor for that byte of that row, and changes nothing."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        rows = context.make_array(signature.args[0])(context, builder, arguments[0])
        stride = builder.extract_value(rows.strides, 0)
        offset = builder.add(builder.mul(stride, arguments[1]), arguments[2])
        place = builder.gep(builder.bitcast(rows.data, _cgutils.voidptr_t), [offset])
        word = _cgutils.int32_t
        form = _ir.FunctionType(_ir.VoidType(), [_cgutils.voidptr_t, word, word, word])
        hint = _cgutils.get_or_insert_function(builder.module, form, "llvm.prefetch.p0i8")
        builder.call(hint, [place, word(1), word(3), word(1)])  # to be written, kept in all caches, data
        return context.get_dummy_value()

    return _numba.void(array, _numba.int64, _numba.int64), code


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
