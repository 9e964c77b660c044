"""Imports go one way: the contracts in pyproject.toml are kept, and no files of roambus import each other in a circle.

The contracts are import-linter's, about parts and packages. What it does not see is checked here by the syntax trees:
imports of `roambus` itself, and circles of single files. Imports in functions and for type checking count like others.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Container, Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import roambus

PACKAGE = Path(roambus.__file__).resolve().parent
PARTS = ("python_protocol", "bridge", "spark", "experiments")
"""The parts below the face, each of which knows only those before it."""


def test_the_contracts_are_kept() -> None:
    """A broken one is printed with the imports that break it."""
    program = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=PACKAGE.parent, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_part_imports_one_above_it() -> None:
    """Neither a part above, nor the face, of which `roambus` itself is the front door."""
    upwards = [f"{a} -> {b}" for a, others in imports().items() for b in sorted(others) if height(b) > height(a)]
    assert upwards == []


def test_no_files_import_each_other_in_a_circle() -> None:
    """The circle that is found is named, from file to file."""
    try:
        TopologicalSorter(imports()).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_a_circle_and_an_arrow_upwards_are_found() -> None:
    """Wherever the import stands, and however it is written."""
    source = """
if TYPE_CHECKING:
    import roambus.bridge.wire
def f():
    from roambus.experiments import inventory
    from roambus.spark.metrics import METRICS
"""
    known = {"roambus.bridge.wire", "roambus.experiments", "roambus.experiments.inventory", "roambus.spark.metrics"}
    assert set(imported(ast.parse(source), known)) == known - {"roambus.experiments"}
    names = ("roambus.spark.metrics", "roambus", "roambus.commands.run", "roambus.experiments.figures.style")
    assert [height(name) for name in names] == [2, 4, 4, 3]


@cache
def imports() -> dict[str, set[str]]:
    """The modules of roambus, each with those that it imports."""
    files = {module(file): file for file in source_files(PACKAGE)}
    trees = {name: ast.parse(file.read_text(encoding="utf-8")) for name, file in files.items()}
    return {name: set(imported(tree, files)) - {name} for name, tree in trees.items()}


def source_files(folder: Path) -> Iterator[Path]:
    """In a checkout the parts are symbolic links, which are followed."""
    for path in folder.iterdir():
        if path.is_dir() and path.name != "__pycache__":
            yield from source_files(path)
        elif path.suffix == ".py":
            yield path


def module(file: Path) -> str:
    return ".".join(file.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")


def imported(tree: ast.AST, known: Container[str]) -> Iterator[str]:
    """The known modules that are imported; `from a import b` is of a.b if that is a module, or else of a."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom):
            assert node.module is not None, "imports here are absolute"
            named = [f"{node.module}.{alias.name}" for alias in node.names]
            found = [name if name in known else node.module for name in named]
            yield from (name for name in found if name in known)


def height(name: str) -> int:
    """The place of a module's part in their order; the face is above all parts."""
    part = name.split(".")[1] if "." in name else ""
    return PARTS.index(part) if part in PARTS else len(PARTS)
