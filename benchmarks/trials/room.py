"""Commands that write where there is no room, or where they may not: each ends with one message, and nothing half-done.

python -m benchmarks.trials room [--subject run sweep] [--harm "0 bytes" "full disk" "read-only"]

Room is taken away by a limit on the size of files of a process, or, where mounting is permitted, by a small disk that
is full. "read-only" has another user give the command, who may read everything and write nothing but temporary files;
it needs the rights for that.
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from benchmarks.trials.files import RUN, lay
from benchmarks.trials.harness import Asked, Chapter, Outcome
from benchmarks.trials.kills import FULL, fill, small_disk
from benchmarks.trials.processes import ROAMBUS
from roambus.bridge.trace.parquet import damage_of
from roambus.spark.engine.session import spark_session

WRITERS: dict[str, list[str]] = {
    "run": ["run", "field", "--backend", "ideal", "--set", "nodes=9", "--set", "time_limit=30", "--out", "{out}"],
    "run --record": ["run", "field", "--backend", "ideal", "--set", "nodes=9", "--record", "--out", "{out}"],
    "sweep": ["sweep", "{results}/mine.toml", "--workers", "1", "--out", "{out}"],
    "render": ["render", "field", "--out", "{out}"],
    "replay": ["replay", "{run}", "--export", "{out}/film.html"],
    "figures": ["figures", "{results}"],
    "export": ["export", "{run}", "--format", "vec", "--out", "{out}"],
}
"""Commands that write."""
OF_SPARK: dict[str, list[str]] = {
    "aggregate": ["aggregate", "{results}", "--afresh"],
    "compare": ["compare", "{results}"],
    "crate": ["crate", "{results}"],
    "reproduce": ["reproduce", "returning", "--quick", "--out", "{out}"],
}
"""Those that would take half a minute each if they could write; "read-only" tries them, too."""
READ_ONLY, NOBODY = "read-only", 65534
SIZES = {f"{size} bytes": size for size in (0, 1, 600, 5000)}
"""That no file may exceed."""
PATIENCE_S = 120


def _call(words: Sequence[str], size: int | None, user: int | None) -> subprocess.CompletedProcess[str]:
    """What it says goes through pipes, which have no size."""

    def limit() -> None:
        if user is not None:
            os.setgroups([])
            os.setgid(user)
            os.setuid(user)
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # as Python has it: the write fails instead
        if size is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **({"HOME": "/nonexistent"} if user else {})}
    return subprocess.run(
        [*ROAMBUS, *words], capture_output=True, text=True, check=False, timeout=PATIENCE_S, env=environment,
        preexec_fn=limit,  # no other thread runs here
    )  # fmt: skip


def _try(subject: str, harm: str, results: Path, place: Path) -> Outcome:
    """A command that writes below `place`, which is on the disk that is full if that is the harm."""
    out = place / "out"
    out.mkdir(parents=True)
    filler = fill(place) if harm == FULL else None
    words = [word.format(out=out, results=results, run=results / RUN) for word in (WRITERS | OF_SPARK)[subject]]
    before = _files(results) if harm == READ_ONLY else {}
    done = _call(words, SIZES.get(harm), NOBODY if harm == READ_ONLY else None)
    said = [line for line in done.stderr.splitlines() if line.lower().startswith(("error: ", "  "))]
    complaints = [f"{file.name} is left" for file in out.rglob("*") if file.name.startswith(".")]
    complaints += [f"{file.relative_to(out)} is broken" for file in out.rglob("trace.parquet") if damage_of(file)]
    if harm == READ_ONLY and (_files(results) != before or any(out.iterdir()) or not done.returncode):
        complaints.append(f"exit code {done.returncode}, and something was written")
    if "Traceback" in done.stderr or (done.returncode != 0 and not said):
        complaints.append(f"exit code {done.returncode}: {done.stderr[-600:]!r}")
    if filler is not None:
        filler.unlink()
    return Outcome(subject, harm, "refused" if done.returncode else "worked", complaints)


def _files(folder: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*")}


def _run_chapter(asked: Asked) -> Iterator[Outcome]:
    asked.folder.chmod(0o755)
    results = asked.folder / "results"
    results.mkdir()
    with spark_session("local[1]"):
        lay(results)
    with ExitStack() as stack:
        disk = stack.enter_context(small_disk(asked.folder / "disk")) if FULL in asked.harms else None
        for harm in asked.harms:
            for subject in asked.subjects:
                if subject in OF_SPARK and harm != READ_ONLY:
                    continue
                if harm == FULL and "{out}" not in " ".join(WRITERS[subject]):
                    continue
                place = (disk if harm == FULL and disk else asked.folder) / f"{subject} {harm}"
                yield _try(subject, harm, results, place)


CHAPTER = Chapter(
    _run_chapter, (*WRITERS, *OF_SPARK), (*SIZES, READ_ONLY, FULL), trials=1, on_request=(READ_ONLY, FULL)
)
