"""Finds the class of an agent by the name that a user gives, and checks that it can run.

An agent is named by its entry point (group `roambus.agents`), as `module:Class`, or as `path/to/file.py[:Class]`. An
installed one is never looked for in the working folder, which may be a stranger's. Whatever goes wrong while code of
the user's is imported is a UserError with its place, and a class whose parameters could not be used is refused before
the run, by its name and not by a traceback.

What is imported can import other modules of the user's: they are looked for in the working folder, too, as by
`python -m`, but after everything that is installed. So a user's `random.py` or `numpy/` does not become that of the
packages which roambus itself imports.

Which code a name stands for can be said before any of it is run: its files, and a hash of them. For that, modules are
looked for as an import would look for them, but nothing is imported.

`announce` is told before any code of the user's is run, with a hash: who is handed a folder of results by somebody sees
what is about to run, and whether it is still what the results were made with (docs/trust.md).
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import os
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, dataclass, fields, is_dataclass
from hashlib import sha256
from importlib.metadata import EntryPoint
from itertools import dropwhile, takewhile
from pathlib import Path
from types import ModuleType
from typing import Any, TypeGuard

from roambus.bridge.entry_points import AGENTS, DISTRIBUTION, find_module, installed, is_own
from roambus.bridge.errors import UserError
from roambus.bridge.process import is_raised
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.settings import describe_parameters, unknown

_OUR_PACKAGE = Path(__file__).parents[1]

_SHOWN_OF_HASH = 16

Announce = Callable[[str], None]
"""Whoever is told which code is about to be run."""

_AN_AGENT = "subclass of roambus.Agent with a handler, which is a method under @on or @on_timer"


def load_agent(reference: str) -> type[Agent]:
    """The agent's class, fit to be run; raises UserError saying why there is none, which there are, and what to do."""
    points = _points(reference)
    if len({point.value for point in points}) > 1:  # one package may well be found twice
        packages = " and ".join(_brought_by(points)) or "two packages"
        raise UserError(f"agent {reference!r} comes from {packages}: remove one of them (python -m pip uninstall NAME)")
    try:
        agent = _find(reference, points[0].value if points else None)
        check_agent(reference, agent)
    except UserError as error:
        names = _brought_by(points[:1])
        remedy = "".join(f"; correct it, or remove it: python -m pip uninstall {name}" for name in names)
        raise UserError(f"{error}{remedy}") from error.__cause__
    return agent


def _points(reference: str) -> list[EntryPoint]:
    return [point for point in installed(AGENTS) if reference in (point.name, point.value)]


def installed_agent(reference: str) -> EntryPoint | None:
    """The entry point of that name, or that stands for this module:Class; None if no installed package brings it."""
    return next(iter(_points(reference)), None)


def _brought_by(points: Iterable[EntryPoint]) -> list[str]:
    """The packages, other than this one, that the entry points are of."""
    names = {str(point.dist.name) for point in points if point.dist is not None}
    return sorted(names - {DISTRIBUTION})


def agent_names() -> list[str]:
    """The names of all installed agents."""
    return sorted({point.name for point in installed(AGENTS)})


def own_agents() -> list[str]:
    """The names of the agents that come with roambus."""
    return sorted({point.name for point in installed(AGENTS) if is_own(point)})


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


def _find(reference: str, installed: str | None) -> type[Agent]:
    """The class, whose module is looked for in the working folder only if it is not an `installed` one."""
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
    """The class of that name, or without a name the only agent that the module defines itself."""
    # What a module has imported from another is not its own, and so is no answer to "which agent is in this file".
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
    """Whether it is an agent that handles something, and not the base of others."""
    if not isinstance(value, type) or not issubclass(value, Agent):
        return False
    return bool(value.handlers or value.timer_handlers) or value.handle is not Agent.handle


def check_agent(reference: str, agent: type[Agent]) -> None:
    """Raises UserError, saying what to do, if methods hide each other, or its parameters cannot be used."""
    if not agent.__module__.startswith(f"{DISTRIBUTION}."):
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
    """Raises UserError for two methods of one name in a class, of which Python keeps the last and says nothing.

    Those that belong together are no mistake, such as a property's, or what `typing.overload` stands over: all of them
    but one have decorators, and neither `on` nor `on_timer` among them.
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
    """Whether a decorator is `on` or `on_timer`, called by whatever name its module has."""
    function = decorator.func if isinstance(decorator, ast.Call) else decorator
    return ast.unparse(function).rpartition(".")[2] in ("on", "on_timer")


def import_module(what: str, name: str) -> ModuleType:
    """The module of that name, also from the working folder; `what` begins the message of a UserError."""
    _look_in_working_folder()
    return import_installed(what, name)


def import_installed(what: str, name: str) -> ModuleType:
    """The module of that name where Python looks for modules; `what` begins the message of a UserError."""
    with _whatever_it_raises(what):
        return importlib.import_module(name)


def import_file(what: str, path: Path) -> ModuleType:
    """The module that is written in this file; `what` begins the message of a UserError."""
    if not path.is_file():
        raise UserError(f"{what}: there is no file {path}")
    # A dot would make a module of a package of it, whose files are all that lie beside it.
    stem = path.stem.replace(".", "_")
    name = f"file_{stem}_{sha256(os.fsencode(path.resolve())).hexdigest()[:8]}"
    spec = importlib.util.spec_from_file_location(name, path.resolve())
    if spec is None or spec.loader is None:
        raise UserError(f"{what}: {path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up while it is being imported
    _look_in_working_folder()
    try:
        with _whatever_it_raises(what):
            spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    return module


@contextmanager
def _whatever_it_raises(what: str) -> Iterator[None]:
    """Makes a UserError of it, except for Ctrl-C."""
    try:
        yield
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt) and not is_raised(error):
            raise
        problem = f"{_place(error)}{type(error).__name__}: {error}"
        if isinstance(error, SyntaxError):
            problem = f"{error.filename}:{error.lineno}: {error.msg}"
        raise UserError(f"{what} cannot be imported: {problem}") from error


def _look_in_working_folder() -> None:
    """A console script does not look there by itself."""
    folder = str(Path.cwd())
    if folder not in sys.path:
        sys.path.append(folder)


def _place(error: BaseException) -> str:
    """File and line of the user's that are to blame, also where the error is raised by our code that they call."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "importlib" not in frame.filename]
    blamed = list(takewhile(_is_theirs, dropwhile(lambda frame: not _is_theirs(frame), frames))) or frames
    return f"{blamed[-1].filename}:{blamed[-1].lineno}: " if blamed and blamed[-1].filename != __file__ else ""


def _is_theirs(frame: traceback.FrameSummary) -> bool:
    """Whether a line is the user's, and not one of this package."""
    return not Path(frame.filename).is_relative_to(_OUR_PACKAGE)


def silently(_: str) -> None:
    """Is told what is about to be run where nobody asked."""


@dataclass(frozen=True, slots=True)
class AgentCode:
    """The files of an agent, and the installed package that brings it; empty for an agent that is not installed."""

    reference: str
    package: str
    files: tuple[Path, ...]

    @property
    def hash(self) -> str:
        """A hash of the files, wherever they lie; empty if there are none. Raises OSError."""
        if not self.files:
            return ""
        digest = sha256()
        for file in self.files:
            digest.update(file.name.encode(errors="surrogateescape") + b"\0" + sha256(file.read_bytes()).digest())
        return digest.hexdigest()

    def announce(self, recorded: str | None = None) -> str:
        """The line that says what is about to be run; `recorded` is the hash in a run's record, None if there is none.

        Raises OSError.
        """
        place = f"from {self.package}" if self.package else f"at {self.files[0]}"
        more = f" and {len(self.files) - 1} more beside it" if len(self.files) > 1 and not self.package else ""
        since = {
            None: "",
            "": "; the record does not say what it was in the run",
            self.hash: ", unchanged since the run",
        }.get(recorded, f"; CHANGED since the run: {(recorded or '')[:_SHOWN_OF_HASH]}")
        return f"runs agent {self.reference} {place}{more} (sha256 {self.hash[:_SHOWN_OF_HASH]}{since})"


def find_code(reference: str) -> AgentCode:
    """The code of an agent of that name, module:Class or file; without files if there is no such code."""
    point = installed_agent(reference)
    target = point.value if point else reference
    module, _, _ = target.rpartition(":") if ":" in target else (target, "", "")
    if module.endswith(".py"):
        file = Path(module)
        return AgentCode(reference, "", (file.resolve(),) if file.is_file() else ())
    package = f"{point.dist.name} {point.dist.version}" if point and point.dist else ""
    return AgentCode(reference, package, tuple(_files_of(module)))


def announce_code(reference: str, announce: Announce, recorded: str | None = None) -> None:
    """Tells what is about to be run; an agent that is installed, or that is not there, needs no announcement.

    With `recorded`, which is as in `AgentCode.announce`, an installed agent is told, too: it may have changed since.
    Raises OSError.
    """
    code = find_code(reference)
    if code.files and not (code.package and recorded is None):
        announce(code.announce(recorded))


def announce_file(what: str, file: Path, announce: Announce) -> None:
    """Tells that a file of the user's is about to be run, which is `what`, if it is there; raises OSError."""
    if file.is_file():
        code = AgentCode(what, "", (file.resolve(),))
        announce(f"runs {what} at {code.files[0]} (sha256 {code.hash[:_SHOWN_OF_HASH]})")


def class_docstring(target: str) -> str | None:
    """The docstring of a class, given as module:Class; None if it is not in the source, as that of a made class."""
    module, _, name = target.partition(":")
    spec = find_module(module)
    if spec is None or spec.origin is None or not spec.origin.endswith(".py") or not Path(spec.origin).is_file():
        return None
    try:
        tree = ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
    except (SyntaxError, ValueError):
        return None
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == name:
            return ast.get_docstring(node)
        if isinstance(node, ast.ImportFrom) and node.module and name in [one.asname or one.name for one in node.names]:
            return class_docstring(f"{node.module}:{name}")
    return None


def agent_sources(agent_class: type[Agent]) -> list[Path]:
    """The files that the agent's class is written in: its module, or the whole of a package that is not ours."""
    return source_files(agent_class.__module__, Path(inspect.getfile(agent_class)).resolve())


def source_files(module: str, file: Path) -> list[Path]:
    """The files that an agent in `file` is written in: that file, or the whole of a package that is not ours."""
    if "." in module and not module.startswith(f"{DISTRIBUTION}."):
        return sorted(file.parent.rglob("*.py"))
    return [file]


def _files_of(module: str) -> Sequence[Path]:
    """The files of a package, or what `source_files` says of a module; none if there is no such module."""
    spec = find_module(module)
    if spec is None or spec.origin is None or not Path(spec.origin).is_file():
        return ()
    file = Path(spec.origin).resolve()
    return sorted(file.parent.rglob("*.py")) if file.name == "__init__.py" else source_files(module, file)


def name_of(agent_class: type[Agent]) -> str:
    """The name of the author's class, of which our subclass may watch what it does."""
    ours = ("roambus.bridge.", "roambus.experiments.")
    return next(cls.__name__ for cls in agent_class.__mro__ if not cls.__module__.startswith(ours))
