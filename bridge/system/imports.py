"""Imports the user's modules, by name or by file, and finds the files that these read while they are imported.

A module finds its helpers beside it, and in the working folder. Python knows a module by its name alone, so two
different helpers of one name are an error. Otherwise one agent would silently run with the other's helper.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from itertools import dropwhile, takewhile
from pathlib import Path
from types import ModuleType
from typing import Any

from roambus.bridge.system.code import (
    find_files,
    find_source,
    import_root,
    imported_file,
    imported_names,
    is_installed,
    is_own_file,
    project_files,
)
from roambus.bridge.system.errors import UserError
from roambus.bridge.system.interrupts import is_raised


def import_module(what: str, name: str) -> ModuleType:
    """Import a module, also from the working folder; raise UserError, beginning with `what`."""
    look_in(Path.cwd())
    files = find_files(name)
    _check_helpers(what, files)
    with _reading(name, files):
        return import_installed(what, name)


def import_installed(what: str, name: str) -> ModuleType:
    """Import a module from Python's own path; raise UserError, beginning with `what`."""
    with _errors_of_import(what):
        return importlib.import_module(name)


def import_file(what: str, path: Path) -> ModuleType:
    """Import a file's module, which finds its helpers beside it; raise UserError, beginning with `what`."""
    if not path.is_file():
        raise UserError(f"{what}: there is no file {path}")
    file = path.resolve()
    stem = path.stem.replace(".", "_")  # with a dot it would count as a module of a package
    name = f"file_{stem}_{sha256(os.fsencode(file)).hexdigest()[:8]}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise UserError(f"{what}: {path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    for folder in (import_root(file), Path.cwd()):
        look_in(folder)
    _check_helpers(what, [file])
    sys.modules[name] = module  # dataclasses look their module up while it is being imported
    try:
        with _errors_of_import(what), _reading(name, [file]):
            spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    return module


def look_in(folder: Path) -> None:
    """Import modules from this folder, too, after all other places."""
    place = str(folder.absolute())  # what Python remembers of a place would be wrong for another working folder
    if place not in sys.path:
        sys.path.append(place)


def _check_helpers(what: str, starts: Iterable[Path]) -> None:
    """Raise UserError if a name that the user's files import stands for a file and for another one."""
    for file in project_files(starts):
        for name in () if is_installed(file) else sorted(imported_names(file)):
            wanted, found = imported_file(name, file), _known(name)
            if wanted and found and wanted != found and wanted.read_bytes() != found.read_bytes():
                raise UserError(f"{what}: {file} imports {name}, which is {wanted} and {found}: rename one of them")


def _known(name: str) -> Path | None:
    """Return the file of the module that Python takes for this name: of one that it has imported already, the same."""
    place = getattr(sys.modules.get(name), "__file__", None)
    return Path(place).resolve() if place else find_source(name)


@contextmanager
def _errors_of_import(what: str) -> Iterator[None]:
    """Convert errors but Ctrl-C to a UserError with the user's line."""
    try:
        yield
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt) and not is_raised(error):
            raise
        problem = f"{_place(error)}{type(error).__name__}: {error}"
        if isinstance(error, SyntaxError):
            problem = f"{error.filename}:{error.lineno}: {error.msg}"
        raise UserError(f"{what} cannot be imported: {problem}") from error


def _place(error: BaseException) -> str:
    """Return the user's last traceback line before roambus."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "importlib" not in frame.filename]
    blamed = list(takewhile(_is_users, dropwhile(lambda frame: not _is_users(frame), frames))) or frames
    return f"{blamed[-1].filename}:{blamed[-1].lineno}: " if blamed and blamed[-1].filename != __file__ else ""


def _is_users(frame: traceback.FrameSummary) -> bool:
    return not is_own_file(Path(frame.filename))


# Files that a module reads


_read: dict[str, frozenset[Path]] = {}
"""Files by the module that read them."""
_opened: set[str] | None = None
"""Names of files opened for reading, while a module is imported."""
_is_watching = False


def files_read(module: str) -> frozenset[Path]:
    """Return the files beside this module that it read while it was imported, and that it does not import."""
    return _read.get(module, frozenset())


@contextmanager
def _reading(module: str, files: Iterable[Path]) -> Iterator[None]:
    """Keep the names of files that are opened in the block."""
    global _opened  # the hook is Python's, and has no other place
    _watch()
    before, _opened = _opened, set()
    try:
        yield
    finally:
        found, _opened = _opened, before
        roots = {import_root(file) for file in files if not is_installed(file)}
        read = {place for place in map(_source, found) if any(map(place.is_relative_to, roots))}
        own = {place for place in read - project_files(files) if place.is_file() and not is_installed(place)}
        _read[module] = _read.get(module, frozenset()) | own  # what it has imported before is not read again


def _source(name: str) -> Path:
    """Return a file's place; for a compiled module that of its source."""
    try:
        return Path(importlib.util.source_from_cache(name)).resolve()
    except (ValueError, NotImplementedError):
        return Path(name).resolve()


def _watch() -> None:
    global _is_watching  # noqa: PLW0603  # Python keeps a hook until it ends
    if not _is_watching:
        sys.addaudithook(_note_opened)
        _is_watching = True


def _note_opened(event: str, arguments: tuple[Any, ...]) -> None:
    if _opened is None or event != "open":
        return
    name, mode, flags = arguments
    writes = mode is not None and not set(mode).isdisjoint("wax+")
    if isinstance(name, str | bytes | os.PathLike) and not writes and (flags or 0) & os.O_ACCMODE == os.O_RDONLY:
        _opened.add(os.fsdecode(name))
