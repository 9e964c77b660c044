"""Sources of misbehaving agents, each with the error that a run or `roambus vet` must report."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent, indent

HEAD = """\
import os, random, sys
from roambus import *
from roambus import CancelTimer, Crashed, Deliver, Note, Recovered, Send, SendFailed, SetTimer

"""
HERE = "# here"
"""Marks the line of an agent that is to blame."""


@dataclass(frozen=True, slots=True)
class Misbehaving:
    """An agent, and what is said of it: `says` is a regular expression, and the line that is marked belongs to it."""

    name: str
    source: str
    says: str

    @property
    def file(self) -> str:
        """The name of its file."""
        return f"{re.sub(r'[^a-z0-9]+', '_', self.name.lower()).strip('_')}.py"

    @property
    def place(self) -> str:
        """The file and the line that are to blame; only the file's name if no line is marked."""
        for number, line in enumerate(self.source.splitlines(), 1):
            if line.endswith(HERE):
                return f"{self.file}:{number}"
        return self.file if HERE in self.source else ""

    def is_described_by(self, text: str) -> bool:
        """Whether the text says what is promised, and names the line."""
        return re.search(self.says, text, re.DOTALL) is not None and self.place in text


def write(agent: Misbehaving, folder: Path, out: Path) -> Path:
    """Writes the agent's file; `{out}` in its source becomes the results folder."""
    file = folder / agent.file
    file.write_text(agent.source.replace("{out}", str(out)), encoding="utf-8")
    return file


def ticking(name: str, body: str, says: str, before: str = "") -> Misbehaving:
    """An agent that does this on node 1 after a second."""
    source = f"""\
{HEAD}{dedent(before)}
class Mine(Agent):
    @on(Started)
    def start(self, event, now):
        self.set_timer("tick", SECOND)

    @on_timer("tick")
    def tick(self, key, now):
        if self.node == 1:
{indent(dedent(body).strip(), " " * 12)}
"""
    return Misbehaving(name, source, says)


def handling(name: str, body: str, says: str, before: str = "") -> Misbehaving:
    """An agent with a `handle` of its own, which does this on each event."""
    source = f"{HEAD}{dedent(before)}\nclass Mine(Agent):\n    def handle(self, event, now):\n"
    return Misbehaving(name, f"{source}{indent(dedent(body).strip(), ' ' * 8)}\n", says)


def whole(name: str, body: str, says: str) -> Misbehaving:
    """An agent whose whole file this is, below the imports."""
    return Misbehaving(name, f"{HEAD}{dedent(body)}", says)
