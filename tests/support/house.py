"""The house as it stands: its rooms, what each says of itself, and which imports which, read from the sources."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
FLOORS = ("python_protocol", "bridge", "spark", "experiments", "roambus")
"""The parts of the package, from the bottom up: each imports only what stands before it."""
PACKAGE = "roambus"


class Room(NamedTuple):
    """A folder of a floor, or the floor itself: `path` is relative to the repository."""

    path: str
    sentence: str
    """What it is, as the docstring of its `__init__` begins."""
    chapters: tuple[tuple[str, str], ...]
    """The files of Python that lie in it, each with the sentence with which it begins; rooms within it are left out."""


def rooms(floor: str) -> list[Room]:
    """The floor itself, and then its rooms by name, those within others after them."""
    folders = [ROOT / floor, *sorted(path for path in (ROOT / floor).rglob("*") if path.is_dir())]
    return [_room(folder) for folder in folders if (folder / "__init__.py").is_file() and not _is_linked(folder)]


def _is_linked(folder: Path) -> bool:
    return any(one.is_symlink() for one in (folder, *folder.parents) if one.is_relative_to(ROOT))


def _room(folder: Path) -> Room:
    files = [path for path in sorted(folder.glob("*.py")) if path.stem != "__init__" and not path.stem.endswith("_pb2")]
    chapters = tuple((path.name, _sentence(path)) for path in files)
    return Room(str(folder.relative_to(ROOT)), _sentence(folder / "__init__.py"), chapters)


def _sentence(path: Path) -> str:
    """The first paragraph of a module's docstring, in one line."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return " ".join(text.split("\n\n", maxsplit=1)[0].split())


@cache
def modules() -> dict[str, Path]:
    """Every module of ours by its name, but for those that are generated."""
    found = {}
    for floor in FLOORS:
        for path in sorted((ROOT / floor).rglob("*.py")):
            if not _is_linked(path) and not path.stem.endswith("_pb2"):
                found[module_name(path)] = path
    return found


def module_name(path: Path) -> str:
    """The name under which a file of ours is imported."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    name = ".".join(parts if parts[0] == PACKAGE else (PACKAGE, *parts))
    return name.removesuffix(".__init__")


@cache
def imports() -> dict[str, frozenset[str]]:
    """The modules of ours that each module imports, wherever in it: for type checkers only and in functions, too."""
    return {name: frozenset(_imported(path) - {name}) for name, path in modules().items()}


def _imported(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        for name in _names(node):
            if name in modules():
                found.add(name)
    return found


def _names(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (one.name for one in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module:
        members = [f"{node.module}.{one.name}" for one in node.names]
        are_modules = [name for name in members if name in modules()]
        yield from are_modules
        if len(are_modules) < len(members):
            yield node.module


def floor_of(module: str) -> str:
    """The floor that a module is on."""
    second = module.split(".")[1] if "." in module else PACKAGE
    return second if second in FLOORS else PACKAGE


def arrows() -> set[tuple[str, str]]:
    """(from, to) of the floors of which one imports the other."""
    pairs = ((floor_of(name), floor_of(other)) for name, others in imports().items() for other in others)
    return {(a, b) for a, b in pairs if a != b}
