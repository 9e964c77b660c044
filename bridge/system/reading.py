"""Notes the files that the user's code reads: an agent's tables stand in no import, and a run depends on them.

Python reports each file that it opens (an audit event). A file counts if the user's code asked for it, directly or
through a library. Imported code and the system's files do not count. A file is hashed when it is first opened. Files
that compiled libraries open by themselves go unnoticed.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from types import FrameType
from typing import Any

from roambus.bridge.system.code import is_installed, is_own_file, project_files
from roambus.bridge.system.files import open_regular, user_cache

_PIECE_BYTES = 2**20
_EVENTS = ("open", "sqlite3.connect")
_SYSTEM = ("/proc", "/sys", "/dev", "/etc", "/usr", "/lib")

_read: dict[Path, dict[Path, str]] = {}
"""Files with their hashes, by the file of the code that asked for them."""
_written: set[Path] = set()
_is_watching = False
_is_noting = False


def files_read(starts: Iterable[Path]) -> dict[Path, str]:
    """Return what this code and all that it imports has read so far, with the SHA-256 that each file had then."""
    found: dict[Path, str] = {}
    imported = project_files(starts)
    code, waiting = set[Path](), imported
    while waiting:
        code |= waiting
        read = {file: digest for reader in waiting for file, digest in _read.get(reader, {}).items()}
        found |= read
        waiting = project_files(file for file in read if file.suffix == ".py") - code  # loaded by no import
    return {file: digest for file, digest in found.items() if file not in imported}


@contextmanager
def reading() -> Iterator[None]:
    """Note the files that the user's code reads in the block."""
    global _is_watching, _is_noting  # noqa: PLW0603  # Python keeps its one hook until it ends
    if not _is_watching:
        sys.addaudithook(_note)
        _is_watching = True
    before, _is_noting = _is_noting, True
    try:
        yield
    finally:
        _is_noting = before


def hash_of(file: Path) -> str:
    """Return the SHA-256 of a regular file; raise OSError."""
    digest = sha256()
    with open_regular(file) as opened:
        while piece := opened.read(_PIECE_BYTES):
            digest.update(piece)
    return digest.hexdigest()


def _note(event: str, arguments: tuple[Any, ...]) -> None:
    global _is_noting  # noqa: PLW0603  # what this function opens does not count
    if not _is_noting or event not in _EVENTS or not isinstance(arguments[0], str | bytes | os.PathLike):
        return
    _is_noting = False
    try:
        # Whoever opens a file gets its own errors, and none of this hook's.
        with suppress(OSError, ValueError):
            _note_file(_source(os.fsdecode(arguments[0])), *arguments[1:3])
    finally:
        _is_noting = True


def _note_file(file: Path, mode: str | None = None, flags: int | None = None) -> None:
    if _is_of_system(file) or (reader := _reader(sys._getframe(2))) is None:
        return
    found = _read.setdefault(reader, {})
    if _is_made_anew(mode, flags or 0):
        _written.add(file)
    elif _is_for_reading(mode, flags or 0) and file not in found and file not in _written and file.is_file():
        found[file] = hash_of(file)


def _is_made_anew(mode: str | None, flags: int) -> bool:
    return bool(flags & (os.O_TRUNC | os.O_EXCL)) if mode is None else not set(mode).isdisjoint("wx")


def _is_for_reading(mode: str | None, flags: int) -> bool:
    return flags & os.O_ACCMODE != os.O_WRONLY if mode is None else mode.strip("bt") != "a"


def _source(name: str) -> Path:
    """Return a file's place; for a compiled module that of its source."""
    try:
        return Path(importlib.util.source_from_cache(name)).resolve()
    except (ValueError, NotImplementedError):
        return Path(name).resolve()


@cache
def _is_of_system(file: Path) -> bool:
    libraries = (sys.prefix, sys.base_prefix, sysconfig.get_path("purelib"), str(user_cache().parent))
    return is_installed(file) or is_own_file(file) or any(map(file.is_relative_to, (*_SYSTEM, *libraries)))


def _reader(frame: FrameType | None) -> Path | None:
    """Return the user's file that asked: of the callers that are no library, the innermost, unless it is ours."""
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith("<") and not _is_library(name):
            return None if is_own_file(Path(name)) else Path(name).resolve()
        frame = frame.f_back
    return None


@cache
def _is_library(name: str) -> bool:
    file = Path(name).resolve()
    return not is_own_file(file) and (is_installed(file) or file.is_relative_to(sys.base_prefix) or not file.exists())
