"""Imports what users give by name or as a file; whatever goes wrong in it is a UserError with its place.

What is imported can import other modules of the user's: they are looked for in the working folder, too, as by
`python -m`, but after everything that is installed. So a user's `random.py` or `numpy/` does not become that of the
packages which roambus itself imports.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from itertools import dropwhile, takewhile
from pathlib import Path
from types import ModuleType

from roambus.bridge.errors import UserError
from roambus.bridge.process import is_raised

_OUR_PACKAGE = Path(__file__).parents[2]


def import_module(what: str, name: str) -> ModuleType:
    """The module of that name, also from the working folder; `what` begins the message of a UserError."""
    _look_in_working_folder()
    return import_installed(what, name)


def import_installed(what: str, name: str) -> ModuleType:
    """The module of that name where Python looks for modules; `what` begins the message of a UserError."""
    with _whatever_it_raises(what), unable_to_exit():
        return importlib.import_module(name)


def import_file(what: str, path: Path) -> ModuleType:
    """The module that is written in this file; `what` begins the message of a UserError."""
    if not path.is_file():
        raise UserError(f"{what}: there is no file {path}")
    name = f"file_{path.stem}_{sha256(str(path.resolve()).encode()).hexdigest()[:8]}"
    spec = importlib.util.spec_from_file_location(name, path.resolve())
    if spec is None or spec.loader is None:
        raise UserError(f"{what}: {path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up while it is being imported
    _look_in_working_folder()
    try:
        with _whatever_it_raises(what), unable_to_exit():
            spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    return module


@contextmanager
def _whatever_it_raises(what: str) -> Iterator[None]:
    """Makes a UserError of it, but for Ctrl-C, and of a change of the working folder, by which files are named."""
    folder = Path.cwd()
    try:
        yield
        if (other := Path.cwd()) != folder:
            os.chdir(folder)
            raise RuntimeError(f"it changes the working folder to {other}")
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt) and not is_raised(error):
            raise
        raise _failed(what, error) from error


@contextmanager
def unable_to_exit() -> Iterator[None]:
    """Has Python's ways to end the process raise an error in the block, for nobody could tell whose doing it was."""
    names = ("_exit", "abort")
    before = {name: getattr(os, name) for name in names}

    def refuse(*_: object) -> None:
        raise RuntimeError("this would end the process of roambus: an agent may not do that")

    for name in names:
        setattr(os, name, refuse)
    try:
        yield
    finally:
        for name, function in before.items():
            setattr(os, name, function)


def _look_in_working_folder() -> None:
    """A console script does not look there by itself."""
    folder = str(Path.cwd())
    if folder not in sys.path:
        sys.path.append(folder)


def _failed(what: str, error: BaseException) -> UserError:
    if isinstance(error, SyntaxError):
        return UserError(f"{what} cannot be imported: {error.filename}:{error.lineno}: {error.msg}")
    return UserError(f"{what} cannot be imported: {_place(error)}{type(error).__name__}: {error}")


def _place(error: BaseException) -> str:
    """File and line of the user's that are to blame, also where the error is raised by code of ours that they call."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "importlib" not in frame.filename]
    blamed = list(takewhile(_is_theirs, dropwhile(lambda frame: not _is_theirs(frame), frames))) or frames
    return f"{blamed[-1].filename}:{blamed[-1].lineno}: " if blamed and blamed[-1].filename != __file__ else ""


def _is_theirs(frame: traceback.FrameSummary) -> bool:
    return not Path(frame.filename).is_relative_to(_OUR_PACKAGE)
