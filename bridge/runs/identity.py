"""A run's identity: its key is a hash of everything that can change its trace, and of nothing else.

By the key a finished run is known. A key that covered too little would pass off an old trace as that of a changed
agent, and one that covered too much would have finished sweeps made again for nothing.

1. The key covers the ini and the files that it names, the seed, the trace level, the kind of back-end, and code: of
   the agent, and the modules of roambus that the agent, the host and that back-end use.
2. The hash of code begins at some files and goes on to every module of `roambus.python_protocol` and `roambus.bridge`
   that they import, and that these import. Whatever else is imported, such as NumPy, is not hashed.
3. Of each file the syntax tree is hashed, less what only people read: comments and formatting are not in a syntax tree;
   docstrings, and the texts that say what a parameter or a key of the ini means, are left out. So a finished sweep is
   not made again because a docstring, the text of an option's help, the command line or a figure has changed.
4. Our own files are read once in the life of a process, which runs what it has imported. A file of a user's is read
   each time, for it may have been edited since.
5. Imports are followed by name, without running anything. `from roambus import Agent` leads to the module that `Agent`
   is from, and not to everything else that one can have from `roambus`.

A run as it is planned (`RunPlan`) is all that is needed to make it, in any process and on any machine.

A hash of whole files would have all sweeps made again for a corrected comment, and a version number that people raise
by hand would be forgotten once, after which old traces would count as those of new code.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import roambus.bridge
import roambus.python_protocol
from roambus.bridge.agents import agent_sources, load_agent
from roambus.bridge.backend import Backend, BackendFactory
from roambus.bridge.host import event_loop
from roambus.bridge.ini import reader
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.trace.parquet import TraceLevel
from roambus.bridge.trace.schema import NO_TEMPLATE

PACKAGE = "roambus"
ROOMS = {
    f"{PACKAGE}.bridge": Path(roambus.bridge.__file__).resolve().parent,
    f"{PACKAGE}.python_protocol": Path(roambus.python_protocol.__file__).resolve().parent,
}
"""What a run consists of, and where it is; the rest of the house makes runs, or reads what they leave."""
FACE = Path(roambus.bridge.__file__).parents[1] / "__init__.py"

MEANINGS = {"doc", "source", "help", "meaning"}
"""The arguments of a declaration that say what it means."""
DECLARATIONS = {"parameter": 1, "key": 3, "Key": 3}
"""The functions that declare something, and how many of their arguments without a name come before a meaning."""


class Code(NamedTuple):
    """What a file does, as a hash, and the parts of a run that it imports."""

    hash: bytes
    imports: frozenset[Path]


def code_hash(roots: Iterable[Path]) -> bytes:
    """A hash of these files and of every part of a run that they import; raises OSError."""
    files = {root.resolve() for root in roots}
    ours = frozenset(file for file in files if any(map(file.is_relative_to, ROOMS.values())))
    others = [_code(file.read_bytes()) for file in files - ours]
    return _joined([*(one.hash for one in others), _hash_of_ours(ours.union(*(one.imports for one in others)))])


@cache
def _hash_of_ours(starts: frozenset[Path]) -> bytes:
    """A hash of these files and of what they import, wherever the house lies and whatever its files are called."""
    return _joined(_our_code(file).hash for file in reachable(starts))


def reachable(starts: Iterable[Path]) -> set[Path]:
    """These files, and those to which their imports lead."""
    found: set[Path] = set()
    waiting = list(starts)
    while waiting:
        file = waiting.pop()
        if file not in found:
            found.add(file)
            waiting += _our_code(file).imports
    return found


def _joined(hashes: Iterable[bytes]) -> bytes:
    return sha256(b"".join(sorted(hashes))).digest()


@cache
def _our_code(file: Path) -> Code:
    return _code(file.read_bytes())


@lru_cache(maxsize=256)
def _code(source: bytes) -> Code:
    words: list[str] = []
    imports: list[ast.AST] = []
    _describe(ast.parse(source), words.append, imports.append)
    files = frozenset(file for node in imports for module in _modules_of(node) if (file := _file_of(module)))
    return Code(sha256("\0".join(words).encode(errors="surrogatepass")).digest(), files)


def _modules_of(node: ast.AST) -> Iterator[str]:
    """The modules that an import leads to; with the whole package, all those that it has names from."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield alias.name
            yield from (origin for _, origin in _names_of_the_face() if alias.name == PACKAGE)
    elif isinstance(node, ast.ImportFrom) and node.module is not None and not node.level:
        yield node.module
        for alias in node.names:
            yield f"{node.module}.{alias.name}"
            if node.module == PACKAGE:
                yield from (origin for name, origin in _names_of_the_face() if alias.name in (name, "*"))


@cache
def _names_of_the_face() -> tuple[tuple[str, str], ...]:
    """The names that one can have from `roambus` itself, each with the module that it is from."""
    imports = (node for node in ast.walk(ast.parse(FACE.read_bytes())) if isinstance(node, ast.ImportFrom))
    return tuple((alias.asname or alias.name, node.module or "") for node in imports for alias in node.names)


@cache
def _file_of(module: str) -> Path | None:
    """The file of a module if it is a part of a run."""
    for room, folder in ROOMS.items():
        if f"{module}.".startswith(f"{room}."):
            path = folder.joinpath(*module.removeprefix(room).split(".")[1:])
            files = (path.with_suffix(".py"), path / "__init__.py")
            return next((file for file in files if file.is_file()), None)
    return None


def _describe(node: ast.AST, add: Callable[[str], None], add_import: Callable[[ast.AST], None]) -> None:
    """Adds words for the node and all below it, which are the same in every version of Python, and its imports.

    Python adds fields to its syntax tree from version to version; one that is absent or empty is left out, so that the
    hash of a file does not depend on the version that reads it.
    """
    if isinstance(node, ast.Import | ast.ImportFrom):
        add_import(node)
    add(type(node).__name__)
    for name in node._fields:
        value = getattr(node, name, None)
        if value is None or value == []:
            continue
        add(name)
        for one in _meant(node, name, value) if isinstance(value, list) else (value,):
            if isinstance(one, ast.AST):
                _describe(one, add, add_import)
            else:
                add(repr(one))
    add(")")


def _meant(node: ast.AST, name: str, values: list[object]) -> list[object]:
    """The members of a list, less those that are there for people only."""
    if not isinstance(node, ast.Call):
        return [one for one in values if not (isinstance(one, ast.Expr) and _is_text(one.value))]
    called = getattr(node.func, "attr", getattr(node.func, "id", ""))  # of an ast.Attribute, or an ast.Name
    if (first := DECLARATIONS.get(called)) is None:
        return values
    if name == "keywords":
        return [one for one in values if not (isinstance(one, ast.keyword) and one.arg in MEANINGS)]
    return values[:first] + [one for one in values[first:] if not _is_text(one)]


def _is_text(node: object) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


@dataclass(frozen=True, slots=True)
class Origin:
    """Where the ini of a run is from, which its trace tells: name and settings of the template.

    A run that is made once more, to be compared, tells the `version` of roambus that had made it; any other this one.
    """

    template: str = NO_TEMPLATE
    settings: tuple[tuple[str, Any], ...] = ()
    version: str | None = None


Recorder = Callable[[Backend, Path, Scenario, str, TraceLevel], Backend]
"""Puts itself between host and back-end, given the run's folder, its scenario, its agent and the level of its trace."""


@dataclass(frozen=True, slots=True)
class RunPlan:
    """A run that can be executed in any process. Its folder lies at `place` below `results`."""

    results: Path
    place: Path
    ini: str
    radio_file: Path
    agent: str
    seed: int
    level: TraceLevel = TraceLevel.APP
    record: Recorder | None = None
    """What keeps the frames, for `roambus rerun`, if anything does; the trace is the same either way."""
    check: bool = False
    """Whether to compare every message with its bytes; the trace is the same either way."""
    files: tuple[tuple[str, Path], ...] = ()
    """The files of movements and links, under the names that the ini has for them, and what lies beside them."""

    origin: Origin = Origin()

    @property
    def folder(self) -> Path:
        """The folder into which trace, ini and log go."""
        return self.results / self.place


EVERY_RUN = (Path(event_loop.__file__), Path(reader.__file__))
"""Where the code of every run begins: the trace's schema and its writer are imported by the host."""


def run_key(plan: RunPlan, backend: BackendFactory) -> str:
    """The key of a run; raises UserError, OSError.

    The order of the parts is fixed, and each is hashed by itself first, so that no two inputs can run into each other.
    """
    digest = sha256()
    settings = f"{plan.seed} {plan.level.value} {backend.name}"
    files = (file.read_bytes() for _, file in plan.files)
    for part in (plan.ini.encode(), plan.radio_file.read_bytes(), settings.encode(), *files):
        digest.update(sha256(part).digest())
    digest.update(code_hash([*EVERY_RUN, *agent_sources(load_agent(plan.agent)), Path(inspect.getfile(type(backend)))]))
    return digest.hexdigest()
