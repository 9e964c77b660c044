"""Finds what handles a message, event or timer, and all that it is made of.

Handlers are the methods under `@on` and `@on_timer`, and those of a handler table: a dictionary from names (of
messages, events, timers) to methods, or one more entry of it. What a method is made of is found by name: every function
of the modules whose name stands in it, and so on. Names of different classes that are alike are not told apart, so
rather too much is found than too little.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

DECORATORS = {"on", "on_timer"}
"""What makes a method a handler."""
ENTRY = "handle"
"""Where an agent is given its events; it looks them up in a table."""
BY_SYNTAX = ("__gt__", "__lt__", "__len__", "__iter__")
"""Called without being named."""
LEFT_OUT = ("__init__", "read", "write")
"""Not handlers' work: construction, and the bytes of messages, which round trips test."""


class Function(NamedTuple):
    """A function and its name with that of its class, if it has one."""

    name: str
    node: ast.FunctionDef


def functions(tree: ast.Module) -> Iterator[Function]:
    """The functions of a module and the methods of its classes, in their order."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield Function(node.name, node)
        elif isinstance(node, ast.ClassDef):
            methods = (one for one in node.body if isinstance(one, ast.FunctionDef))
            yield from (Function(f"{node.name}.{one.name}", one) for one in methods)


def handlers(trees: Iterable[ast.Module]) -> set[str]:
    """The names of all handlers."""
    return {name for tree in trees for node in ast.walk(tree) for name in _registered(node)}


def reached(trees: Iterable[ast.Module]) -> set[str]:
    """The names of the handlers, and of all functions that they are made of."""
    trees = tuple(trees)
    uses: dict[str, set[str]] = {}
    for tree in trees:
        for _, node in functions(tree):
            uses.setdefault(node.name, set()).update(_names(node))
    found: set[str] = set()
    waiting = {ENTRY, *BY_SYNTAX} | handlers(trees)
    while waiting:
        found |= waiting
        waiting = {name for one in waiting for name in uses.get(one, ()) if name in uses} - found
    return found - set(LEFT_OUT)


def checked(trees: Mapping[str, ast.Module]) -> Iterator[tuple[str, Function]]:
    """(module, function) of all that is to be broken."""
    names = reached(trees.values())
    for module, tree in trees.items():
        yield from ((module, function) for function in functions(tree) if function.node.name in names)


def _registered(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef) and any(map(_is_handlers, node.decorator_list)):
        yield node.name
    elif isinstance(node, ast.Dict) and _is_table(node):
        for value in node.values:
            yield from _attributes(value)
    elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Attribute):
        target = node.targets[0]
        if isinstance(target, ast.Subscript) and "_handlers" in ast.unparse(target.value):
            yield node.value.attr


def _is_handlers(decorator: ast.expr) -> bool:
    """Whether a decorator is `on(...)` or `on_timer(...)`."""
    return isinstance(decorator, ast.Call) and ast.unparse(decorator.func) in DECORATORS


def _is_table(node: ast.Dict) -> bool:
    are_names = all(isinstance(key, ast.Name) for key in node.keys)
    return bool(node.values) and are_names and all(isinstance(v, ast.Attribute | ast.Lambda) for v in node.values)


def _attributes(value: ast.expr) -> Iterator[str]:
    """The method itself, or those that a lambda calls."""
    if isinstance(value, ast.Attribute):
        yield value.attr
    else:
        calls = (node.func for node in ast.walk(value) if isinstance(node, ast.Call))
        yield from (function.attr for function in calls if isinstance(function, ast.Attribute))


def _names(function: ast.FunctionDef) -> Iterator[str]:
    for node in ast.walk(function):
        if isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.Name):
            yield node.id
