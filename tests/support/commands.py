"""Commands with what they print, as documents show them in blocks marked as `console`; and how they are called."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import pytest

from roambus.command_line import main
from roambus.experiments.sweeps import processes
from tests.support.removed import skip_if_removed

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


_FORKING = get_context("forkserver")
_FORKING.set_forkserver_preload(
    [
        processes.__name__,
        *("roambus.bridge.backends.ideal.backend", "roambus.bridge.backends.radio.backend", "pandas"),
        *("numba.np.arraymath", "numba.core.typing.cffi_utils"),  # Numba loads these when it loads compiled code
    ]
)


def call(command: str, monkeypatch: pytest.MonkeyPatch) -> int:
    """The exit code; `roambus` runs in this process, which saves a second, and half a minute where Spark has to start.

    On a cluster it has a process of its own: here it would use the session that there may be. A sweep's workers are
    forked from a server that has loaded their code, which saves a second each.
    """
    skip_if_removed(command)
    words = shlex.split(command)
    if words[0] != "roambus" or "--spark" in words:
        return subprocess.run(words, env=environment(), check=False).returncode
    monkeypatch.setattr(sys, "argv", words)
    monkeypatch.setattr(sys, "path", [*sys.path])  # the folder that a user's modules are found in
    monkeypatch.setattr(processes, "_spawn", _FORKING)
    with pytest.raises(SystemExit) as exit_:
        main()
    return int(exit_.value.code or 0)


def environment() -> dict[str, str]:
    """In which commands are found that are installed beside this Python, and OMNeT++'s."""
    tools = [str(Path(root, "bin")) for root in (os.environ.get("OMNETPP_ROOT"),) if root]
    path = os.pathsep.join([str(Path(sys.executable).parent), *tools, os.environ["PATH"]])
    return {**os.environ, "PATH": path}
