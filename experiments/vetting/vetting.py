"""Vets an agent: has several processes examine it, and compares the traces that they make of the same runs.

The processes differ in all that a trace may not depend on: the hash seed by which Python orders sets of texts, the
order of the runs, the clock, and the addresses of objects. Where two traces differ, chance comes from elsewhere than
from the agent's own generator.

The process of an examination: `python -m roambus.experiments.vetting.vetting`, with a job as JSON on its input.

It prints a line for each step, which is what was found in it, as JSON; what the agent prints is lost.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, cast

from roambus.bridge.agents import load_agent
from roambus.bridge.errors import UserError
from roambus.bridge.runs.guard import EndedError, apart, watch
from roambus.bridge.trace.parquet import first_difference
from roambus.experiments.vetting.examination import RUNS, SCENES, Job, examine, steps
from roambus.experiments.vetting.findings import Finding, place_of_agent, suspects

REPEATABLE = "repeatable"
HASH_SEEDS = (0, 1, 2)
"""The hash seed of each process."""

Advance = Callable[[], None]


@dataclass(slots=True)
class _Examiner:
    """A process that examines."""

    job: Job
    process: subprocess.Popen[str]


def vet(agent: str, parameters: Mapping[str, str] | None = None, advance: Advance = lambda: None) -> list[Finding]:
    """What is wrong with an agent; empty if nothing was found. `advance` is called after each of `steps_of_all()`.

    `agent` is a name, module:Class or a file. Raises UserError if it cannot be used at all, such as for its parameters.
    """
    texts = " ".join(f"{name}={value}" for name, value in sorted((parameters or {}).items()))
    with TemporaryDirectory(prefix="roambus-vet-") as folder:
        jobs = [_job(agent, texts, Path(folder), number) for number in range(len(HASH_SEEDS))]
        examiners = [_Examiner(job, _start(job, seed)) for job, seed in zip(jobs, HASH_SEEDS, strict=True)]
        try:
            found = [finding for one in examiners for finding in _listen(one, advance)]
        finally:
            for one in examiners:
                _end(one.process)
        return list(dict.fromkeys([*found, *_differences(jobs)]))


def steps_of_all() -> int:
    """How often `vet` calls `advance`."""
    return sum(steps(_job("", "", Path(), number)) for number in range(len(HASH_SEEDS)))


def _job(agent: str, parameters: str, folder: Path, number: int) -> Job:
    own = folder / str(number)
    return Job(agent, parameters, own, turn=number % len(SCENES), is_first=number == 0)


def _start(job: Job, hash_seed: int) -> subprocess.Popen[str]:
    job.folder.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "roambus.experiments.vetting.vetting"],
        env={**os.environ, "PYTHONHASHSEED": str(hash_seed)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with suppress(BrokenPipeError), cast("IO[str]", process.stdin) as asked:
        json.dump({**asdict(job), "folder": str(job.folder)}, asked)
    return process


def _listen(examiner: _Examiner, advance: Advance) -> Iterator[Finding]:
    """What a process finds; raises UserError if it cannot use the agent."""
    has_ended = False
    for line in cast("IO[str]", examiner.process.stdout):
        told = json.loads(line)
        if "error" in told:
            raise UserError(told["error"])
        has_ended = "end" in told
        yield from (Finding(**one) for one in told.get("findings", ()))
        if not has_ended:
            advance()
    if not has_ended:
        yield _ended(examiner)


def _ended(examiner: _Examiner) -> Finding:
    said = cast("IO[str]", examiner.process.stderr).read().strip().splitlines()
    status = EndedError(examiner.process.wait())
    return Finding(RUNS, f"{status}{f': {said[-1]}' if said else ''}")


def _end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()
    for stream in (process.stdout, process.stderr):
        cast("IO[str]", stream).close()


def _differences(jobs: list[Job]) -> Iterator[Finding]:
    """A finding for the first scene whose traces differ."""
    first, *others = jobs
    for scene in SCENES:
        for other in others:
            one, two = first.trace(scene), replace(other).trace(scene)
            if not (one.exists() and two.exists()) or one.read_bytes() == two.read_bytes():
                continue
            place, where = apart(lambda: _suspects(first.agent))
            text = f"{scene.name} another process makes another trace of the same run: {first_difference(one, two)}"
            yield Finding(REPEATABLE, f"{text}; {where}", place)
            return


def _suspects(agent: str) -> tuple[str, str]:
    """The place to name, and the words for the lines to look at."""
    agent_class = load_agent(agent)
    lines = suspects(agent_class)
    if not lines:
        return place_of_agent(
            agent_class
        ), "chance comes from elsewhere than self.random, or time from elsewhere than now"
    return lines[0].partition(" ")[0], f"look at {', '.join(lines)}"


def main() -> None:
    """Examines, and ends with the exit code 0 whatever was found."""
    told = os.fdopen(os.dup(1), "w", encoding="utf-8")
    sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115  # it stays open to the end
    asked = json.loads(sys.stdin.read())
    watch()
    try:
        for found in examine(Job(**{**asked, "folder": Path(asked["folder"])})):
            print(json.dumps({"findings": [asdict(one) for one in found]}), file=told, flush=True)  # to vetting
        print(json.dumps({"end": True}), file=told, flush=True)  # as above
    except UserError as error:
        print(json.dumps({"error": str(error)}), file=told, flush=True)  # as above


if __name__ == "__main__":
    main()
