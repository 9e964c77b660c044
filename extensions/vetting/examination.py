"""Vets an agent: two processes run it in the same scenes, and the traces are compared.

The processes differ in hash seed, order of runs, clock and addresses: differing traces depend on more than `now` and
`random`. The first process also isolates nodes (`isolation`) and checks `messages`.
An agent can print and exit, so the command's process only reads a line of JSON for each step.
"""

from __future__ import annotations

import ast
import faulthandler
import json
import os
import re
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, cast

from roambus.bridge.agents import load_agent
from roambus.bridge.system.child_process import EndedError, run_in_child
from roambus.bridge.system.code import is_own_file
from roambus.bridge.system.errors import UserError
from roambus.bridge.trace.parquet import first_difference
from roambus.extensions.vetting.findings import Finding, Line, place_of_agent, shared_memory, suspects, time_or_chance
from roambus.extensions.vetting.isolation import error_file, play_isolated
from roambus.extensions.vetting.messages import check_round_trips, check_strangers
from roambus.extensions.vetting.scenes import LONGEST_STEP_S, RUNS, SCENES, Job, play

REPEATABLE, SHARED = "repeatable", "shared memory"
"""Names of checks."""
HASH_SEEDS = (0, 1)
"""The hash seed of each process."""
STEPS = len(HASH_SEEDS) * len(SCENES) + 2
"""Calls of `advance`: for each scene and process, and two checks."""
_STANDARD_LIBRARY = Path(sysconfig.get_path("stdlib"))


def vet(
    agent: str,
    parameters: Mapping[str, str] | None = None,
    advance: Callable[[], None] = lambda: None,
    longest_s: float = LONGEST_STEP_S,
) -> list[Finding]:
    """Return an agent's mistakes; call `advance` after each of `STEPS`, which may take `longest_s` each.

    `agent` is a name, module:Class or a file. Raise UserError if it cannot be loaded or refuses its parameters.
    """
    texts = " ".join(f"{name}={value}" for name, value in sorted((parameters or {}).items()))
    with TemporaryDirectory(prefix="roambus-vet-") as folder, ExitStack() as processes:
        jobs = [Job(agent, texts, Path(folder, str(seed)), seed == HASH_SEEDS[0], longest_s) for seed in HASH_SEEDS]
        examiners = [_start(job, seed, processes) for job, seed in zip(jobs, HASH_SEEDS, strict=True)]
        found = [finding for examiner in examiners for finding in _listen(examiner, advance)]
        return list(dict.fromkeys([*found, *_compare(agent, jobs)]))


def _start(job: Job, hash_seed: int, processes: ExitStack) -> subprocess.Popen[str]:
    job.folder.mkdir()
    process = processes.enter_context(
        subprocess.Popen(
            [sys.executable, "-P", "-m", "roambus.extensions.vetting.examination"],
            env={**os.environ, "PYTHONHASHSEED": str(hash_seed)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
    )
    processes.callback(process.kill)  # it is called first, so that leaving the process does not wait for its end
    with suppress(BrokenPipeError), cast("IO[str]", process.stdin) as task:
        json.dump({**asdict(job), "folder": str(job.folder)}, task)
    return process


def _listen(process: subprocess.Popen[str], advance: Callable[[], None]) -> Iterator[Finding]:
    for line in cast("IO[str]", process.stdout):
        step = json.loads(line)
        if "error" in step:
            raise UserError(step["error"])
        if "end" in step:
            return
        yield from (Finding(**finding) for finding in step["findings"])
        advance()
    last_words = cast("IO[str]", process.stderr).read().strip().splitlines()
    if any(line.startswith("Timeout (") for line in last_words):
        yield _endless(last_words)
        return
    last_words = last_words[-1:]
    yield Finding(RUNS, ": ".join([str(EndedError(process.wait())), *last_words]))


def _endless(stack: list[str]) -> Finding:
    """Return the finding of a step without an end, at the innermost line of the agent's if it is known."""
    frames = (re.search(r'File "(.*)", line (\d+)', line) for line in stack)
    places = ((Path(match[1]), match[2]) for match in frames if match)
    place = next((f"{file.name}:{line}" for file, line in places if _is_users(file)), "")
    return Finding(RUNS, "a run does not end: a handler loops, sleeps or sends for ever", place)


def _is_users(file: Path) -> bool:
    is_library = file.is_relative_to(_STANDARD_LIBRARY) or "site-packages" in file.parts
    return not (is_library or is_own_file(file) or file.name.startswith("<"))


# Comparing traces


def _compare(agent: str, jobs: list[Job]) -> list[Finding]:
    """Compare the traces of the processes; without suspicious lines also those of isolated nodes."""
    lines = _lines(agent, time_or_chance)
    differences = list(_between_processes(jobs, lines))
    return differences if lines and differences else [*between_isolated(jobs[0])] or differences


def _lines(agent: str, find: Callable[[ast.AST], Iterator[Line]]) -> list[str]:
    return run_in_child(lambda: suspects(load_agent(agent), find))


def _between_processes(jobs: list[Job], lines: list[str]) -> Iterator[Finding]:
    first, second = jobs
    for scene in SCENES:
        trace, again = first.trace(scene), second.trace(scene)
        if trace.exists() and again.exists() and trace.read_bytes() != again.read_bytes():
            text = f"{scene.name} another process makes another trace of the same run: {first_difference(trace, again)}"
            cause = "the agent draws random numbers without self.random, or reads a clock instead of now"
            yield _located(REPEATABLE, first.agent, text, cause, lines)
            return


def between_isolated(job: Job) -> Iterator[Finding]:
    """Return a finding for the first differing isolated run."""
    for scene in SCENES:
        together, isolated, error = job.trace(scene), job.isolated().trace(scene), error_file(job.isolated(), scene)
        if together.exists() and error.exists():
            how = f"the run fails: {error.read_text(encoding='utf-8')}"
        elif together.exists() and isolated.exists() and together.read_bytes() != isolated.read_bytes():
            how = f"the trace differs: {first_difference(together, isolated)}"
        else:
            continue
        text = f"{scene.name}, if each node has a process of its own, {how}"
        cause = "nodes share something, such as a closure, a cache or a global, which machines cannot do"
        yield _located(SHARED, job.agent, text, cause, _lines(job.agent, shared_memory))
        return


def _located(check: str, agent: str, text: str, cause: str, lines: list[str]) -> Finding:
    """Return a finding at the first suspicious line, or else at the agent with a probable cause."""
    if lines:
        return Finding(check, f"{text}; look at {', '.join(lines)}", lines[0].partition(" ")[0])
    return Finding(check, f"{text}; {cause}", run_in_child(lambda: place_of_agent(load_agent(agent))))


# The examining process


def main() -> None:
    """Examine the JSON job on stdin; the exit code is always 0."""
    # The agent's own output must not come between the lines of JSON.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115  # it stays open to the end
    task = json.loads(sys.stdin.read())
    try:
        job = Job(**{**task, "folder": Path(task["folder"])})
        faulthandler.dump_traceback_later(job.longest_s, exit=True)
        for found in examine(job):
            faulthandler.dump_traceback_later(job.longest_s, exit=True)
            print(json.dumps({"findings": [asdict(finding) for finding in found]}), file=answers, flush=True)
        print(json.dumps({"end": True}), file=answers, flush=True)
    except UserError as error:
        print(json.dumps({"error": str(error)}), file=answers, flush=True)


def examine(job: Job) -> Iterator[list[Finding]]:
    """Yield a process's findings by step; raise UserError for an unusable agent."""
    agent_class = load_agent(job.agent)
    if job.is_first:
        for scene in SCENES:  # before any node has left something in this process
            play_isolated(job.isolated(), scene, agent_class)
    for scene in job.scenes():
        yield list(play(job, scene, agent_class))
    if job.is_first:
        yield list(check_round_trips(agent_class))
        yield list(check_strangers(agent_class, job.scenario(SCENES[0])))


if __name__ == "__main__":
    main()
