"""Renders templates (`*.ini.j2`, Jinja) into plain OMNeT++ ini files. Every variable must be set or have a default.

Whoever makes the run sets `seed`, `agent` and `agent_parameters`; all other variables are the template's own, which it
declares at its head (`roambus.experiments.templates.variables`). Templates
can call `range` and `fail(message)`, filter by `quoted`, and draw what is random by the functions of
`roambus.experiments.random_scenarios`: `migrating_tree`, `population`, `returning`, `skip_ring_commands`,
`steady_starts` and those for sites.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

from jinja2 import (
    FileSystemLoader,
    StrictUndefined,
    TemplateError,
    TemplateNotFound,
    TemplateRuntimeError,
    TemplateSyntaxError,
    meta,
)
from jinja2.sandbox import SandboxedEnvironment

from roambus.bridge.errors import UserError
from roambus.bridge.keys.values import quote
from roambus.bridge.texts import read_text
from roambus.experiments.random_scenarios.population import population
from roambus.experiments.random_scenarios.returning_clients import returning
from roambus.experiments.random_scenarios.sites import (
    interested_sites,
    random_failure,
    random_site,
    random_sites,
)
from roambus.experiments.random_scenarios.skip_ring_commands import skip_ring_commands
from roambus.experiments.random_scenarios.steady_state import steady_starts
from roambus.experiments.random_scenarios.trees import migrating_tree
from roambus.experiments.shipped import TEMPLATES, shipped_files
from roambus.experiments.templates.variables import Scalar, Variable, check_value, declared_variables
from roambus.python_protocol.parameters import unknown

SUFFIX = ".ini.j2"
RUN_VARIABLES = ("seed", "agent", "agent_parameters")
"""The variables that are set for every run, by options of their own."""

Values = Mapping[str, Scalar]


def find_template(name: str) -> Path:
    """The template of that path, or of that name among ours; raises UserError listing what there is."""
    if Path(name).is_file():
        return Path(name)
    ours = shipped_files(SUFFIX)
    if name not in ours:
        raise UserError(f"{unknown('template', name, ours)}; or give the path of a file")
    return ours[name]


def find_beside(template: Path, name: str) -> Path:
    """The file that a rendered template names: beside the template, or one of ours; raises UserError."""
    for folder in (template.parent, TEMPLATES):
        if Path(name).name == name and (folder / name).is_file():
            return folder / name
    raise UserError(f"{template}: it names the file {name!r}, which lies neither beside it nor in {TEMPLATES}")


def template_variables(template: Path) -> dict[str, Variable | None]:
    """Every variable that the template, or a part that it includes, can be given, with its declaration if it has one.

    Raises UserError.
    """
    environment = _environment(template.parent)
    taken = {*environment.globals, *RUN_VARIABLES}
    return {name: one for name, one in _variables(environment, template).items() if name not in taken}


def _variables(environment: SandboxedEnvironment, template: Path) -> dict[str, Variable | None]:
    try:
        tree = environment.parse(read_text(template), template.name, str(template))
    except TemplateSyntaxError as error:
        raise _syntax_error(template, error) from None
    declared = declared_variables(template)
    found: dict[str, Variable | None]
    found = dict.fromkeys(sorted(meta.find_undeclared_variables(tree))) if declared is None else {**declared}
    parts = [find_beside(template, name or "") for name in meta.find_referenced_templates(tree)]
    for part in parts:
        of_part = _variables(environment, part)
        found |= {name: one for name, one in of_part.items() if one is not None or declared is None}
    return found


def check_variables(template: Path, values: Values, where: str) -> None:
    """Raises UserError, which begins with `where`, for an unknown variable, or a value that it does not take."""
    for name, value in values.items():
        declared = find_variable(template, name, where)
        if declared is not None:
            check_value(declared, value, where)


def find_variable(template: Path, name: str, where: str) -> Variable | None:
    """The declaration of a variable, if it has one; raises UserError, which begins with `where`, for an unknown one."""
    variables = template_variables(template)
    if name in RUN_VARIABLES:
        raise UserError(f"{where}: {name!r} has an option of its own")
    if name not in variables:
        raise UserError(f"{where}: {unknown(f'variable of template {template.name}', name, variables)}")
    return variables[name]


def render(template: Path, variables: Values) -> str:
    """The ini text; raises UserError naming template, line and variable."""
    try:
        return _environment(template.parent).get_template(template.name).render({**defaults(template), **variables})
    except TemplateSyntaxError as error:
        raise _syntax_error(template, error) from None
    except TemplateNotFound as error:
        raise UserError(f"{template}: it includes {error}, which is not there") from None
    except (TemplateError, TypeError, ValueError, ArithmeticError) as error:
        raise UserError(f"{_place(template, error)}: {_hint(error)}") from None


def defaults(template: Path) -> dict[str, Scalar]:
    """The value of each variable that has a declared default; raises UserError."""
    declared = template_variables(template)
    return {name: one.default for name, one in declared.items() if one is not None and one.default is not None}


def _syntax_error(template: Path, error: TemplateSyntaxError) -> UserError:
    return UserError(f"{error.filename or template}:{error.lineno}: {error.message}")


def _place(template: Path, error: Exception) -> str:
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.endswith(SUFFIX)]
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else str(template)


def _hint(error: Exception) -> str:
    missing = re.fullmatch(r"'(\w+)' is undefined", str(error))
    return f"variable {missing[1]!r} is not set: give it with --set {missing[1]}=VALUE" if missing else str(error)


@cache
def _environment(folder: Path) -> SandboxedEnvironment:
    environment = SandboxedEnvironment(
        loader=FileSystemLoader([folder, TEMPLATES]),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        finalize=_finalize,
    )
    environment.filters["quoted"] = _quoted
    drawn = (interested_sites, migrating_tree, population, random_failure, random_site, random_sites, returning)
    own = {one.__name__: one for one in (*drawn, skip_ring_commands, steady_starts)}
    environment.globals = {"fail": _fail, "range": range, **own}
    return environment


def _finalize(value: Any) -> Any:
    """Truth values in small letters, as OMNeT++ writes them."""
    return str(value).lower() if isinstance(value, bool) else value


def _quoted(value: Any) -> str:
    return quote(str(value))


def _fail(message: str) -> NoReturn:
    raise TemplateRuntimeError(message)
