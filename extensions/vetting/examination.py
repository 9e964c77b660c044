"""Vets an agent: two processes run it in the same scenes, and the traces are compared.

The processes differ in hash seed, order of runs, clock and addresses: differing traces depend on more than `now` and
`random`. The first process also isolates nodes (`isolation`) and has the other checks (`examining`). The command's
process loads no agent: it watches (`watching`), reads a line of JSON for each step, and compares files.
"""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any, cast

from roambus.bridge.trace.parquet import first_difference
from roambus.extensions.vetting.causes import ADDRESSES, CHANCE, EARLIER_RUNS, HASHES, About, Cause
from roambus.extensions.vetting.examining import STEPS
from roambus.extensions.vetting.findings import Finding
from roambus.extensions.vetting.isolation import error_file
from roambus.extensions.vetting.scenes import SCENES, Job, Scene
from roambus.extensions.vetting.watching import LONGEST_CALL_S, Calls, Examiner, calls_file, listen

__all__ = ["STEPS", "vet"]

REPEATABLE, SHARED = "repeatable", "shared memory"
"""Names of checks."""
NODES_SHARE = "nodes share something, such as a closure, a cache or a global, which machines cannot do"
_FIXED_ADDRESSES = 0x0040000
"""Linux' personality ADDR_NO_RANDOMIZE."""


def vet(
    agent: str,
    parameters: Mapping[str, str] | None = None,
    advance: Callable[[], None] = lambda: None,
    longest_call_s: float = LONGEST_CALL_S,
) -> list[Finding]:
    """Return an agent's mistakes; call `advance` after each of `STEPS`. A handler may take `longest_call_s`.

    `agent` is a name, module:Class or a file. Raise UserError if it cannot be loaded or refuses its parameters, and if
    traces cannot be written; OSError without room for anything.
    """
    texts = " ".join(f"{name}={value}" for name, value in sorted((parameters or {}).items()))
    with TemporaryDirectory(prefix="roambus-vet-") as folder:
        first = Job(agent, texts, Path(folder, "first"), longest_call_s=longest_call_s)
        second = replace(first, folder=Path(folder, "second"), is_first=False, layout=1)
        ends: list[dict[str, Any]] = []
        found = list(examined([(first, 0), (second, 1)], advance, ends))
        if len(ends) == 2:  # both have ended well
            found += compared(first, second, About(**ends[0]))
        return list(dict.fromkeys(found))


def examined(
    jobs: Sequence[tuple[Job, int]], advance: Callable[[], None], ends: list[dict[str, Any]], *, fixed: bool = False
) -> Iterator[Finding]:
    """Yield the findings of processes for jobs with hash seeds; `fixed`: at the same addresses, if the system can."""
    with ExitStack() as processes:
        examiners = [_start(job, seed, processes, fixed=fixed) for job, seed in jobs]
        yield from listen(examiners, advance, ends)


def _start(job: Job, hash_seed: int, processes: ExitStack, *, fixed: bool) -> Examiner:
    job.folder.mkdir()
    Calls.reserve(calls_file(job.folder))
    with (job.folder / "stderr").open("w") as words:
        process = processes.enter_context(
            subprocess.Popen(  # this process has no threads
                [sys.executable, "-P", "-m", "roambus.extensions.vetting.examining"],
                # A process that compiles the agent has other addresses than one that finds it compiled.
                env={**os.environ, "PYTHONHASHSEED": str(hash_seed), "PYTHONDONTWRITEBYTECODE": "1"},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=words,
                start_new_session=True,
                preexec_fn=_fix_addresses if fixed else None,  # noqa: PLW1509  # this process has no threads
            )
        )
    examiner = Examiner(process, job.folder, job.longest_call_s)
    processes.callback(examiner.kill)  # it is called first, so that leaving the process does not wait for its end
    with suppress(BrokenPipeError), cast("IO[bytes]", process.stdin) as task:
        task.write(json.dumps({**asdict(job), "folder": str(job.folder)}).encode())
    return examiner


def _fix_addresses() -> None:
    with suppress(OSError, AttributeError):  # only Linux has it, and a container may refuse it
        ctypes.CDLL(None).personality(_FIXED_ADDRESSES)


# Comparing traces


def compared(first: Job, second: Job, about: About) -> list[Finding]:
    """Compare the traces of two processes, and those of isolated nodes unless the cause has a line already."""
    scene = next((scene for scene in SCENES if differ(first.trace(scene), second.trace(scene))), None)
    if scene is None:
        return list(between_isolated(first, about))
    cause = cause_of(first, scene)
    lines = about.lines[cause.name]
    rows = first_difference(first.trace(scene), second.trace(scene))
    text = f"{scene.name} another process makes another trace of the same run: {rows}; {cause.text}"
    finding = _located(REPEATABLE, text, lines, about)
    # What an earlier run has left, another node of the same run gets, too: that says more.
    is_known = lines and cause is not EARLIER_RUNS
    return [finding] if is_known else [*between_isolated(first, about)] or [finding]


def cause_of(job: Job, scene: Scene) -> Cause:
    """Run the scene alone in four processes, and return the one change that makes another trace."""
    base = replace(job, is_first=False, only=scene.name, layout=0)
    # Names of one length: a longer one would move objects.
    runs = [("run 1", 0, 0), ("run 2", 0, 0), ("run 3", 1, 0), ("run 4", 0, 1)]
    jobs = [(replace(base, folder=job.folder / name, layout=layout), seed) for name, layout, seed in runs]
    list(examined(jobs, lambda: None, [], fixed=True))
    first, again, layout, hashes = (run.trace(scene) for run, _ in jobs)
    if differ(first, again):
        return CHANCE
    if differ(first, layout):
        return ADDRESSES
    return HASHES if differ(first, hashes) else EARLIER_RUNS


def between_isolated(job: Job, about: About) -> Iterator[Finding]:
    """Return a finding for the first differing isolated run."""
    for scene in SCENES:
        together, isolated, error = job.trace(scene), job.isolated().trace(scene), error_file(job.isolated(), scene)
        if together.exists() and error.exists():
            how = f"the run fails: {error.read_text(encoding='utf-8')}"
        elif differ(together, isolated):
            how = f"the trace differs: {first_difference(together, isolated)}"
        else:
            continue
        text = f"{scene.name}, if each node has a process of its own, {how}"
        lines = about.lines[EARLIER_RUNS.name]
        yield _located(SHARED, text if lines else f"{text}; {NODES_SHARE}", lines, about)
        return


def differ(one: Path, other: Path) -> bool:
    """Whether both runs have a trace, and the traces differ."""
    return one.exists() and other.exists() and one.read_bytes() != other.read_bytes()


def _located(check: str, text: str, lines: Sequence[str], about: About) -> Finding:
    """Return a finding at the first suspicious line, or else at the agent."""
    if lines:
        return Finding(check, f"{text}; look at {', '.join(lines)}", lines[0].partition(" ")[0])
    return Finding(check, text, about.place)
