"""Breaks a function in every way that the check knows: pure, source text in, broken source text out.

- *drop*: the body returns at once what its return type allows, an empty list for a list, both values for a bool.
- *swap*: a comparison says the contrary: `<` becomes `>=`, `==` `!=`, `in` `not in`, `is` `is not`; `not` is left out.
- *forget*: what is added to a hop count, or taken from a TTL, is not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

SWAPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
COUNTED = ("hop", "ttl")
"""A sum or difference that names one of these counts hops."""
_EMPTY = {
    "None": ("None",),
    "bool": ("False", "True"),
    "int": ("0",),
    "float": ("0.0",),
    "str": ("''",),
    "SimTime": ("0",),
    "Outcome": ("NOTHING",),
    "Iterator": ("iter(())",),
    **dict.fromkeys(("Iterable", "Sequence", "tuple"), ("()",)),
    **dict.fromkeys(("list", "deque"), ("[]",)),
    **dict.fromkeys(("dict", "Mapping"), ("{}",)),
    "set": ("set()",),
}


class Breakage(NamedTuple):
    """One way to break a function, at a line of its module; `source` is the whole module, broken."""

    line: int
    what: str
    source: str


class _Edit(NamedTuple):
    """The text between two nodes, both included, is to be replaced."""

    first: ast.expr | ast.stmt
    last: ast.expr | ast.stmt
    text: str
    what: str


def breakages(source: str, function: ast.FunctionDef) -> Iterator[Breakage]:
    """Every way to break `function`, which was parsed from `source`."""
    for edit in (*_drops(function), *_swaps(function), *_forgettings(function)):
        yield Breakage(edit.first.lineno, edit.what, _replace(source, edit))


def _drops(function: ast.FunctionDef) -> Iterator[_Edit]:
    body = function.body[ast.get_docstring(function) is not None :]
    if not body or _is_abstract(function):
        return
    for value in _empty_values(function.returns):
        text = f"return {value}"
        if not (len(body) == 1 and ast.unparse(body[0]) == text):
            yield _Edit(body[0], body[-1], text, f"only `{text}`")


def _swaps(function: ast.FunctionDef) -> Iterator[_Edit]:
    for node in ast.walk(function):
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield _instead(node, node.operand)
        elif isinstance(node, ast.Compare):
            for index, operator in enumerate(node.ops):
                operators = [*node.ops[:index], SWAPPED[type(operator)](), *node.ops[index + 1 :]]
                yield _instead(node, ast.Compare(node.left, operators, node.comparators))


def _forgettings(function: ast.FunctionDef) -> Iterator[_Edit]:
    for node in ast.walk(function):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub) and _counts_hops(node):
            yield _instead(node, node.left)


def _counts_hops(node: ast.BinOp) -> bool:
    return any(name in ast.unparse(node) for name in COUNTED)


def _instead(node: ast.expr, other: ast.expr) -> _Edit:
    text = ast.unparse(other)
    return _Edit(node, node, f"({text})", f"`{ast.unparse(node)}` becomes `{text}`")


def _empty_values(returns: ast.expr | None) -> tuple[str, ...]:
    """What stands for nothing in a return type, as source; None where the type has no such value, too."""
    if isinstance(returns, ast.BinOp) or returns is None:  # X | None
        return ("None",)
    if isinstance(returns, ast.Subscript):
        return (_empty_tuple(returns.slice),) if _is_fixed_tuple(returns) else _empty_values(returns.value)
    return _EMPTY.get(ast.unparse(returns), ("None",))


def _is_fixed_tuple(returns: ast.Subscript) -> bool:
    is_tuple = ast.unparse(returns.value) == "tuple" and isinstance(returns.slice, ast.Tuple)
    return is_tuple and "..." not in ast.unparse(returns.slice)


def _empty_tuple(parts: ast.expr) -> str:
    values = [_empty_values(part)[0] for part in parts.elts] if isinstance(parts, ast.Tuple) else []
    return f"({', '.join(values)},)" if values else "()"


def _is_abstract(function: ast.FunctionDef) -> bool:
    return any("abstractmethod" in ast.unparse(decorator) for decorator in function.decorator_list)


def _replace(source: str, edit: _Edit) -> str:
    lines = source.encode().splitlines(keepends=True)  # the columns of `ast` count bytes
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    text = b"".join(lines)
    begin = starts[edit.first.lineno - 1] + edit.first.col_offset
    last_line, last_column = edit.last.end_lineno, edit.last.end_col_offset
    assert last_line is not None  # noqa: S101  # only nodes that were not parsed have none
    assert last_column is not None  # noqa: S101
    return (text[:begin] + edit.text.encode() + text[starts[last_line - 1] + last_column :]).decode()
