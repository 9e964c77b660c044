"""Finds an agent's class by the name that a user gives, and checks that it can run.

The name is an entry point (group `roambus.agents`), `module:Class`, or `path/to/file.py[:Class]`. An installed agent is
never searched in the working folder, which may be a stranger's. Errors in the user's code become UserErrors with a
place. `find_code` and `announce_code` show a user the hash of foreign code before any of it runs (docs: trust).
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterable
from dataclasses import MISSING, dataclass, fields, is_dataclass
from importlib.metadata import EntryPoint
from pathlib import Path, PurePosixPath
from types import ModuleType
from typing import Any, TypeGuard, cast

from roambus.bridge.system.code import (
    AGENTS,
    DISTRIBUTION,
    code_hash,
    find_files,
    find_source,
    installed,
    is_installed,
    is_ours,
    is_own,
    module_files,
    project_files,
)
from roambus.bridge.system.code import data_hash as hash_of_files
from roambus.bridge.system.errors import UserError
from roambus.bridge.system.imports import import_file, import_installed, import_module
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.settings import describe_parameters, unknown

Announce = Callable[[str], None]
"""Receives the line that names the code about to run."""
_SHOWN_OF_HASH = 16
_AN_AGENT = "subclass of roambus.Agent with a handler, which is a method under @on or @on_timer"


# Find


def load_agent(reference: str) -> type[Agent]:
    """Return the runnable agent class; raise UserError."""
    points = _points(reference)
    if len({point.value for point in points}) > 1:  # one package may well be found twice
        packages = " and ".join(_foreign_packages(points)) or "two packages"
        raise UserError(f"agent {reference!r} comes from {packages}: remove one of them (python -m pip uninstall NAME)")
    try:
        agent = _find(reference, points[0].value if points else None)
        check_agent(reference, agent)
    except UserError as error:
        names = _foreign_packages(points[:1])
        remedy = "".join(f"; correct it, or remove it: python -m pip uninstall {name}" for name in names)
        raise UserError(f"{error}{remedy}") from error.__cause__
    return agent


def load_agent_of_results(reference: str, *, trusted: bool) -> type[Agent]:
    """Return the class that results name; raise UntrustedAgentError unless installed or `trusted`.

    Also raises `load_agent`'s errors.
    """
    if not trusted and installed_agent(reference) is None:
        raise UntrustedAgentError(reference)
    return load_agent(reference)


class UntrustedAgentError(UserError):
    """Results name an agent neither installed nor trusted."""

    def __init__(self, reference: str) -> None:
        super().__init__(f"its agent {reference!r} is not installed, and code that results name is not run unasked")


def installed_agent(reference: str) -> EntryPoint | None:
    """Return the entry point of that name or module:Class, or None."""
    return next(iter(_points(reference)), None)


def agent_names() -> list[str]:
    """The names of all installed agents."""
    return sorted({point.name for point in installed(AGENTS)})


def own_agents() -> list[str]:
    """Return the names of roambus' agents."""
    return sorted({point.name for point in installed(AGENTS) if is_own(point)})


def _points(reference: str) -> list[EntryPoint]:
    return [point for point in installed(AGENTS) if reference in (point.name, point.value)]


def _foreign_packages(points: Iterable[EntryPoint]) -> list[str]:
    return sorted({str(point.dist.name) for point in points if point.dist is not None} - {DISTRIBUTION})


def _find(reference: str, installed: str | None) -> type[Agent]:
    what, target = f"agent {reference!r}", installed or reference
    module_name, _, class_name = target.rpartition(":") if ":" in target else (target, "", "")
    if installed:
        module = import_installed(what, module_name)
    elif module_name.endswith(".py"):
        module = import_file(what, Path(module_name))
    elif class_name:
        module = import_module(what, module_name)
    else:
        hint = "or give module:Class or path/to/file.py"
        raise UserError(f"{unknown('agent', reference, dict.fromkeys(agent_names()))}; {hint}")
    return _choose_class(reference, module, class_name)


def _choose_class(reference: str, module: ModuleType, name: str) -> type[Agent]:
    agents = {key: value for key, value in vars(module).items() if _is_agent(value)}
    own = {key: value for key, value in agents.items() if value.__module__ == module.__name__}
    named = getattr(module, name, None) if name else next(iter(own.values()), None)
    if _is_agent(named) and (name or len(own) == 1):
        return named
    if name and named is None:
        problem = unknown("class", name, own)
    elif name:
        problem = f"{name} is not a {_AN_AGENT}"
    elif own:
        problem = f"the file has several agents, name one after a colon: {', '.join(sorted(own))}"
    else:
        problem = f"the file has no {_AN_AGENT}"
    raise UserError(f"agent {reference!r}: {problem}")


def _is_agent(value: object) -> TypeGuard[type[Agent]]:
    """Return whether the class has handlers, unlike a mere base."""
    if not isinstance(value, type) or not issubclass(value, Agent):
        return False
    return bool(value.handlers or value.timer_handlers) or value.handle is not Agent.handle


# Check


def check_agent(reference: str, agent: type[Agent]) -> None:
    """Raise UserError for hidden methods, unusable parameters or missing data files."""
    data_of(reference, agent)
    if not is_ours(agent.__module__):
        _refuse_hidden_methods(reference, Path(inspect.getfile(agent)))
    parameters: Any = agent.parameters_type
    if not (isinstance(parameters, type) and is_dataclass(parameters)):
        name = getattr(parameters, "__name__", "NAME")
        raise UserError(
            f"agent {reference!r}: {name} is not a class of parameters: write class {name}(Parameters), "
            f"with Parameters from roambus"
        )
    for field in fields(parameters):
        if field.default is MISSING:
            raise UserError(
                f"agent {reference!r}: parameter {field.name} has no default: "
                f"write {field.name}: TYPE = parameter(DEFAULT, ...)"
            )
    try:
        parameters()
        describe_parameters(parameters)
    except (ArithmeticError, TypeError, ValueError) as error:
        raise UserError(f"agent {reference!r}: the defaults of {parameters.__name__} do not work: {error}") from None


def _refuse_hidden_methods(reference: str, file: Path) -> None:
    """Raise UserError for two methods of one name: Python silently keeps the last.

    Decorated ones (setters, overloads) may repeat, except with `on` or `on_timer`.
    """
    for cls in ast.walk(ast.parse(file.read_bytes())):
        if not isinstance(cls, ast.ClassDef):
            continue
        lines: dict[str, int] = {}
        for method in cls.body:
            if not isinstance(method, ast.FunctionDef):
                continue
            if method.decorator_list and not any(map(_is_mark, method.decorator_list)):
                continue
            if (line := lines.setdefault(method.name, method.lineno)) != method.lineno:
                raise UserError(
                    f"agent {reference!r}: {file}:{method.lineno}: class {cls.name} has a method {method.name} at "
                    f"line {line} already, which would never be called: give one of them another name"
                )


def _is_mark(decorator: ast.expr) -> bool:
    function = decorator.func if isinstance(decorator, ast.Call) else decorator
    return ast.unparse(function).rpartition(".")[2] in ("on", "on_timer")


# Code


@dataclass(frozen=True, slots=True)
class AgentCode:
    """An agent's files, its own first, and installed package or ""."""

    reference: str
    package: str
    files: tuple[Path, ...]

    @property
    def hash(self) -> str:
        """Return the hash, empty without files; raise OSError."""
        return code_hash(self.files).hex() if self.files else ""

    def announce(self, recorded: str | None = None) -> str:
        """Return the line naming the code; `recorded` is a run record's hash. Raise OSError."""
        place = f"from {self.package}" if self.package else f"at {self.files[0]}"
        more = f" and {len(self.files) - 1} more beside it" if len(self.files) > 1 and not self.package else ""
        since = {
            None: "",
            "": "; the record does not say what it was in the run",
            self.hash: ", unchanged since the run",
        }.get(recorded, f"; CHANGED since the run: {(recorded or '')[:_SHOWN_OF_HASH]}")
        return f"runs agent {self.reference} {place}{more} (sha256 {self.hash[:_SHOWN_OF_HASH]}{since})"


def find_code(reference: str) -> AgentCode:
    """Return an agent's code without running it; no files if absent."""
    point = installed_agent(reference)
    target = point.value if point else reference
    module, _, _ = target.rpartition(":") if ":" in target else (target, "", "")
    if module.endswith(".py"):
        return AgentCode(reference, "", _files_of_file(Path(module).resolve()))
    package = f"{point.dist.name} {point.dist.version}" if point and point.dist else ""
    return AgentCode(reference, package, tuple(find_files(module)))


def _files_of_file(file: Path) -> tuple[Path, ...]:
    if not file.is_file():
        return ()
    return (
        file,
        *sorted(imported for imported in project_files([file]) if imported != file and not is_installed(imported)),
    )


def announce_code(reference: str, announce: Announce, recorded: str | None = None) -> None:
    """Announce an uninstalled agent, or any if `recorded`; raise OSError."""
    if announce is silently:
        return
    code = find_code(reference)
    if code.files and not (code.package and recorded is None):
        announce(code.announce(recorded))


def silently(_: str) -> None:
    """Announce nothing."""


def agent_sources(agent_class: type[Agent]) -> list[Path]:
    """Return the class's module, or its whole foreign package."""
    return module_files(agent_class.__module__, Path(inspect.getfile(agent_class)).resolve())


def data_of(reference: str, agent: type[Agent]) -> dict[str, Path]:
    """Return the files that a class names in `data_files`, by name; raise UserError for one that is not beside it."""
    owner = next(cls for cls in agent.__mro__ if "data_files" in vars(cls))
    folder, names = Path(inspect.getfile(owner)).resolve().parent, cast("object", agent.data_files)
    where = f"agent {reference!r}: {owner.__name__}.data_files"
    if not isinstance(names, tuple | list) or not all(isinstance(name, str) for name in names):
        raise UserError(f'{where}: write the names of files beside it in brackets, such as ("table.json",)')
    for name in names:
        place = PurePosixPath(name)
        if place.is_absolute() or ".." in place.parts or not (folder / name).is_file():
            raise UserError(f"{where}: there is no file {name!r} in {folder}")
    return {name: folder / name for name in names}


def data_hash(reference: str, agent: type[Agent]) -> bytes:
    """Return a hash of the names and contents of a class's data files, empty without any; raise UserError, OSError."""
    return hash_of_files(data_of(reference, agent).items())


def class_docstring(target: str) -> str | None:
    """Return a module:Class docstring from the source, or None."""
    module, _, name = target.partition(":")
    if (file := find_source(module)) is None:
        return None
    try:
        tree = ast.parse(file.read_text(encoding="utf-8"))
    except (SyntaxError, ValueError):
        return None
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == name:
            return ast.get_docstring(node)
        if (
            isinstance(node, ast.ImportFrom)
            and node.module
            and name in [alias.asname or alias.name for alias in node.names]
        ):
            return class_docstring(f"{node.module}:{name}")
    return None
