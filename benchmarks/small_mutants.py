"""Small mutants of a module, one by one, and how many of them its tests notice.

python -m benchmarks.small_mutants
python -m benchmarks.small_mutants --module dsdv

A mutant changes one condition, operator or constant. Its judge is a process of its own. It reads the broken module in
place of the file, and runs the module's tests until one fails. The output is a table in Markdown. Standard error has a
line for each mutant that no test notices.
"""

from __future__ import annotations

import ast
import importlib
import os
import resource
from collections.abc import Iterator
from importlib.machinery import SourceFileLoader
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import click

ROOT = Path(__file__).resolve().parents[1]
_LIMIT_S = 90
"""Of the processor, for each judge."""
_COMMON = ("hypothesis.extra", "numpy", "pyarrow.parquet", "pytest", "roambus.python_protocol.parts.unicast")
"""Imported once, before all judges: none of them imports a module with mutants."""
_ROUTING, _TESTS = "extensions/routing/", "roambus.extensions.routing.tests."
MODULES: dict[str, tuple[str, tuple[str, ...]]] = {
    "dsdv": (f"{_ROUTING}dsdv.py", (f"{_TESTS}test_dsdv", f"{_TESTS}test_parameters", f"{_TESTS}test_waiting")),
    "gpsr": (f"{_ROUTING}gpsr.py", (f"{_TESTS}test_gpsr", f"{_TESTS}test_parameters", f"{_TESTS}test_waiting")),
    "geographic": (
        f"{_ROUTING}geographic.py",
        (f"{_TESTS}test_geographic", f"{_TESTS}test_parameters", f"{_TESTS}test_gpsr", f"{_TESTS}test_geocast"),
    ),
    "planar": (f"{_ROUTING}planar.py", (f"{_TESTS}test_planar",)),
    "geocast": (f"{_ROUTING}geocast.py", (f"{_TESTS}test_geocast",)),
    "dsr": (f"{_ROUTING}dsr/agent.py", (f"{_TESTS}test_dsr", f"{_TESTS}test_parameters")),
    "dsr-cache": (f"{_ROUTING}dsr/cache.py", (f"{_TESTS}test_dsr",)),
    "dsr-messages": (f"{_ROUTING}dsr/messages.py", (f"{_TESTS}test_dsr",)),
    "olsr": (f"{_ROUTING}olsr/agent.py", (f"{_TESTS}test_olsr", f"{_TESTS}test_waiting", f"{_TESTS}test_parameters")),
    "neighborhood": (f"{_ROUTING}olsr/neighborhood.py", (f"{_TESTS}test_neighborhood", f"{_TESTS}test_olsr")),
    "olsr-messages": (f"{_ROUTING}olsr/messages.py", (f"{_TESTS}test_olsr",)),
    "positions": ("bridge/host/positions.py", ("tests.bridge.host.test_positions",)),
}
"""The file of each module, and its tests, the nearest first: those without fixtures."""
_OTHERS: dict[type[ast.AST], tuple[type[Any], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.And: (ast.Or,),
    ast.Or: (ast.And,),
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div,),
    ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Mult,),
    ast.Mod: (ast.Mult,),
    ast.LShift: (ast.RShift,),
}
"""The replacements of each operator."""


class Mutant(NamedTuple):
    """A broken module."""

    line: int
    text: str
    code: Any


def mutants(path: Path) -> Iterator[Mutant]:
    """Yield all mutants of a module, by line."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for place in sorted(_places(tree), key=lambda node: (node.lineno, node.col_offset)):
        sound = ast.unparse(place).splitlines()[0]
        for holder, key, broken in _changes(place):
            before = _exchange(holder, key, broken)
            code = compile(ast.fix_missing_locations(tree), str(path), "exec")
            yield Mutant(place.lineno, f"{sound}  ->  {ast.unparse(place).splitlines()[0]}", code)
            _exchange(holder, key, before)


def _exchange(holder: Any, key: Any, value: Any) -> Any:
    """Put a value into a list or an attribute, and return the former one."""
    if isinstance(holder, list):
        before, holder[key] = holder[key], value
    else:
        before = getattr(holder, key)
        setattr(holder, key, value)
    return before


def _places(tree: ast.Module) -> Iterator[Any]:
    """Yield the nodes that can be broken: none in annotations, decorators and heads of classes."""
    skipped: set[int] = set()
    for node in ast.walk(tree):
        parts: list[Any] = []
        if isinstance(node, ast.ClassDef):
            parts = [*node.decorator_list, *node.keywords]
        elif isinstance(node, ast.AnnAssign):
            parts = [node.annotation]
        elif isinstance(node, ast.FunctionDef):
            annotations = (argument.annotation for argument in (*node.args.args, *node.args.kwonlyargs))
            parts = [*node.decorator_list, *filter(None, (*annotations, node.returns))]
        skipped |= {id(inner) for part in parts for inner in ast.walk(part)}
    kinds = (ast.Compare, ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.Constant, ast.If, ast.IfExp)
    yield from (node for node in ast.walk(tree) if isinstance(node, kinds) and id(node) not in skipped)


def _changes(node: Any) -> Iterator[tuple[Any, Any, Any]]:
    """Yield where a node can be broken, and the broken part."""
    if isinstance(node, ast.Compare):
        for index, operator in enumerate(node.ops):
            yield from ((node.ops, index, other()) for other in _OTHERS[type(operator)])
    elif isinstance(node, ast.BoolOp | ast.BinOp):
        yield from ((node, "op", other()) for other in _OTHERS.get(type(node.op), ()))
    elif isinstance(node, ast.UnaryOp):
        broken = ast.UnaryOp(ast.Not() if isinstance(node.op, ast.Not) else ast.USub(), node.operand)
        yield node, "operand", broken
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield node, "value", not node.value
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        yield node, "value", node.value + 1
    elif isinstance(node, ast.If | ast.IfExp) and not isinstance(node.test, ast.Compare | ast.BoolOp | ast.UnaryOp):
        yield node, "test", ast.UnaryOp(ast.Not(), node.test)


def is_noticed(path: Path, mutant: Mutant, tests: tuple[str, ...]) -> bool:
    """Whether a test fails, or does not end, in a process that reads the mutant in place of the file."""
    child = os.fork()
    if not child:
        resource.setrlimit(resource.RLIMIT_CPU, (_LIMIT_S, _LIMIT_S + 1))
        for stream in (1, 2):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
        try:
            _judge(path, mutant, tests)
        except BaseException:  # whatever it is: the mutant is noticed
            os._exit(1)
        os._exit(0)
    return os.waitpid(child, 0)[1] != 0


def _judge(path: Path, mutant: Mutant, tests: tuple[str, ...]) -> None:
    """Call all tests; raise whatever the first that fails does."""
    read: Any = SourceFileLoader.get_code

    def get_code(loader: SourceFileLoader, name: str) -> Any:
        return mutant.code if Path(loader.path).resolve() == path else read(loader, name)

    patched: Any = SourceFileLoader
    patched.get_code = get_code
    for name in tests:
        for test in [value for key, value in vars(importlib.import_module(name)).items() if key.startswith("test_")]:
            for arguments in _arguments(test):
                test(**arguments)


def _arguments(test: Any) -> Iterator[dict[str, Any]]:
    """Yield the arguments of a test that pytest would call so often."""
    choices = []
    for mark in (mark for mark in getattr(test, "pytestmark", ()) if mark.name == "parametrize"):
        names = mark.args[0].split(",") if isinstance(mark.args[0], str) else mark.args[0]
        several = [(value,) if len(names) == 1 else value for value in mark.args[1]]
        choices.append([dict(zip(names, values, strict=True)) for values in several])
    for chosen in product(*choices):
        yield {name: value for each in chosen for name, value in each.items()}


@click.command()
@click.option("--module", "modules", multiple=True, type=click.Choice(list(MODULES)), help="Default: all.")
@click.option("--line", "lines", multiple=True, type=int, help="Only mutants in these lines.")
def main(modules: tuple[str, ...], lines: tuple[int, ...]) -> None:
    """Print a table, and at once the mutants that no test notices."""
    os.chdir(ROOT)
    for module in _COMMON:
        importlib.import_module(module)
    click.echo("| Module | Mutants | Noticed |\n|---|--:|--:|")
    for name in modules or MODULES:
        file, tests = MODULES[name]
        if is_noticed(ROOT / file, Mutant(0, "", compile((ROOT / file).read_text("utf-8"), file, "exec")), tests):
            raise click.ClickException(f"the tests of {file} fail as it is")
        made = noticed = 0
        for mutant in mutants(ROOT / file):
            if mutant.line not in (lines or (mutant.line,)):
                continue
            made += 1
            if is_noticed(ROOT / file, mutant, tests):
                noticed += 1
            else:
                click.echo(f"{file}:{mutant.line}: {mutant.text}", err=True)
        click.echo(f"| {name} | {made} | {noticed} |")


if __name__ == "__main__":
    main()
