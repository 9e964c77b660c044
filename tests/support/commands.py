"""Commands with what they print, as documents show them in blocks marked as `console`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

CONSOLE = re.compile(r"```console\n(.*?)```", re.DOTALL)
PROMPT = "$ "
ANYTHING = "…"
"""Stands for whatever a document leaves out."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A command, and the lines that are shown below it."""

    command: str
    output: Sequence[str]

    def is_printed_by(self, text: str) -> bool:
        """Whether each line shown is one of the text's, in their order."""
        return re.search(".*".join(map(_pattern, self.output)), text, re.DOTALL | re.MULTILINE) is not None


def _pattern(line: str) -> str:
    rest_of_line = "[^\n]*"
    return f"^{rest_of_line.join(map(re.escape, line.split(ANYTHING)))}$"


def shown_commands(text: str) -> Iterator[Shown]:
    """Those of all blocks, one after the other."""
    for block in CONSOLE.findall(text):
        for part in block.removeprefix(PROMPT).split(f"\n{PROMPT}"):
            command, *output = part.strip().splitlines()
            yield Shown(command, output)
