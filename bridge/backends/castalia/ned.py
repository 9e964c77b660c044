"""Parameters that Castalia's NED files declare: types, units and defaults.

A run on Castalia can use all modules, so the parameters come from the files that Castalia and OMNeT++ use.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import NamedTuple

from roambus.bridge.formats.ini.lookup import WrongKeyError
from roambus.bridge.keys import boolean, string
from roambus.bridge.scenario.definition import MOST_NODES
from roambus.bridge.scenario.macs import SETTINGS
from roambus.bridge.system.files import read_text
from roambus.python_protocol.settings import NUMBER_PATTERN

NETWORK = "SN"

_COMMENT = re.compile(r'//[^\n]*|("(?:[^"\\]|\\.)*")')
_PIECE = re.compile(r'"(?:[^"\\]|\\.)*"|[^{}"]+|[{}"]')
_MODULE = re.compile(
    r"\b(?:simple|module|network|moduleinterface)\s+(?P<name>\w+)\s*"
    r"(?:extends\s+(?P<base>[\w.]+)\s*)?(?:like\s+(?P<like>[\w.,\s]+?)\s*)?\{"
)
_END = re.compile(r';(?=(?:[^"]*"[^"]*")*[^"]*$)')
"""A semicolon outside texts."""
_SECTION = re.compile(r"\b(parameters|gates|types|submodules|connections)\b[^:;{}]*:")
_PARAMETER = re.compile(
    r"(?:volatile\s+)?(?P<type>double|int|bool|string|xml)\s+(?P<name>\w+)\s*"
    r"(?P<properties>(?:@\w+(?:\([^)]*\))?\s*)*)(?:=\s*(?P<value>.+))?",
    re.DOTALL,
)
_ASSIGNMENT = re.compile(r"(?P<name>\w+)\s*=\s*(?P<value>.+)", re.DOTALL)
_SUBMODULE = re.compile(
    r"(?P<name>\w+)\s*(?:\[(?P<size>[^\]]+)\])?\s*:\s*(?:<(?P<chosen>[^>]+)>\s*like\s+)?(?P<type>[\w.]+)"
)
_NUMBER = re.compile(rf"(?P<number>{NUMBER_PATTERN})\s*(?P<unit>[a-zA-Z]*)")


class Parameter(NamedTuple):
    """A parameter of a module."""

    module: str
    name: str
    type: str
    unit: str
    default: str | None

    def check(self, text: str) -> None:
        """Raise ValueError if the text does not fit the parameter's type."""
        if "(" in text and self.type in ("double", "int"):
            return  # such as uniform(0, 5), which OMNeT++ draws
        match self.type:
            case "string":
                string(text)
            case "bool":
                boolean(text)
            case "double" | "int":
                self._check_number(text)

    def _check_number(self, text: str) -> None:
        match = _NUMBER.fullmatch(text)
        is_whole = match is not None and match["number"].lstrip("+-").isdigit()
        if match is None or bool(match["unit"]) != bool(self.unit) or (self.type == "int" and not is_whole):
            kind = "a whole number" if self.type == "int" else "a number"
            unit = " without a unit" if match and match["unit"] else ""
            unit = f" with its unit ({self.unit})" if self.unit else unit
            raise ValueError(f"{text} is not {kind}{unit}, as {self.module}.ned declares it")


class Submodule(NamedTuple):
    """A part of a module, of `type` or as parameter `chosen` names."""

    name: str
    type: str
    chosen: str = ""
    size: str = ""


@dataclass(slots=True)
class Module:
    """A type of modules."""

    name: str
    base: str = ""
    like: tuple[str, ...] = ()
    parameters: dict[str, Parameter] = field(default_factory=dict)
    submodules: list[Submodule] = field(default_factory=list)


def _last(name: str) -> str:
    return name.rpartition(".")[2].strip()


def read_ned(text: str) -> Iterator[Module]:
    """Yield a NED file's types."""
    text = _COMMENT.sub(lambda match: match[1] or "", text)
    for match in _MODULE.finditer(text):
        like = tuple(map(_last, (match["like"] or "").split(","))) if match["like"] else ()
        module = Module(match["name"], _last(match["base"] or ""), like)
        _read_body(module, _body(text, match.end()))
        yield module


def _body(text: str, start: int) -> str:
    """Return the text of the braces opened before `start`, with inner ones as ;."""
    kept, depth = [], 1
    for piece in _PIECE.findall(text, start):
        depth += {"{": 1, "}": -1}.get(piece, 0)
        if not depth:
            break
        kept.append(";" if piece in ("{", "}") else piece if depth == 1 else "")
    return "".join(kept)


def _read_body(module: Module, body: str) -> None:
    pieces = _SECTION.split(body)  # what stands before the first section are parameters, too
    for section, content in zip(["parameters", *pieces[1::2]], pieces[::2], strict=True):
        for statement in map(str.strip, _END.split(content)):
            if section == "parameters":
                _read_parameter(module, statement)
            elif section == "submodules" and (match := _SUBMODULE.match(statement)):
                chosen, size = (match["chosen"] or "").strip(), (match["size"] or "").strip()
                module.submodules.append(Submodule(match["name"], _last(match["type"]), chosen, size))


def _read_parameter(module: Module, statement: str) -> None:
    if match := _PARAMETER.fullmatch(statement):
        unit = re.search(r"@unit\(\s*(\w+)\s*\)", match["properties"])
        given = _default(match["value"])
        module.parameters[match["name"]] = Parameter(
            module.name, match["name"], match["type"], unit[1] if unit else "", given
        )
    elif match := _ASSIGNMENT.fullmatch(statement):
        # Of a type that it extends: taken over when the type is known, which may stand in another file.
        module.parameters[match["name"]] = Parameter(module.name, match["name"], "", "", _default(match["value"]))


def _default(value: str | None) -> str | None:
    if value is None:
        return None
    match = re.fullmatch(r"default\s*\((.*)\)\s*", value, re.DOTALL)
    return (match[1] if match else value).strip()


class NedTypes:
    """Uniquely named types of some folders, and a network's parameters."""

    def __init__(self, modules: Mapping[str, Module]) -> None:
        self._modules = modules

    def declared(self, chosen: Callable[[str], str | None]) -> dict[str, Parameter]:
        """Return the network's parameters by full path; `chosen` returns the ini's text at a path.

        Raises WrongKeyError for an unknown type.
        """
        return dict(self._of(NETWORK, NETWORK, chosen))

    def _of(self, kind: str, path: str, chosen: Callable[[str], str | None]) -> Iterator[tuple[str, Parameter]]:
        parameters = self.parameters(kind)
        for name, parameter in parameters.items():
            yield f"{path}.{name}", parameter

        def value(name: str) -> str:
            return chosen(f"{path}.{name}") or parameters[name].default or ""

        for part in self._parts(kind):
            inner = self._chosen(part, f"{path}.{part.chosen}", value(part.chosen)) if part.chosen else part.type
            for place in _places(part, path, value):
                yield from self._of(inner, place, chosen)

    def parameters(self, kind: str) -> dict[str, Parameter]:
        """Return a type's parameters by name, inherited ones included."""
        module = self._modules.get(kind)
        if module is None:
            return {}
        found = self.parameters(module.base)
        for name, parameter in module.parameters.items():
            found[name] = (
                parameter if parameter.type or name not in found else found[name]._replace(default=parameter.default)
            )
        return found

    def _parts(self, kind: str) -> list[Submodule]:
        module = self._modules.get(kind)
        return [*self._parts(module.base), *module.submodules] if module else []

    def _chosen(self, part: Submodule, path: str, text: str) -> str:
        try:
            name = _last(string(text))
        except ValueError as error:
            raise WrongKeyError(path, str(error)) from None
        if part.type not in self._likes(name):
            there = sorted(module for module in self._modules if part.type in self._likes(module))
            if string(text) in SETTINGS:
                alone = f"the MAC {string(text)} is the embedded radio's alone (--backend radio)"
                raise WrongKeyError(path, f"{alone}: Castalia has {', '.join(there)}")
            raise WrongKeyError(path, f"there is no {part.type} {name}: there are {', '.join(there)}")
        return name

    def _likes(self, kind: str) -> tuple[str, ...]:
        module = self._modules.get(kind)
        return (*module.like, *self._likes(module.base)) if module else ()


def _places(part: Submodule, path: str, value: Callable[[str], str]) -> list[str]:
    if not part.size:
        return [f"{path}.{part.name}"]
    size = value(part.size)
    if not size.isdigit() or int(size) > MOST_NODES:
        raise WrongKeyError(f"{path}.{part.size}", f"{size} is not a whole number up to {MOST_NODES}")
    return [f"{path}.{part.name}[{index}]" for index in range(int(size))]


@cache
def read_types(*roots: Path) -> NedTypes:
    """Read the NED files below some folders; raise UserError, OSError."""
    files = (file for root in roots for file in sorted(root.rglob("*.ned")))
    return NedTypes({module.name: module for file in files for module in read_ned(read_text(file))})
