"""Reads an omnetpp.ini with its includes, a configuration of it, and the values of its iteration variables.

Castalia's files have sections (`extends`), includes, and `${name=1,2}`; a template of roambus is one section without
any of them. Values of variables that depend on each other (`constraint`, `! name`) are kept as combinations.

Source: OMNeT++ simulation manual, chapter "Configuring Simulations" (sections, includes, parameter studies).
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from jinja2.exceptions import TemplateError
from jinja2.sandbox import SandboxedEnvironment

from roambus.bridge.formats.ini.syntax import Pattern, compile_pattern, logical_lines, without_comment
from roambus.bridge.system.errors import UserError
from roambus.bridge.system.files import read_text
from roambus.python_protocol.settings import unknown

GENERAL = "General"
DEFAULTS = "Castalia.ini"
"""The file that every Castalia project includes; templates have its lines in a part of their own."""
_MOST_INCLUDES = 10
"""Files in files; more is a circle."""
WHERE = "name the ini where it lies in its project"
"""The remedy for a missing file."""
_MOST_VALUES, _MOST_POINTS = 1000, 100_000
_REPEATED = ("extends", "constraint")
"""Every such line counts."""
_INDICES = re.compile(r"\[(\d+)\.\.(\d+)\]")
_USE = re.compile(r'\$\{(?P<inner>(?:[^}"]|"[^"]*")*)\}|\$(?P<used>\w+)')
_INNER = re.compile(r"\s*(?:(?P<name>\w+)\s*=)?(?P<values>.*?)(?:!\s*(?P<beside>\w+)\s*)?", re.DOTALL)
_WORD = re.compile(r"[A-Za-z_]\w*")
_VALUE = re.compile(r'(?:"(?:[^"\\]|\\.)*"|\([^)]*\)|[^,"(])+')
_RANGE = re.compile(r"(?P<first>-?[\d.]*?\d)\s*\.\.\s*(?P<last>-?[\d.]+)(?:\s*step\s+(?P<step>-?[\d.]+))?")


@dataclass(frozen=True, slots=True)
class Line:
    """A line `key = value` and its place."""

    file: Path
    number: int
    key: str
    value: str

    def error(self, problem: str) -> UserError:
        """A UserError that names file, line and key."""
        return UserError(f"{self.file}:{self.number}: {self.key}: {problem}")


@dataclass(slots=True)
class Project:
    """The sections of an ini by name, each with its lines and those of included files."""

    file: Path
    sections: dict[str, list[Line]] = field(default_factory=lambda: {GENERAL: []})

    def lines(self, config: str) -> list[Line]:
        """The lines of a configuration in the order in which the first for a key counts; raises UserError."""
        names: dict[str, None] = {}
        waiting = [name.strip() for name in config.split(",")]
        while waiting:
            name = waiting.pop(0)
            if name not in self.sections:
                raise UserError(f"{self.file}: {unknown('configuration', name, self.sections)}")
            if name not in names:
                names[name] = None
                bases = (line.value for line in self.sections[name] if line.key == "extends")
                waiting = [*(base.strip() for text in bases for base in text.split(",")), *waiting]
        names.pop(GENERAL, None)
        return [line for name in (*names, GENERAL) for line in self.sections[name]]


def read_project(file: Path) -> Project:
    """Read the file and what it includes, but for Castalia.ini, which templates have; raises UserError."""
    project = Project(file)
    _read(project, file, GENERAL, 0)
    return project


def _read(project: Project, file: Path, section: str, depth: int) -> str:
    """Add a file's lines, those before its first section to `section`; return the section at its end."""
    if depth > _MOST_INCLUDES:
        raise UserError(f"{file}: more than {_MOST_INCLUDES} files include each other")
    for number, line in logical_lines(read_text(file)):
        content, _ = without_comment(line)
        if content.startswith("["):
            section = content.strip("[]").removeprefix("Config").strip()
            project.sections.setdefault(section, [])
        elif content.split(maxsplit=1)[:1] == ["include"]:
            included = _included(Line(file, number, "include", content.removeprefix("include").strip()))
            section = _read(project, included, section, depth + 1) if included.name != DEFAULTS else section
        elif content:
            project.sections[section].append(_line(file, number, content))
    return section


def _included(line: Line) -> Path:
    path = line.file.parent / line.value.strip('"')
    if not path.is_file():
        raise line.error(f"there is no file {path}: {WHERE}")
    return path


def _line(file: Path, number: int, content: str) -> Line:
    key, equals, value = (part.strip() for part in content.partition("="))
    if not (key and equals and value):
        raise UserError(f"{file}:{number}: {content!r} is not of the form key = value: write it so, or leave it out")
    return Line(file, number, key, value)


# Iterations


@dataclass(slots=True)
class Iterations:
    """The values of iteration variables as texts, by name, and what ties variables to each other."""

    values: dict[str, list[str]] = field(default_factory=dict)
    beside: list[tuple[str, str]] = field(default_factory=list)
    """Pairs that iterate together."""
    constraints: list[Line] = field(default_factory=list)

    def groups(self) -> Iterator[list[dict[str, str]]]:
        """Yield for each variable, or variables that depend on each other, the combinations; raises UserError."""
        links = [set(pair) for pair in self.beside] + [set(_used(line.value)) for line in self.constraints]
        for names in _merged(list(self.values), links):
            if math.prod(len(self.values[name]) for name in names) > _MOST_POINTS:
                raise UserError(f"{', '.join(names)} have more than {_MOST_POINTS} combinations: leave some out")
            choices = itertools.product(*(enumerate(self.values[name]) for name in names))
            found = [dict(zip(names, each, strict=True)) for each in choices]
            yield [{name: text for name, (_, text) in each.items()} for each in found if self._holds(each)]

    def _holds(self, chosen: Mapping[str, tuple[int, str]]) -> bool:
        pairs = (pair for pair in self.beside if chosen.keys() >= {*pair})
        texts = {name: text for name, (_, text) in chosen.items()}
        together = all(chosen[name][0] == chosen[other][0] for name, other in pairs)
        concerned = (line for line in self.constraints if {*_used(line.value)} & chosen.keys())
        return together and all(_holds(line, texts) for line in concerned)


def counting(lines: Iterable[Line]) -> list[Line]:
    """The lines without those that an earlier one covers; lines with iteration variables stay."""
    earlier: list[Pattern] = []
    kept = []
    for line in lines:
        if line.key in _REPEATED or "$" in line.value or not _is_covered(line.key, earlier):
            kept.append(line)
        earlier.append(compile_pattern(line.key))
    return kept


def _is_covered(key: str, earlier: Iterable[Pattern]) -> bool:
    ends = [_INDICES.sub(group, key) for group in (r"[\1]", r"[\2]")]
    return any(all(map(pattern.matches, ends)) for pattern in earlier)


def iterations(lines: Iterable[Line]) -> Iterations:
    """Find the iteration variables of these lines; raises UserError."""
    found = Iterations()
    for line in lines:
        if line.key == "constraint":
            found.constraints.append(line)
            continue
        for name, values, beside in _variables(line):
            if values is not None:
                found.values.setdefault(name, values)
            if beside:
                found.beside.append((name, beside))
    return found


def with_variables(line: Line, written: Mapping[str, str]) -> str:
    """Return the line's value with a text for each variable; raise UserError for an unknown one."""
    names = (name for name, _, _ in _variables(line))

    def text(_: re.Match[str]) -> str:
        if (name := next(names)) not in written:
            raise line.error(f"${{{name}}} is no iteration variable of this configuration: write a value")
        return written[name]

    return _USE.sub(text, line.value)


def _variables(line: Line) -> Iterator[tuple[str, list[str] | None, str | None]]:
    """Yield name, values (None where it is only used) and the variable beside which it iterates."""
    for number, match in enumerate(_USE.finditer(line.value)):
        inner = None if match["inner"] is None else _INNER.fullmatch(match["inner"])
        if inner is None or (not inner["name"] and _WORD.fullmatch(inner["values"].strip())):
            yield match["used"] or match["inner"].strip(), None, None
        else:
            name = re.sub(r"\W", "", line.key.rpartition(".")[2]) + str(number or "")
            yield inner["name"] or name, _values(line, inner["values"]), inner["beside"]


def _values(line: Line, text: str) -> list[str]:
    values = [each for part in _VALUE.findall(text) for each in _range(part.strip())]
    if not values or len(values) > _MOST_VALUES:
        raise line.error(f"an iteration has from 1 to {_MOST_VALUES} values")
    return values


def _range(text: str) -> list[str]:
    """The numbers of "1..9 step 2"; any other text alone."""
    if (found := _RANGE.fullmatch(text)) is None:
        return [text]
    first, last, step = float(found["first"]), float(found["last"]), float(found["step"] or 1)
    count = int((last - first) / step + 1e-9) + 1 if step else 0
    return [f"{first + step * index:.12g}" for index in range(min(count, _MOST_VALUES + 1))]


def _used(text: str) -> list[str]:
    return re.findall(r"\$\{?(\w+)\}?", text)


def _merged(names: list[str], links: Iterable[set[str]]) -> list[list[str]]:
    """The names in groups, those of a link together, in their order."""
    groups = [{name} for name in names]
    for link in links:
        apart = [group for group in groups if not group & link]
        groups = [*apart, set[str]().union(*(group for group in groups if group & link))]
    ordered = (sorted(group, key=names.index) for group in groups if group)
    return sorted(ordered, key=lambda group: names.index(group[0]))


def _holds(constraint: Line, texts: Mapping[str, str]) -> bool:
    condition = re.sub(r"\$\{?(\w+)\}?", r"\1", constraint.value).replace("&&", " and ").replace("||", " or ")
    values = {name: float(text) if re.fullmatch(r"-?\d*\.?\d+", text) else text for name, text in texts.items()}
    try:
        return bool(SandboxedEnvironment().compile_expression(condition)(**values))
    except (TemplateError, TypeError, ValueError) as error:
        raise constraint.error(f"{error}: leave the constraint out, and remove points from the sweep") from None
