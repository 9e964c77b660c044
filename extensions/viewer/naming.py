"""Names of a film's nodes, from a file with a line for each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from roambus.bridge.system.errors import UserError
from roambus.bridge.system.files import read_text
from roambus.python_protocol.messages.fields import BROADCAST_ADDRESS, Names

LONGEST = 60
"""In characters; a name stands beside its node."""


@dataclass(frozen=True, slots=True)
class GivenNames(Names):
    """The names of nodes 0, 1, ...; an empty one is n and the number."""

    given: tuple[str, ...]
    file: Path

    def node(self, node: int | None) -> str:
        """Return the given name, if there is one."""
        if node is None or node == BROADCAST_ADDRESS or node >= len(self.given):
            return Names.node(self, node)
        return self.given[node] or Names.node(self, node)

    def check(self, counts: Iterable[int]) -> None:
        """Raise UserError unless there is a name for each node of runs with so many."""
        for nodes in counts:
            if nodes != len(self.given):
                raise UserError(f"{self.file}: {len(self.given)} names, but the run has {nodes} nodes: a line for each")


def read_names(file: Path) -> GivenNames:
    """Read a name a line; raise UserError with file and line, or OSError."""
    lines = read_text(file).removesuffix("\n").split("\n")
    for number, line in enumerate(lines, 1):
        if len(line) > LONGEST or not line.isprintable():
            raise UserError(f"{file}:{number}: a name has at most {LONGEST} printable characters")
    return GivenNames(tuple(line.strip() for line in lines), file)
