"""Findings: mistakes of an agent, each with the line that causes it.

If traces of two processes, or of isolated nodes, differ, the agent's files are searched for suspicious lines. They are
a hint and no proof.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from roambus.bridge.agents import agent_sources
from roambus.python_protocol.agent import Agent

_PLACE = re.compile(r"\bat (\S+\.py:\d+)|\((\S+\.py:\d+)\)")
_CHANGEABLE = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp, ast.Call)
"""Expressions whose values can change."""
_MODULES = {"time", "datetime", "random", "uuid", "secrets"}
_CALLS = {"hash", "id", "urandom", "getpid", "default_rng"}
"""Modules and functions that depend on the process or time."""


class Line(NamedTuple):
    """A line of a file, and its suspicious content."""

    number: int
    what: str


@dataclass(frozen=True, slots=True)
class Finding:
    """A mistake of an agent; `place` is "mine.py:12", or empty."""

    check: str
    problem: str
    place: str = ""

    def __str__(self) -> str:
        return f"{self.check}: {f'{self.place}: ' if self.place else ''}{self.problem}"


def of_error(check: str, error: BaseException) -> Finding:
    """Return an error's finding, if its text names the line."""
    text = str(error) or type(error).__name__
    match = _PLACE.search(text)
    return Finding(check, text, (match[1] or match[2]) if match else "")


def place_of_agent(thing: Any) -> str:
    """File and line of a class or function."""
    try:
        return f"{Path(inspect.getfile(thing)).name}:{inspect.getsourcelines(thing)[1]}"
    except (OSError, TypeError):
        return str(getattr(thing, "__module__", ""))


def suspects(agent_class: type[Agent], find: Callable[[ast.AST], Iterable[Line]]) -> list[str]:
    """The lines of an agent's files that `find` names, as "mine.py:12 (time.time)"."""
    found = [(file, *line) for file in agent_sources(agent_class) for node in _nodes(file) for line in find(node)]
    return [f"{file.name}:{number} ({what})" for file, number, what in sorted(found)]


def _nodes(file: Path) -> Iterator[ast.AST]:
    with suppress(OSError, SyntaxError):
        yield from ast.walk(ast.parse(file.read_bytes()))


def time_or_chance(node: ast.AST) -> Iterator[Line]:
    """Find clocks, generators, addresses and the order of sets."""
    if isinstance(node, ast.Call):
        name = ast.unparse(node.func)
        # Who makes a generator of its own has given it a seed.
        if name != "random.Random" and (name.partition(".")[0] in _MODULES or name.rpartition(".")[2] in _CALLS):
            yield Line(node.lineno, name)
    elif isinstance(node, ast.For | ast.comprehension) and _is_set(node.iter):
        yield Line(getattr(node, "lineno", 0), "the order of a set")


def _is_set(node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        return ast.unparse(node.func) in {"set", "frozenset"}
    return isinstance(node, ast.Set | ast.SetComp)


def shared_memory(node: ast.AST) -> Iterator[Line]:
    """Find attributes of classes, globals and defaults that can change."""
    if isinstance(node, ast.ClassDef | ast.Module):
        for statement in node.body:
            if isinstance(statement, ast.Assign | ast.AnnAssign) and isinstance(statement.value, _CHANGEABLE):
                yield Line(statement.lineno, ast.unparse(statement).partition(" =")[0])
    elif isinstance(node, ast.FunctionDef):
        yield from (
            Line(default.lineno, "a default") for default in node.args.defaults if isinstance(default, _CHANGEABLE)
        )
