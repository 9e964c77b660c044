"""Templates (`*.ini.j2`, Jinja) of plain OMNeT++ ini files: found by name, read and parsed once, rendered for each run.

A `Template` goes from the request to the last run. The command sets `seed`, `agent` and `agent_parameters`; `variables`
declares others. Templates can call `range`, `fail(message)`, `takes(parameter)` and the functions of studies, and
filter by `quoted`, `file_name` and `time`. Jinja's sandbox renders untrusted templates, so `takes` asks the run's agent
alone: a template names no code that is loaded. An unset variable is an error: an ini with a gap can be valid. Errors
name file and line.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import jinja2
from jinja2 import (
    FileSystemLoader,
    StrictUndefined,
    TemplateNotFound,
    TemplateRuntimeError,
    TemplateSyntaxError,
    meta,
    nodes,
)
from jinja2.sandbox import SandboxedEnvironment, safe_range

from roambus.bridge.agents import load_agent
from roambus.bridge.keys import quote
from roambus.bridge.system.bounded import ExceededError, bounded
from roambus.bridge.system.code import STUDIES, named
from roambus.bridge.system.errors import UserError
from roambus.bridge.system.files import MOST_BYTES, check_writable, read_text
from roambus.bridge.system.limits import TEMPLATE_MEMORY, TEMPLATE_TIME
from roambus.experiments.inventory import TEMPLATE_SUFFIX, TEMPLATES, find_file, shipped_folders, study_modules
from roambus.experiments.random_scenarios import TEMPLATE_FUNCTIONS
from roambus.experiments.templates.variables import Scalar, check_value, declared_variables
from roambus.python_protocol.settings import Setting, in_seconds, parameter_settings, unknown

RUN_VARIABLES = ("seed", "agent", "agent_parameters")
"""The variables that options set for every run."""
_TAKES = "takes"
"""The function that says whether the run's agent has a parameter."""

Values = Mapping[str, Scalar]


class UnknownVariableError(UserError):
    """A template has no variable of that name."""


class _Part(NamedTuple):
    """A template's file, or one that it includes."""

    tree: nodes.Template
    names: set[str]
    """What it uses and does not define."""
    included: list[str | None]
    declared: Mapping[str, Setting] | None
    """The variables at its head; None without a declaration."""


@dataclass(frozen=True)
class Template:
    """A template's file with all that it includes; these are read when first needed, and once."""

    file: Path

    def __str__(self) -> str:
        return str(self.file)

    @property
    def name(self) -> str:
        """The file's name."""
        return self.file.name

    @property
    def stem(self) -> str:
        """The file's name without its suffix."""
        return self.name.removesuffix(TEMPLATE_SUFFIX)

    @property
    def rendered(self) -> Path:
        """The name of a rendered ini, for messages."""
        return self.file.with_name(f"{self.name} (rendered)")

    @cached_property
    def variables(self) -> Mapping[str, Setting | None]:
        """All variables, with their declarations if there are any; raises UserError."""
        parts = self._parts.values()
        declared: dict[str, Setting] = {}
        for part in parts:  # the template's own first: it may give a variable of a part another default
            declared |= {name: variable for name, variable in (part.declared or {}).items() if name not in declared}
        used = set[str]().union(*(part.names for part in parts))
        free = sorted(used) if self._parts[self.file].declared is None else ()
        taken = {*self._environment.globals, *RUN_VARIABLES, _TAKES}
        return {name: variable for name, variable in {**dict.fromkeys(free), **declared}.items() if name not in taken}

    @cached_property
    def defaults(self) -> Values:
        """All declared defaults; raises UserError."""
        declared = self.variables.items()
        return {
            name: default
            for name, variable in declared
            if variable is not None and (default := variable.default) is not None
        }

    @property
    def files(self) -> list[Path]:
        """Its own file and those of all parts that it includes; raises UserError."""
        return list(self._parts)

    @cached_property
    def _parts(self) -> Mapping[Path, _Part]:
        found: dict[Path, _Part] = {}
        waiting = [self.file]
        while waiting:
            file = waiting.pop()
            if file not in found:
                found[file] = part = self._read(file)
                waiting += [find_beside(file, name or "") for name in part.included]
        return found

    def _read(self, file: Path) -> _Part:
        with _errors_at(file):
            text = read_text(file)
            tree = self._environment.parse(text, file.name, str(file))
            names, included = meta.find_undeclared_variables(tree), list(meta.find_referenced_templates(tree))
            return _Part(tree, names, included, declared_variables(text, file))

    @cached_property
    def _compiled(self) -> jinja2.Template:
        return self._environment.get_template(self.name)

    @property
    def _environment(self) -> SandboxedEnvironment:
        return _environment(self.file.parent)

    def variable(self, name: str, where: str) -> Setting | None:
        """Return a variable's declaration, if any; raise UserError beginning with `where` if unknown."""
        if name in RUN_VARIABLES:
            raise UserError(f"{where}: {name!r} has an option of its own")
        if name not in self.variables:
            raise UnknownVariableError(f"{where}: {unknown(f'variable of template {self.name}', name, self.variables)}")
        return self.variables[name]

    def check(self, choices: Iterable[Values], where: str) -> None:
        """Raise UserError beginning with `where` for an unknown variable or invalid value."""
        for name, value in (item for values in choices for item in values.items()):
            if declared := self.variable(name, where):
                check_value(declared, value, where)

    def only_prints(self, name: str) -> bool:
        """Return whether the template and its parts only write this variable's text; raise UserError.

        A test, a loop, an assignment or a function can use it otherwise.
        """
        uses = printed = 0
        for part in self._parts.values():
            uses += sum(used.name == name for used in part.tree.find_all(nodes.Name))
            outputs = (written for output in part.tree.find_all(nodes.Output) for written in output.nodes)
            printed += sum(_printed(written) == name for written in outputs)
        return uses == printed > 0

    def render(self, variables: Values) -> str:
        """Return the ini text; raise UserError naming template, line and variable."""
        # What is compiled is bounded, too: filters of constants are applied then.
        with _errors_at(self.file):
            asked = self._asked_of_agent(variables)
            with _bounds(self.file):
                return _whole(self.file, self._compiled.generate({**self.defaults, **variables, **asked}))

    def _asked_of_agent(self, variables: Values) -> Mapping[str, Callable[[str], bool]]:
        """The function `takes`, if a part uses it; the agent is loaded outside of the template's bounds."""
        if not any(_TAKES in part.names for part in self._parts.values()):
            return {}
        parameters = parameter_settings(load_agent(str(variables["agent"])).parameters_type)
        return {_TAKES: parameters.__contains__}


def find_template(name: str) -> Template:
    """Return the template by path, or ours by name; raise UserError listing them."""
    return Template(find_file("templates", name))


def find_beside(template: Path, name: str) -> Path:
    """Return a named or included file, beside the template or ours; raise UserError."""
    for folder in _folders(template.parent):
        with suppress(OSError, ValueError):  # the name can be too long for any file, or have a zero byte in it
            if Path(name).name == name and (folder / name).is_file():
                return folder / name
    raise UserError(f"{template}: it names the file {name!r}, which lies neither beside it nor in {TEMPLATES}")


def _folders(own: Path) -> Iterator[Path]:
    yield own
    yield TEMPLATES  # first, since to look for packages and studies takes longest
    yield from shipped_folders()


def _printed(part: nodes.Node | None) -> str | None:
    while isinstance(part, nodes.Filter):
        part = part.node
    return part.name if isinstance(part, nodes.Name) else None


@contextmanager
def _bounds(template: Path) -> Iterator[None]:
    memory, seconds = TEMPLATE_MEMORY, TEMPLATE_TIME
    try:
        with bounded(int(memory.most), seconds.most):
            yield
    except ExceededError as error:
        limit = memory if "memory" in str(error) else seconds
        raise UserError(f"{template}: it takes {error}: {limit.reason}; {limit.way_to_raise()}") from None


def _whole(template: Path, pieces: Iterable[str]) -> str:
    """Join the pieces; raise UserError for more text than an ini may have."""
    found: list[str] = []
    length = 0
    for piece in pieces:
        length += len(piece)
        if length > MOST_BYTES:
            raise UserError(f"{template}: its ini is longer than {MOST_BYTES >> 20} MiB, the most that a text may be")
        found.append(piece)
    return "".join(found)


@contextmanager
def _errors_at(template: Path) -> Iterator[None]:
    try:
        yield
    except UserError:
        raise
    except TemplateSyntaxError as error:
        place = template if error.filename in (None, _WHERE_JINJA_LOOKS) else error.filename
        raise UserError(f"{place}:{error.lineno}: {error.message}") from None
    except TemplateNotFound as error:
        raise UserError(f"{template}: it includes {error}, which is not there") from None
    except RecursionError as error:
        raise UserError(f"{_place(template, error)}: {_TOO_DEEP}") from None
    except Exception as error:
        problem = " ".join(str(error).split()) or type(error).__name__
        if missing := re.fullmatch(r"'(\w+)' is undefined", str(error)):
            problem = f"variable {missing[1]!r} is not set: give it with --set {missing[1]}=VALUE"
        raise UserError(f"{_place(template, error)}: {problem}") from None


_WHERE_JINJA_LOOKS = "<introspection>"
"""The file in Jinja's errors while it looks for variables."""
_TOO_DEEP = "a part that includes itself, a macro that calls itself, or brackets in brackets go too deep"


def _place(template: Path, error: Exception) -> str:
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.endswith(TEMPLATE_SUFFIX)]
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else str(template)


class _Environment(SandboxedEnvironment):
    """Jinja's sandbox, which computes nothing before a template is rendered within its bounds."""

    intercepted_binops = frozenset(("+", "-", "*", "/", "//", "%", "**"))


@cache
def _environment(folder: Path) -> SandboxedEnvironment:
    environment = _Environment(
        loader=FileSystemLoader([*_folders(folder)]),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        finalize=_finalize,
    )
    # A file lies beside the ini under its name alone, wherever it is taken from.
    environment.filters |= {
        "quoted": lambda value: quote(str(value)),
        "file_name": lambda value: Path(str(value)).name,
        "time": in_seconds,
    }
    own = {function.__name__: function for function in (*TEMPLATE_FUNCTIONS, *functions_for(folder))}
    environment.globals = {"fail": _fail, "range": safe_range, **own}
    return environment


def functions_for(folder: Path) -> list[Callable[..., Any]]:
    """Return the functions of studies for this folder; none of a user's folder."""
    modules, place = study_modules(), folder.resolve()
    own = [name for name, file in modules.items() if file.parent.resolve() == place]
    chosen = own or ([] if place == TEMPLATES.resolve() else list(modules))
    beside = [named(STUDIES)[name].module.rpartition(".") for name in chosen if _scenario(modules[name]).is_file()]
    names = dict.fromkeys(f"{package}{dot}scenario" for package, dot, _ in beside)
    return [function for name in names for function in import_module(name).TEMPLATE_FUNCTIONS]


def _scenario(study: Path) -> Path:
    return study.with_name("scenario.py")


def _finalize(value: Any) -> Any:
    """Write truth values in OMNeT++'s lower case; raise ValueError for text invalid in an ini."""
    if isinstance(value, str):
        check_writable(value)
    return str(value).lower() if isinstance(value, bool) else value


def _fail(message: str) -> NoReturn:
    raise TemplateRuntimeError(message)
