"""Imports the user's modules, by name or by file.

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
from roambus.bridge.system.reading import reading


def import_module(what: str, name: str) -> ModuleType:
    """Import a module, also from the working folder; raise UserError, beginning with `what`."""
    look_in(Path.cwd())
    files = find_files(name)
    _check_helpers(what, files)
    with reading():
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
        with _errors_of_import(what), reading():
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
