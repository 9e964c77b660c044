"""Finds agents: by entry point (group `roambus.agents`), as `module:Class`, or as `path/to/file.py[:Class]`."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
import traceback
from hashlib import sha256
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import TypeGuard

from bridge.errors import UserError
from python_protocol.agent import Agent
from python_protocol.parameters import unknown

GROUP = "roambus.agents"


def agent_names() -> list[str]:
    """The names of all installed agents."""
    return sorted(point.name for point in entry_points(group=GROUP))


def load_agent(reference: str) -> type[Agent]:
    """The agent's class; raises UserError saying why there is none, and which there are."""
    points = {point.name: point.value for point in entry_points(group=GROUP)}
    target = points.get(reference, reference)
    module_name, _, class_name = target.rpartition(":") if ":" in target else (target, "", "")
    if module_name.endswith(".py"):
        return _choose_class(reference, _import_file(reference, Path(module_name)), class_name)
    if not class_name:
        hint = "or give module:Class or path/to/file.py"
        raise UserError(f"{unknown('agent', reference, dict.fromkeys(points))}; {hint}")
    return _choose_class(reference, _import_module(reference, module_name), class_name)


def agent_sources(agent_class: type[Agent]) -> list[Path]:
    """The files that the agent's class is written in: its module, or its whole package."""
    file = Path(inspect.getfile(agent_class)).resolve()
    if "." in agent_class.__module__:
        return sorted(file.parent.rglob("*.py"))
    return [file]


def _import_module(reference: str, name: str) -> ModuleType:
    folder = str(Path.cwd())
    if folder not in sys.path:
        sys.path.insert(0, folder)  # a console script does not look in the user's folder by itself
    try:
        return importlib.import_module(name)
    except Exception as error:
        raise _import_failed(reference, error) from error


def _import_file(reference: str, path: Path) -> ModuleType:
    if not path.is_file():
        raise UserError(f"agent {reference!r}: there is no file {path}")
    name = f"agent_{path.stem}_{sha256(str(path.resolve()).encode()).hexdigest()[:8]}"
    spec = importlib.util.spec_from_file_location(name, path.resolve())
    if spec is None or spec.loader is None:
        raise UserError(f"agent {reference!r}: {path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up while it is being imported
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise _import_failed(reference, error) from error
    return module


def _import_failed(reference: str, error: Exception) -> UserError:
    if isinstance(error, SyntaxError):
        place = f"{error.filename}:{error.lineno}"
        return UserError(f"agent {reference!r} cannot be imported: {place}: {error.msg}")
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "importlib" not in frame.filename]
    place = f"{frames[-1].filename}:{frames[-1].lineno}: " if frames and frames[-1].filename != __file__ else ""
    return UserError(f"agent {reference!r} cannot be imported: {place}{type(error).__name__}: {error}")


def _choose_class(reference: str, module: ModuleType, name: str) -> type[Agent]:
    own: dict[str, type[Agent]] = {key: value for key, value in vars(module).items() if _is_own_agent(module, value)}
    if not name and len(own) == 1:
        return next(iter(own.values()))
    if not name:
        raise UserError(f"agent {reference!r}: {_name_one(own)}")
    found = getattr(module, name, None)
    if found is None:
        raise UserError(f"agent {reference!r}: {unknown('class', name, own)}")
    if _is_agent(found):
        return found
    raise UserError(f"agent {reference!r}: {name} is no subclass of python_protocol.agent.Agent with a handle()")


def _name_one(own: dict[str, type[Agent]]) -> str:
    if not own:
        return "the file has no subclass of python_protocol.agent.Agent with a handle()"
    return f"the file has several agents, name one after a colon: {', '.join(sorted(own))}"


def _is_own_agent(module: ModuleType, value: object) -> TypeGuard[type[Agent]]:
    return _is_agent(value) and getattr(value, "__module__", "") == module.__name__


def _is_agent(value: object) -> TypeGuard[type[Agent]]:
    return isinstance(value, type) and issubclass(value, Agent) and not inspect.isabstract(value)
