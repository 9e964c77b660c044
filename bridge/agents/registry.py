"""Finds agents: by entry point (group `roambus.agents`), as `module:Class`, or as `path/to/file.py[:Class]`."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import TypeGuard

from roambus.bridge.agents.checks import check_agent
from roambus.bridge.agents.code import DISTRIBUTION, GROUP, installed_agent, source_files
from roambus.bridge.agents.imports import import_file, import_installed, import_module
from roambus.bridge.errors import UserError
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.settings import unknown

_AN_AGENT = "subclass of roambus.Agent with a handler, which is a method under @on or @on_timer"


def agent_names() -> list[str]:
    """The names of all installed agents."""
    return sorted({point.name for point in entry_points(group=GROUP)})


def own_agents() -> list[str]:
    """The names of the agents that come with roambus."""
    points = entry_points(group=GROUP)
    return sorted({point.name for point in points if point.value.startswith(f"{DISTRIBUTION}.")})


def load_agent(reference: str) -> type[Agent]:
    """The agent's class, fit to be run; raises UserError saying why there is none, which there are, and what to do."""
    points = [point for point in entry_points(group=GROUP) if reference in (point.name, point.value)]
    _refuse_rivals(reference, points)
    try:
        agent = _find_installed(reference, points[0]) if points else _find(reference)
        check_agent(reference, agent)
    except UserError as error:
        brought_by = _brought_by(points[:1])
        remedy = "".join(f"; correct it, or remove it: python -m pip uninstall {name}" for name in brought_by)
        raise UserError(f"{error}{remedy}") from error.__cause__
    return agent


def _refuse_rivals(reference: str, points: Sequence[EntryPoint]) -> None:
    """Raises UserError if two packages mean different agents by one name; one package may well be found twice."""
    if len({point.value for point in points}) > 1:
        packages = " and ".join(_brought_by(points)) or "two packages"
        raise UserError(f"agent {reference!r} comes from {packages}: remove one of them (python -m pip uninstall NAME)")


def _brought_by(points: Iterable[EntryPoint]) -> list[str]:
    """The packages, other than this one, that the entry points are of."""
    names = {str(point.dist.name) for point in points if point.dist is not None}
    return sorted(names - {DISTRIBUTION})


def load_agent_of_results(reference: str, *, trusted: bool) -> type[Agent]:
    """The class of an agent that a results folder names, and that is run only if it is installed or `trusted`.

    Raises UntrustedAgentError, and whatever `load_agent` raises.
    """
    if not trusted and installed_agent(reference) is None:
        raise UntrustedAgentError(reference)
    return load_agent(reference)


class UntrustedAgentError(UserError):
    """A results folder names an agent that is not installed, and nobody has said that its code may be run."""

    def __init__(self, reference: str) -> None:
        super().__init__(f"its agent {reference!r} is not installed, and code that results name is not run unasked")


def _find_installed(reference: str, point: EntryPoint) -> type[Agent]:
    """An installed agent is never looked for in the working folder, which may be a stranger's."""
    module_name, _, class_name = point.value.partition(":")
    return _choose_class(reference, import_installed(f"agent {reference!r}", module_name), class_name)


def _find(reference: str) -> type[Agent]:
    module_name, _, class_name = reference.rpartition(":") if ":" in reference else (reference, "", "")
    if module_name.endswith(".py"):
        return _choose_class(reference, import_file(f"agent {reference!r}", Path(module_name)), class_name)
    if not class_name:
        hint = "or give module:Class or path/to/file.py"
        raise UserError(f"{unknown('agent', reference, dict.fromkeys(agent_names()))}; {hint}")
    return _choose_class(reference, import_module(f"agent {reference!r}", module_name), class_name)


def agent_sources(agent_class: type[Agent]) -> list[Path]:
    """The files that the agent's class is written in: its module, or the whole of a package that is not ours."""
    return source_files(agent_class.__module__, Path(inspect.getfile(agent_class)).resolve())


def name_of(agent_class: type[Agent]) -> str:
    """The name of the author's class, of which a subclass of ours may watch what it does."""
    ours = ("roambus.bridge.", "roambus.experiments.")
    return next(cls.__name__ for cls in agent_class.__mro__ if not cls.__module__.startswith(ours))


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
    raise UserError(f"agent {reference!r}: {name} is no {_AN_AGENT}")


def _name_one(own: dict[str, type[Agent]]) -> str:
    if not own:
        return f"the file has no {_AN_AGENT}"
    return f"the file has several agents, name one after a colon: {', '.join(sorted(own))}"


def _is_own_agent(module: ModuleType, value: object) -> TypeGuard[type[Agent]]:
    return _is_agent(value) and getattr(value, "__module__", "") == module.__name__


def _is_agent(value: object) -> TypeGuard[type[Agent]]:
    return isinstance(value, type) and issubclass(value, Agent) and _handles_something(value)


def _handles_something(agent: type[Agent]) -> bool:
    return bool(agent.handlers or agent.timer_handlers) or agent.handle is not Agent.handle
