"""Runs commands that write where there is no room: each ends with one message, and leaves nothing half-written.

Room is taken away by a limit on the size of files of a process, or, where mounting is permitted, by a small disk.
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.foreign_files.judged import REFUSED, WORKED, Tally
from roambus.bridge.trace.reader import damage_of

WRITERS: dict[str, list[str]] = {
    "run": ["run", "field", "--backend", "ideal", "--set", "nodes=9", "--set", "time_limit=30", "--out", "{out}"],
    "run --record": ["run", "field", "--backend", "ideal", "--set", "nodes=9", "--record", "--out", "{out}"],
    "sweep": ["sweep", "{results}/mine.toml", "--workers", "1", "--out", "{out}"],
    "render": ["render", "field", "--out", "{out}"],
    "replay": ["replay", "{run}", "--export", "{out}/film.html"],
    "figures": ["figures", "{results}"],
    "export": ["export", "{run}", "--format", "vec,jsonl", "--out", "{out}"],
}
"""Commands that write; those with Spark would need half a minute each."""
_COMMAND = [sys.executable, "-P", "-m", "roambus"]
_PATIENCE_S = 120


def try_sizes(results: Path, run: Path, out: Path, sizes: Sequence[int]) -> Tally:
    """Runs each command in a process that can make no file larger than that (bytes); `run` is one of the results."""
    tally = Tally()
    for size in sizes:
        for name, words in WRITERS.items():
            place = out / f"{name.replace(' ', '')}-{size}"
            place.mkdir()
            filled = [word.format(out=place, results=results, run=run) for word in words]
            _judge(f"{name} at {size}", _call(filled, size), place, tally)
    return tally


def try_disk(results: Path, run: Path, disk: Path) -> Tally:
    """Runs each command on a disk that is nearly full."""
    tally = Tally()
    for name, words in WRITERS.items():
        if "{out}" in " ".join(words):
            filled = [word.format(out=disk, results=results, run=run) for word in words]
            _judge(f"{name} on a full disk", _call(filled, None), disk, tally)
    return tally


def _call(words: Sequence[str], size: int | None) -> subprocess.CompletedProcess[str]:
    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # as Python has it: the write fails instead
        if size is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [*_COMMAND, *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=_PATIENCE_S,
        preexec_fn=limit,  # no other thread runs here
        env=environment,
    )


def _judge(name: str, done: subprocess.CompletedProcess[str], place: Path, tally: Tally) -> None:
    """A command that had no room has one message, and whatever it leaves is whole."""
    errors = [line for line in done.stderr.splitlines() if line.lower().startswith(("error: ", "  "))]
    left = [file for file in place.rglob("*") if file.name.startswith(".")]
    broken = [file for file in place.rglob("trace.parquet") if damage_of(file)]
    if "Traceback" in done.stderr or left or broken or (done.returncode != 0 and not errors):
        shown = f"{[str(file.relative_to(place)) for file in left + broken]}, {done.stderr[-600:]!r}"
        tally.faults.append(f"{name}: exit code {done.returncode}, left {shown}")
    else:
        tally.outcomes[REFUSED if done.returncode else WORKED] += 1
