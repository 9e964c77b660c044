"""Sweeps in TOML files.

template = "thesis"              a template's name, or a path beside the sweep
seeds = 10                       seeds 0 to 9; "3..12" is a range, and may have others behind a comma
backend = "ideal"                unless the command line names another one; left out: radio
measure = ["mine.py"]            files and packages of metrics
[set]                            variables that stay the same, and named settings: config = "C8"
[axes]
speed = [2, 4]                   a variable and its values
config.C2 = { brokers = 2, side = 35 }     a zipped axis: each name sets several variables
config.title = "brokers"         the axis' title in figures, where C2 is then 2
agent.buffer = [5, 10]           a parameter of every agent that has it; mft.buffer, of the agent mft
[agents]
mft = { title = "MFT-PubSub" }   an agent by its name, and its name for readers
variant = { use = "mft", parameters = { sticky_parent = false } }

Every mistake is a UserError that names file and key.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from roambus.bridge.backends.registry import DEFAULT, backend_names
from roambus.bridge.system.errors import UserError
from roambus.bridge.system.files import read_text
from roambus.experiments.inventory import SWEEP_SUFFIX, find_file, shipped_study
from roambus.experiments.sweeps.sweep import (
    AgentChoice,
    Axis,
    Sweep,
    narrow,
    plain_axis,
    read_seeds,
    validate,
)
from roambus.experiments.templates.template import Template, find_template
from roambus.experiments.templates.variables import Scalar
from roambus.python_protocol.settings import plain, unknown

_TITLE = "title"
"""The key of a zipped axis' title, beside its values."""
_KEYS = ("template", "seeds", "backend", "measure", "set", "axes", "agents")


def read_sweep(name: str) -> Sweep:
    """The sweep of that path or shipped name; raises UserError naming file and key."""
    path = find_file("sweeps", name)
    sweep = _build(path, read_content(path))
    validate(sweep)
    return sweep


def _build(path: Path, content: Mapping[str, Any]) -> Sweep:
    check_words(str(path), "key", content, _KEYS)
    backend = str(content.get("backend", DEFAULT))
    check_words(str(path), "backend", [backend], backend_names())
    template = template_of(path, content)
    return Sweep(
        source=str(path),
        template=template,
        agents=tuple(_agent(path, *item) for item in table(path, "agents", content).items()),
        axes=tuple(_with_named(path, template, axis) for axis in axes_of_table(path, content)),
        seeds=seeds_of(str(path), content),
        backend=backend,
        fixed=_fixed(path, template, table(path, "set", content)),
        name=path.stem,
        study=shipped_study(path),
        measure=tuple(_measure(path, content.get("measure", []))),
        file=path,
    )


def seeds_of(source: str, content: Mapping[str, Any]) -> tuple[int, ...]:
    """The seeds of a sweep's file; raises UserError."""
    return read_seeds(f"{source}: seeds", content.get("seeds", 1))


def _fixed(path: Path, template: Template, settings: Mapping[str, Any]) -> dict[str, Scalar]:
    """The variables under [set], named settings expanded. Raises UserError for one set twice."""
    fixed: dict[str, Scalar] = {}
    for name, value in settings.items():
        given = scalar(path, f"set.{name}", value)
        named = find_named(template, name)
        chosen: Mapping[str, Scalar] = {name: given}
        if named is not None:
            (chosen,) = narrow(named, plain(given), f"{path}: set").values.values()
        if twice := fixed.keys() & chosen.keys():
            raise UserError(f"{path}: set.{name} sets {min(twice)}, which is set there already")
        fixed |= chosen
    return fixed


def _with_named(path: Path, template: Template, axis: Axis) -> Axis:
    """The axis, or the zipped axis that a list of named settings means; raises UserError."""
    named = None if axis.title or axis.owner else find_named(template, axis.name)
    if named is None or axis.zipped:
        return replace(axis, title=named.title) if named else axis
    return narrow(named, ",".join(axis.values), f"{path}: axes")


def _measure(path: Path, named: object) -> Iterator[str]:
    """Yield packages by name and files by path, those beside the sweep first; raises UserError."""
    if not isinstance(named, list) or not all(isinstance(label, str) for label in named):
        raise UserError(f"{path}: measure: give a list of files and packages of metrics")
    if named:
        from roambus.spark.metrics.extra import check_reference  # noqa: PLC0415  # a run needs no metrics
    for label in named:
        beside = path.parent / label
        found = str(beside) if label.endswith(".py") and beside.is_file() else label
        check_reference(f"{path}: measure", found)
        yield found


def _agent(path: Path, label: str, options: object) -> AgentChoice:
    """Read an agent; sorted parameters, so that their order changes no run."""
    if not isinstance(options, dict):
        raise UserError(f"{path}: agents.{label}: write {label} = {{}}, or with use and parameters in the braces")
    check_words(f"{path}: agents.{label}", "key", options, ("use", "parameters", "title"))
    where = f"agents.{label}.parameters"
    parameters = table(path, "parameters", options).items()
    texts = sorted((name, plain(scalar(path, f"{where}.{name}", value))) for name, value in parameters)
    use = str(options.get("use", label))
    beside = str(path.parent / use)  # an agent's file may lie beside the sweep
    is_file = Path(beside.partition(".py:")[0].removesuffix(".py") + ".py").is_file()
    return AgentChoice(label, beside if is_file else use, tuple(texts), str(options.get("title", "")))


# Named settings
#
# A zipped axis' values, such as C8, set several variables. Their names work beyond their sweep: --set config=C8 for a
# single run, config = "C8" under [set] or config = ["C2", "C8"] under [axes] of another sweep of the template.


def named_settings(template: Template) -> list[Axis]:
    """The zipped axes of a template's sweeps, the namesake's first; a broken sweep has none."""
    found: dict[str, Axis] = {}
    for axis in _zipped_axes(template):
        first = found.get(axis.name, axis)
        found[axis.name] = replace(first, values={**axis.values, **first.values})
    return [*found.values()]


def _zipped_axes(template: Template) -> Iterator[Axis]:
    files = template.file.parent.glob(f"*{SWEEP_SUFFIX}")
    for file in sorted(files, key=lambda file: (file.stem != template.stem, file.name)):
        with suppress(UserError):
            content = read_content(file)
            if template_of(file, content).file.resolve() == template.file.resolve():
                yield from (axis for axis in axes_of_table(file, content) if axis.zipped)


def find_named(template: Template, name: str) -> Axis | None:
    """The named settings of that name, unless a variable of the template has it; else None."""
    with suppress(UserError):
        template.variable(name, "")
        return None
    return next((axis for axis in named_settings(template) if axis.name == name), None)


# The tables of a file


_MOST_DOTS = 50
_DEEP_KEY = re.compile(rf"(?:[\w-]+\s?\.\s?){{{_MOST_DOTS + 1}}}")
"""More dots than in any sweep's key (three); parsing time grows with their square."""
_MOST_BITS = 64
"""An ini has no larger whole numbers."""


def read_content(path: Path) -> Mapping[str, Any]:
    """Parse the file; raises UserError."""
    text = read_text(path)
    if _DEEP_KEY.search(text):  # before the slow part, which is parsing
        raise UserError(f"{path}: a key of more than {_MOST_DOTS} dots goes too deep")
    try:
        return tomllib.loads(text)
    except ValueError as error:
        raise UserError(f"{path}: {error}") from None
    except RecursionError:
        raise UserError(f"{path}: brackets in brackets go too deep") from None


def check_words(where: str, kind: str, words: Iterable[str], known: Sequence[str]) -> None:
    """Raise UserError for an unknown word: ignoring it would make another sweep."""
    for word in words:
        if word not in known:
            raise UserError(f"{where}: {unknown(kind, word, dict.fromkeys(known))}")


def template_of(path: Path, content: Mapping[str, Any]) -> Template:
    """The template beside the sweep, or the shipped one; raises UserError."""
    name = content.get("template")
    if not isinstance(name, str):
        raise UserError(f"{path}: template: give the name or the path of a template")
    beside = path.parent / name
    return Template(beside) if beside.is_file() else find_template(name)


_TABLES = {
    "set": "[set] above lines such as brokers = 8",
    "axes": "[axes] above lines such as speed = [2, 4]",
    "agents": "[agents] above a line such as mft = {} for each agent",
    "parameters": "parameters = { rate = 2 }",
}
"""How each table is written."""


def table(path: Path, key: str, content: Mapping[str, Any]) -> Mapping[str, Any]:
    """The table of that key, or an empty one; raises UserError for anything else."""
    found = content.get(key, {})
    if not isinstance(found, dict):
        raise UserError(f"{path}: {key} is not a table: write {_TABLES[key]}")
    return found


def scalar(path: Path, key: str, value: object) -> Scalar:
    """The value, if an ini can hold it; raises UserError for dates, lists and long numbers."""
    if not isinstance(value, int | float | str):
        raise UserError(f"{path}: {key}: {_shown(value)} is neither number, text nor truth value")
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        raise UserError(f"{path}: {key}: a number of more than {_MOST_BITS} bits is too large")
    return value


def _shown(value: object) -> str:
    if isinstance(value, list):
        return "a list"
    return "a table" if isinstance(value, dict) else str(value)[:60]


def axes_of_table(path: Path, content: Mapping[str, Any]) -> Iterator[Axis]:
    """Yield the file's axes; a table of lists has one for each agent parameter. Raises UserError."""
    for name, values in table(path, "axes", content).items():
        if isinstance(values, dict) and any(isinstance(value, list) for value in values.values()):
            for parameter, listed in values.items():
                yield replace(_axis(path, parameter, listed, f"axes.{name}.{parameter}"), owner=name)
        else:
            yield _axis(path, name, values, f"axes.{name}")


def _axis(path: Path, name: str, values: object, key: str) -> Axis:
    if isinstance(values, list) and values:
        return plain_axis(name, [scalar(path, key, value) for value in values], f"{path}: {key}")
    if not isinstance(values, dict) or not values.keys() - {_TITLE}:
        raise UserError(f"{path}: {key}: give a list of values, or names with the variables that each sets")
    zipped, title = {}, values[_TITLE] if isinstance(values.get(_TITLE), str) else ""
    for label, variables in values.items():
        if (label, variables) == (_TITLE, title):
            continue
        if not isinstance(variables, dict):
            raise UserError(f"{path}: {key}.{label}: give the variables that it sets, in braces")
        zipped[label] = {
            variable: scalar(path, f"{key}.{label}.{variable}", value) for variable, value in variables.items()
        }
    # Else a variable would have the template's default at one point, and at another the axis' value, unseen.
    if len({frozenset(variables) for variables in zipped.values()}) > 1:
        raise UserError(f"{path}: {key}: every name must set the same variables")
    return Axis(name, zipped, zipped=True, title=title)
