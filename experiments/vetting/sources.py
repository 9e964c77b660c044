"""Finds the lines of an agent's own files that take time or chance from elsewhere: where to look if traces differ."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from roambus.bridge.agents.registry import agent_sources
from roambus.python_protocol.agent import Agent

_MODULES = {"time", "datetime", "random", "uuid", "secrets"}
_CALLS = {"hash", "id", "urandom", "getpid", "default_rng"}
_SETS = (ast.Set, ast.SetComp)


def suspects(agent_class: type[Agent]) -> list[str]:
    """The suspicious lines, as "mine.py:12 (time.time)"."""
    found = [one for file in agent_sources(agent_class) for one in _in_file(file)]
    return [f"{file.name}:{line} ({what})" for file, line, what in sorted(found)]


def _in_file(file: Path) -> Iterator[tuple[Path, int, str]]:
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError):
        return
    for node in ast.walk(tree):
        what = _suspicion(node)
        if what:
            yield file, getattr(node, "lineno", 0), what


def _suspicion(node: ast.AST) -> str:
    if isinstance(node, ast.Call):
        return _of_call(node.func)
    if isinstance(node, ast.For | ast.comprehension) and _is_set(node.iter):
        return "the order of a set"
    return ""


def _of_call(function: ast.expr) -> str:
    name = ast.unparse(function)
    if name.partition(".")[0] in _MODULES and name != "random.Random":
        return name
    return name if name.rpartition(".")[2] in _CALLS else ""


def _is_set(node: ast.expr) -> bool:
    return isinstance(node, _SETS) or (isinstance(node, ast.Call) and ast.unparse(node.func) in {"set", "frozenset"})
