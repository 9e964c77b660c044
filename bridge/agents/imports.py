"""Imports what users give by name or as a file; whatever goes wrong in it is a UserError with its place.

What is imported can import other modules of the user's: they are looked for in the working folder, too, as by
`python -m`, but after everything that is installed. So a user's `random.py` or `numpy/` does not become that of the
packages which roambus itself imports.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import traceback
from hashlib import sha256
from itertools import dropwhile, takewhile
from pathlib import Path
from types import ModuleType

from roambus.bridge.errors import UserError

_OUR_PACKAGE = Path(__file__).parents[2]


def import_module(what: str, name: str) -> ModuleType:
    """The module of that name, also from the working folder; `what` begins the message of a UserError."""
    _look_in_working_folder()
    return import_installed(what, name)


def import_installed(what: str, name: str) -> ModuleType:
    """The module of that name where Python looks for modules; `what` begins the message of a UserError."""
    try:
        return importlib.import_module(name)
    except (Exception, SystemExit) as error:
        raise _failed(what, error) from error


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
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise _failed(what, error) from error
    return module


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
