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
from pathlib import Path
from types import ModuleType

from roambus.bridge.errors import UserError


def import_module(what: str, name: str) -> ModuleType:
    """The module of that name, also from the working folder; `what` begins the message of a UserError."""
    _look_in_working_folder()
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
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "importlib" not in frame.filename]
    place = f"{frames[-1].filename}:{frames[-1].lineno}: " if frames and frames[-1].filename != __file__ else ""
    return UserError(f"{what} cannot be imported: {place}{type(error).__name__}: {error}")
