"""Says which code the name of an agent stands for, before any of it is run: its files, and a hash of them.

Modules are looked for as an import would look for them, but nothing is imported.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib.machinery import ModuleSpec, PathFinder
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path

GROUP = "roambus.agents"
DISTRIBUTION = "roambus"
_SHOWN_OF_HASH = 16

Announce = Callable[[str], None]
"""Whoever is told which code is about to be run."""


def silently(_: str) -> None:
    """Is told what is about to be run where nobody asked."""


@dataclass(frozen=True, slots=True)
class AgentCode:
    """The files of an agent, and the installed package that brings it; empty for an agent that is not installed."""

    reference: str
    package: str
    files: tuple[Path, ...]

    @property
    def hash(self) -> str:
        """A hash of the files, wherever they lie; empty if there are none. Raises OSError."""
        if not self.files:
            return ""
        digest = sha256()
        for file in self.files:
            digest.update(file.name.encode(errors="surrogateescape") + b"\0" + sha256(file.read_bytes()).digest())
        return digest.hexdigest()

    def announce(self, recorded: str | None = None) -> str:
        """The line that says what is about to be run; `recorded` is the hash in a run's record, None if there is none.

        Raises OSError.
        """
        place = f"from {self.package}" if self.package else f"at {self.files[0]}"
        more = f" and {len(self.files) - 1} more beside it" if len(self.files) > 1 and not self.package else ""
        now = f"sha256 {self.hash[:_SHOWN_OF_HASH]}"
        return f"runs agent {self.reference} {place}{more} ({now}{_since_the_run(self.hash, recorded)})"


def _since_the_run(now: str, recorded: str | None) -> str:
    if recorded is None:
        return ""
    if not recorded:
        return "; the record does not say what it was in the run"
    return ", unchanged since the run" if now == recorded else f"; CHANGED since the run: {recorded[:_SHOWN_OF_HASH]}"


def installed_agent(reference: str) -> EntryPoint | None:
    """The entry point of that name, or that stands for this module:Class; None if no installed package brings it."""
    points = entry_points(group=GROUP)
    return next((point for point in points if reference in (point.name, point.value)), None)


def find_code(reference: str) -> AgentCode:
    """The code of an agent of that name, module:Class or file; without files if there is no such code."""
    point = installed_agent(reference)
    target = point.value if point else reference
    module, _, _ = target.rpartition(":") if ":" in target else (target, "", "")
    if module.endswith(".py"):
        file = Path(module)
        return AgentCode(reference, "", (file.resolve(),) if file.is_file() else ())
    package = f"{point.dist.name} {point.dist.version}" if point and point.dist else ""
    return AgentCode(reference, package, tuple(_files_of(module)))


def announce_code(reference: str, announce: Announce, recorded: str | None = None) -> None:
    """Tells what is about to be run, but for what needs no word: an agent that is installed, or that is not there.

    With `recorded`, which is as in `AgentCode.announce`, an installed agent is told, too: it may have changed since.
    Raises OSError.
    """
    code = find_code(reference)
    if code.files and not (code.package and recorded is None):
        announce(code.announce(recorded))


def announce_file(what: str, file: Path, announce: Announce) -> None:
    """Tells that a file of the user's is about to be run, which is `what`, if it is there; raises OSError."""
    if file.is_file():
        code = AgentCode(what, "", (file.resolve(),))
        announce(f"runs {what} at {code.files[0]} (sha256 {code.hash[:_SHOWN_OF_HASH]})")


def class_docstring(target: str) -> str | None:
    """The docstring of a class, given as module:Class; None if it is not in the source, as that of a made class."""
    module, _, name = target.partition(":")
    spec = _find(module.split("."))
    if spec is None or spec.origin is None or not spec.origin.endswith(".py") or not Path(spec.origin).is_file():
        return None
    try:
        tree = ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
    except (SyntaxError, ValueError):
        return None
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == name:
            return ast.get_docstring(node)
        if isinstance(node, ast.ImportFrom) and node.module and name in [one.asname or one.name for one in node.names]:
            return class_docstring(f"{node.module}:{name}")
    return None


def _files_of(module: str) -> Sequence[Path]:
    """The files of a package, or what `source_files` says of a module; none if there is no such module."""
    spec = _find(module.split("."))
    if spec is None or spec.origin is None or not Path(spec.origin).is_file():
        return ()
    file = Path(spec.origin).resolve()
    return sorted(file.parent.rglob("*.py")) if file.name == "__init__.py" else source_files(module, file)


def source_files(module: str, file: Path) -> list[Path]:
    """The files that an agent in `file` is written in: that file, or the whole of a package that is not ours."""
    if "." in module and not module.startswith(f"{DISTRIBUTION}."):
        return sorted(file.parent.rglob("*.py"))
    return [file]


def _find(names: Sequence[str]) -> ModuleSpec | None:
    try:
        spec = find_spec(names[0]) or PathFinder.find_spec(names[0], [*sys.path, str(Path.cwd())])
    except (ImportError, ValueError):
        return None
    for depth in range(2, len(names) + 1):
        if spec is None:
            return None
        spec = PathFinder.find_spec(".".join(names[:depth]), spec.submodule_search_locations)
    return spec
