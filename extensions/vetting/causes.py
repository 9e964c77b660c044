"""Causes of a trace that another process does not make again, and the lines of an agent that can be to blame.

A suspicious line is a hint and no proof: the cause itself follows from the one change that makes another trace.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from roambus.bridge.agents import agent_sources
from roambus.extensions.vetting.findings import place_of_agent
from roambus.python_protocol.agent import Agent

_CHANGEABLE = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp, ast.Call)
"""Expressions whose values can change."""
_MODULES = {"time", "datetime", "random", "uuid", "secrets"}
_CHANCE_CALLS = {"urandom", "getpid", "default_rng"}
"""Modules and functions that depend on the process or time."""
_ORDERED = {"list", "tuple", "iter", "enumerate", "next", "pop", "choice", "join"}
"""Functions whose result depends on the order of a set."""


class Line(NamedTuple):
    """A line of a file, and its suspicious content."""

    number: int
    what: str


Find = Callable[[ast.AST], Iterable[Line]]


@dataclass(frozen=True, slots=True)
class Cause:
    """A cause of another trace, in words, and where to look for it."""

    name: str
    text: str
    find: Find


def suspects(agent_class: type[Agent], find: Find) -> list[str]:
    """The lines of an agent's files that `find` names, as "mine.py:12 (time.time)"."""
    found = {(file, *line) for file in agent_sources(agent_class) for node in nodes_of(file) for line in find(node)}
    return [f"{file.name}:{number} ({what})" for file, number, what in sorted(found)]


def nodes_of(file: Path) -> Iterator[ast.AST]:
    """All nodes of a file's syntax tree, the module first; none of a file that cannot be read."""
    with suppress(OSError, SyntaxError):
        yield from ast.walk(ast.parse(file.read_bytes()))


def time_or_chance(node: ast.AST) -> Iterator[Line]:
    """Find clocks and generators."""
    if isinstance(node, ast.Call):
        name = ast.unparse(node.func)
        # Who makes a generator of its own has given it a seed.
        is_clock = name.partition(".")[0] in _MODULES or name.rpartition(".")[2] in _CHANCE_CALLS
        if is_clock and name != "random.Random":
            yield Line(node.lineno, name)


def addresses(node: ast.AST) -> Iterator[Line]:
    """Find addresses, and orders of sets, whose members can be hashed by address."""
    yield from _calls(node, {"id", "hash"})
    yield from set_orders(node)


def hashes(node: ast.AST) -> Iterator[Line]:
    """Find hashes, and orders of sets."""
    yield from _calls(node, {"hash"})
    yield from set_orders(node)


def _calls(node: ast.AST, names: set[str]) -> Iterator[Line]:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names:
        yield Line(node.lineno, node.func.id)


def set_orders(node: ast.AST) -> Iterator[Line]:
    """Find lines that take the order of a set, in a whole module."""
    if isinstance(node, ast.Module):
        names = {name for part in ast.walk(node) for name in _named_sets(part)}
        for part in ast.walk(node):
            if any(_is_set(taken, names) for taken in _taken(part)):
                yield Line(getattr(part, "lineno", 0) or part.iter.lineno, "the order of a set")  # type: ignore[attr-defined]  # of a comprehension


def _named_sets(node: ast.AST) -> Iterator[str]:
    """The variables and attributes to which a statement assigns a set."""
    if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None and _is_set(node.value, set()):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        yield from (ast.unparse(target).rpartition(".")[2] for target in targets)


def _taken(node: ast.AST) -> Iterator[ast.expr]:
    """The expressions whose order a node takes."""
    if isinstance(node, ast.For | ast.comprehension):
        yield node.iter
    elif isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in _ORDERED:
        yield from node.args
        if isinstance(node.func, ast.Attribute):
            yield node.func.value


def _is_set(node: ast.expr, names: set[str]) -> bool:
    if isinstance(node, ast.Call):
        return ast.unparse(node.func) in {"set", "frozenset"}
    if isinstance(node, ast.Name | ast.Attribute):
        return ast.unparse(node).rpartition(".")[2] in names
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


CHANCE = Cause(
    "chance",
    "so does the same process once more: the agent draws random numbers without self.random, or reads a clock",
    time_or_chance,
)
ADDRESSES = Cause(
    "addresses",
    "other addresses of objects alone make a difference: the agent depends on id(), or on the order of a set of "
    "objects that Python hashes by address",
    addresses,
)
HASHES = Cause(
    "hashes",
    "another hash seed alone makes a difference: the agent depends on hash() of a text, or on the order of a set",
    hashes,
)
EARLIER_RUNS = Cause(
    "earlier runs",
    "earlier runs in the same process make the difference: the class or the module keeps something of them",
    shared_memory,
)
CAUSES = (CHANCE, ADDRESSES, HASHES, EARLIER_RUNS)


@dataclass(frozen=True, slots=True)
class About:
    """An agent's code: the place of its class, and its suspicious lines by cause."""

    place: str
    lines: Mapping[str, list[str]]

    @staticmethod
    def of(agent_class: type[Agent]) -> About:
        """Read the files of an agent."""
        return About(place_of_agent(agent_class), {cause.name: suspects(agent_class, cause.find) for cause in CAUSES})


def move_objects(layout: int) -> list[bytes]:
    """Change the addresses and their order of all objects made later; return what must stay in memory.

    Half of many small objects are freed, in a random order, so that new ones take their places.
    """
    draw = random.Random(layout)  # the layout is to be the same in each process of its number
    kept = [bytes(draw.randrange(16, 500)) for _ in range(60_000)]
    draw.shuffle(kept)
    del kept[: len(kept) // 2]
    return kept
