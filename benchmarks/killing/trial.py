"""Trials: a command that is hit, what it says, and the same command again, which must end as if never hit."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
import uuid
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.failures.processes import MARK, describe, marked, wait_for
from benchmarks.failures.trial import ROOT
from benchmarks.killing.hits import FULL, Blow, empty, fill, hit
from benchmarks.killing.subjects import Subject, outcome

ENDS_S = 150.0
"""No command takes longer, hit or not, however busy the machine is."""
HIT_WITHIN = 0.9
"""Of the time that the command takes undisturbed: later it has mostly ended."""
GONE_S = 15.0
"""Within this all processes of a command are gone once it has ended."""
KEPT = re.compile(r"\.roambus-cores-\d+")
"""A folder of empty files, by which runs share the machine's cores."""


@dataclass(slots=True)
class Trial:
    """What was hit, with what, when, and all that was wrong."""

    subject: str
    target: str
    how: str
    moment_s: float
    complaints: list[str] = field(default_factory=list)
    said: str = ""
    was_late: bool = False
    """Whether the command had ended before."""


@dataclass(frozen=True, slots=True)
class Stage:
    """Where a command is tried; `wanted` is what it leaves undisturbed, after `duration_s`."""

    subject: Subject
    folder: Path
    wanted: dict[str, bytes]
    duration_s: float


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended."""

    code: int
    errors: str
    mark: str


def set_stage(subject: Subject, folder: Path) -> Stage:
    """Lets the command end twice undisturbed; leaves out what differs even then, such as the time of a report."""
    results = []
    for name in ("first", "second"):
        start = time.monotonic()
        subject.prepare(folder / name)
        ended = again(subject, folder / name)
        if ended.code != 0:
            raise RuntimeError(f"{subject.name} fails undisturbed: {ended.errors}")
        results.append(outcome(folder / name))
        duration_s = time.monotonic() - start
    one, other = results
    return Stage(subject, folder, {name: it for name, it in one.items() if other.get(name) == it}, duration_s)


def try_blows(stage: Stage, number: int, blows: Sequence[Blow]) -> list[Trial]:
    """The command again and again in one folder, hit each time, and at last undisturbed, which the last trial tells."""
    disk = blows[0].disk
    folder = (disk or stage.folder) / f"trial-{number}"
    stage.subject.prepare(folder)
    trials = [_try_once(stage, folder, blow) for blow in blows]
    resumed, last = again(stage.subject, folder), trials[-1]
    last.complaints += [f"resumed: {complaint}" for complaint in _wrong_resumption(resumed)]
    last.complaints += [*_differences(stage, folder), *_left(folder)]
    if last.complaints:
        last.said += resumed.errors[-1500:]
    return trials


def _try_once(stage: Stage, folder: Path, blow: Blow) -> Trial:
    trial = Trial(stage.subject.name, blow.target, blow.how, blow.random.uniform(0, stage.duration_s * HIT_WITHIN))
    ended = _hit_once(stage, folder, trial, blow)
    trial.complaints += _wrong_end(ended, trial)
    trial.said = ended.errors[-1500:]
    if blow.disk is not None:
        empty(blow.disk)
    return trial


def again(subject: Subject, folder: Path) -> Ended:
    """The command, undisturbed."""
    return _end(*_started(subject, folder), folder)


def _started(subject: Subject, folder: Path) -> tuple[subprocess.Popen[bytes], str]:
    mark, temporary = uuid.uuid4().hex, _temporary(folder)
    temporary.mkdir(exist_ok=True)
    ours = {MARK: mark, "TMPDIR": str(temporary), "PYTHONPATH": str(ROOT)}
    with folder.with_suffix(".errors").open("wb") as errors:
        process = subprocess.Popen(
            subject.command(folder), env={**os.environ, **subject.environment, **ours}, cwd=folder,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors, start_new_session=True,
        )  # fmt: skip
    return process, mark


def _temporary(folder: Path) -> Path:
    return folder.with_suffix(".tmp")


def _hit_once(stage: Stage, folder: Path, trial: Trial, blow: Blow) -> Ended:
    process, mark = _started(stage.subject, folder)
    with suppress(subprocess.TimeoutExpired):
        process.wait(trial.moment_s)
        trial.was_late = True
    if blow.disk is not None:
        fill(blow.disk)
    elif not trial.was_late:
        trial.was_late = hit(mark, process, blow) is None
    return _end(process, mark, folder)


def _end(process: subprocess.Popen[bytes], mark: str, folder: Path) -> Ended:
    errors = folder.with_suffix(".errors")
    with suppress(subprocess.TimeoutExpired):
        process.wait(ENDS_S)
    hangs = process.poll() is None
    wait_for(lambda: not marked(mark), 0 if hangs else GONE_S)
    left = [describe(one) for one in marked(mark)]
    for one in marked(mark):
        with suppress(ProcessLookupError):
            os.kill(one, signal.SIGKILL)
    code = process.wait()
    said = errors.read_text(encoding="utf-8", errors="replace")
    return Ended(
        code,
        "".join([said, *(f"\nHANGS after {ENDS_S:g} s" if hangs else "",), *(f"\nLEFT: {one}" for one in left)]),
        mark,
    )


def _wrong_end(ended: Ended, trial: Trial) -> list[str]:
    complaints = [line for line in ended.errors.splitlines() if line.startswith(("HANGS", "LEFT"))]
    if "Traceback" in ended.errors and not _is_before_main(ended.errors):
        complaints.append("a traceback")
    if trial.how != FULL and ended.code > 0 and "error: " not in ended.errors and "failed" not in ended.errors:
        complaints.append(f"exit code {ended.code} without a message")
    if trial.how == FULL and "Traceback" not in ended.errors and ended.code not in {0, 1, 2, 3}:
        complaints.append(f"exit code {ended.code}")
    return complaints


def _is_before_main(errors: str) -> bool:
    """Whether Ctrl-C came while Python was still importing the command line, where nobody can take it."""
    return "KeyboardInterrupt" in errors and "in main\n" not in errors


def _wrong_resumption(ended: Ended) -> list[str]:
    complaints = [line for line in ended.errors.splitlines() if line.startswith(("HANGS", "LEFT"))]
    if ended.code != 0:
        complaints.append(f"exit code {ended.code}")
    return [*complaints, *(["a traceback"] if "Traceback" in ended.errors else [])]


def _differences(stage: Stage, folder: Path) -> list[str]:
    found = outcome(folder)
    differing = [f"{name} differs" for name, content in stage.wanted.items() if found.get(name) != content]
    return differing + [f"{name} is left" for name in found if Path(name).name.startswith(".")]


def _left(folder: Path) -> list[str]:
    temporary = [path for path in _temporary(folder).iterdir() if not KEPT.fullmatch(path.name)]
    hidden = [path for path in folder.rglob(".*") if path.is_dir()]
    return [f"{path.name} is left" for path in (*temporary, *hidden)]
