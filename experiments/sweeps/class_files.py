"""Agents given as classes: their names in a sweep, and files for classes that have none.

Another process must import the agent. A class of an imported module is module:Class. A class of a notebook or script is
in `__main__`; a file NAME.py gets it with all that it refers to: for each name, the last binding statement at the top
of a cell. Names bound in a loop or block, replaced classes and values changed since their assignment are refused.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from symtable import SymbolTable, symtable
from typing import Any

from roambus.bridge.agents import load_agent
from roambus.bridge.system.code import AGENTS, installed
from roambus.bridge.system.errors import UserError
from roambus.bridge.system.files import UnfinishedFile
from roambus.python_protocol.agent import Agent

_HEAD = '"""An agent that was given as a class, and what it refers to: written by roambus, and written again by it."""'
_MAIN = "__main__"
_COMPARED = (int, float, str, bytes, tuple)
"""The types whose values must be equal in the file and at the class's origin."""


def reference_of(agent: type[Agent], folder: Path) -> str:
    """The agent's name; write its file to `folder` if needed; raises UserError, OSError."""
    if agent.__module__ != _MAIN:
        return next(_installed_names(agent), f"{agent.__module__}:{agent.__qualname__}")
    what = f"agent {agent.__qualname__}"
    if vars(sys.modules[_MAIN]).get(agent.__qualname__) is not agent:
        raise UserError(f"{what}: define it at the top of a cell or of the script, and give what its name stands for")
    statements = _needed(agent.__name__, _statements(), what)
    file = folder / f"{agent.__name__}.py"
    folder.mkdir(parents=True, exist_ok=True)
    with UnfinishedFile(file) as unfinished:
        unfinished.file.write("\n\n".join([_HEAD, *statements, ""]).encode())
        unfinished.finish()
    reference = f"{file}:{agent.__name__}"
    _compare_values(what, vars(sys.modules[load_agent(reference).__module__]))
    return reference


def _installed_names(agent: type[Agent]) -> Iterator[str]:
    for point in installed(AGENTS):
        if point.value.endswith(f":{agent.__qualname__}") and load_agent(point.name) is agent:
            yield point.name


def _compare_values(what: str, written: dict[str, Any]) -> None:
    there = vars(sys.modules[_MAIN])
    for name, value in written.items():
        if name[:2] != "__" and isinstance(value, _COMPARED) and there.get(name) != value:
            raise UserError(
                f"{what}: {name} is {there.get(name)!r}, but {value!r} where it is assigned: assign it once"
            )


# Statements


def _statements() -> list[ast.stmt]:
    return [statement for source in _sources() for statement in _parsed(source)]


def _sources() -> Iterator[str]:
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    script = getattr(sys.modules[_MAIN], "__file__", None)
    if shell is not None:
        yield from shell.history_manager.input_hist_parsed
    elif script is not None:
        yield Path(script).read_text(encoding="utf-8")


def _parsed(source: str) -> Sequence[ast.stmt]:
    try:
        return ast.parse(source).body
    except SyntaxError:  # a cell that could not be executed
        return ()


def _needed(name: str, statements: Sequence[ast.stmt], what: str) -> list[str]:
    last = {name: number for number, statement in enumerate(statements) for name in _bound(statement)}
    found = {number for number, statement in enumerate(statements) if _is_of_the_future(statement)}
    waiting, seen = [name], set[str]()
    while waiting:
        wanted = waiting.pop()
        if wanted in seen or wanted not in vars(sys.modules[_MAIN]):
            continue
        seen.add(wanted)
        if wanted not in last:
            raise UserError(
                f"{what}: the source of {wanted} is not there: define it at the top of a cell or of the script, "
                f"or write the agent to a file and give the file"
            )
        found.add(last[wanted])
        waiting += _referred(statements[last[wanted]])
    # What is of the future comes first, or Python refuses it.
    order = sorted(found, key=lambda number: (not _is_of_the_future(statements[number]), number))
    return list(dict.fromkeys(ast.unparse(statements[number]) for number in order))


def _is_of_the_future(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"


def _bound(statement: ast.stmt) -> Iterable[str]:
    if isinstance(statement, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return [statement.name]
    if isinstance(statement, ast.ImportFrom) and statement.names[0].name == "*":
        module = import_module(str(statement.module))
        return getattr(module, "__all__", [name for name in vars(module) if name[0] != "_"])
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return [alias.asname or alias.name.partition(".")[0] for alias in statement.names]
    if isinstance(statement, ast.Assign | ast.AnnAssign):
        return [
            node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        ]
    return []


def _referred(statement: ast.stmt) -> Iterator[str]:
    waiting: list[SymbolTable] = [symtable(ast.unparse(statement), _MAIN, "exec")]
    while waiting:
        table = waiting.pop()
        waiting += table.get_children()
        for symbol in table.get_symbols():
            if symbol.is_referenced() and (symbol.is_global() or table.get_type() == "module"):
                yield symbol.get_name()
