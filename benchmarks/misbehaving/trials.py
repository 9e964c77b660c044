"""Tries an agent that misbehaves in `roambus run` and in `roambus sweep`, and says what is not as promised.

Promised is: an exit code that is not 0, the message that the agent's entry has, no traceback, no trace of that agent,
no process and no unfinished folder left, and in a sweep the traces of the agent beside it, byte for byte.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks.misbehaving.catalogue import Misbehaving
from roambus.bridge.runs.layout import TRACE_FILE
from roambus.experiments.sweeps.workspace import PREFIX

ROAMBUS = (sys.executable, "-m", "roambus")
PATIENCE_S = 120
NEIGHBOUR = "beacon"
SWEEP = """\
template = "field"
backend = "ideal"
seeds = 2
[set]
nodes = 3
side = 10
time_limit = 3
[agents]
beacon = {{}}
bad = {{ use = "{file}" }}
"""


def write(agent: Misbehaving, folder: Path, out: Path) -> Path:
    """Writes the agent's file; where its source has {out} stands the folder of the results."""
    file = folder / agent.file
    file.write_text(agent.source.replace("{out}", str(out)), encoding="utf-8")
    return file


def try_in_run(agent: Misbehaving, folder: Path) -> list[str]:
    """What is not as promised when it is run alone."""
    out = folder / "run"
    write(agent, folder, out)
    settings = ("--set", "nodes=3", "--set", "side=10", "--set", "time_limit=3")
    done = _roambus(folder, "run", "field", "--backend", "ideal", *settings, "--agent", agent.file, "--out", str(out))
    return [*_of_message(agent, done), *_left(out, [])]


def try_in_sweep(agent: Misbehaving, folder: Path, neighbour: Mapping[str, bytes]) -> list[str]:
    """What is not as promised when it runs beside an agent whose traces are to be `neighbour`."""
    out = folder / "sweep"
    write(agent, folder, out)
    done = _sweep(agent.file, folder, out)
    complaints = _of_message(agent, done)
    if "cannot be imported" in agent.says or "made of" in agent.says or not (out / "traces").exists():
        return [*complaints, *_left(out, [])]  # nothing was begun
    return [*complaints, *_left(out, list(neighbour)), *_changed(out, neighbour)]


def neighbour_traces(folder: Path) -> dict[str, bytes]:
    """The traces of the agent beside, by their paths, when the other one behaves."""
    (folder / "calm.py").write_text(CALM, encoding="utf-8")
    _sweep("calm.py", folder, folder / "sweep")
    found = {str(file.relative_to(folder / "sweep")): file.read_bytes() for file in _traces(folder / "sweep")}
    return {place: trace for place, trace in found.items() if f"agent={NEIGHBOUR}" in place}


CALM = """\
from roambus import Agent, Started, on


class Calm(Agent):
    @on(Started)
    def start(self, event, now):
        pass
"""


def _sweep(file: str, folder: Path, out: Path) -> subprocess.CompletedProcess[str]:
    (folder / "sweep.toml").write_text(SWEEP.format(file=file), encoding="utf-8")
    return _roambus(folder, "sweep", "sweep.toml", "--workers", "1", "--out", str(out))


def _roambus(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*ROAMBUS, *words], cwd=folder, capture_output=True, text=True, check=False, timeout=PATIENCE_S
    )


def _of_message(agent: Misbehaving, done: subprocess.CompletedProcess[str]) -> list[str]:
    complaints = [] if done.returncode > 0 else [f"the exit code is {done.returncode}"]
    if not agent.is_told_by(done.stderr):
        complaints.append(f"it says {done.stderr[-600:]!r}, and not {agent.says!r} with {agent.place!r}")
    if "Traceback" in done.stderr + done.stdout:
        complaints.append("there is a traceback")
    return complaints


def _traces(out: Path) -> Sequence[Path]:
    return sorted(out.rglob(TRACE_FILE))


def _left(out: Path, expected: Sequence[str]) -> Iterator[str]:
    found = {str(file.relative_to(out)) for file in _traces(out)}
    if found != set(expected):
        yield f"there are the traces {sorted(found)}, and not {sorted(expected)}"
    yield from (f"{folder.name} is left" for folder in out.glob(f"{PREFIX}*"))
    processes = _processes_in(out.parent)
    if processes:
        yield f"processes are left: {', '.join(processes)}"


def _changed(out: Path, neighbour: Mapping[str, bytes]) -> Iterator[str]:
    for place, trace in neighbour.items():
        if not (out / place).is_file() or (out / place).read_bytes() != trace:
            yield f"{place} is another one"


def _processes_in(folder: Path) -> list[str]:
    """The processes that work in this folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "cwd").resolve() == folder.resolve() and int(process.name) != os.getpid():
                found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            continue
    return found
