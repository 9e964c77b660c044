"""Sweeps as job arrays of SLURM: each task of the array makes every n-th run, and can be submitted again.

The script calls the very command that wrote it, with the part that a task makes. A task that is killed, preempted or
out of time leaves complete runs alone; submitted again, it makes what is missing. The description of the sweep is
written with the script, so that all tasks find the same.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from roambus.bridge.errors import UserError

T = TypeVar("T")
MOST_TASKS = 1000
"""SLURM takes arrays of so many tasks, unless its administrator allows more (MaxArraySize)."""

_PART = re.compile(r"(\d{1,9})/(\d{1,9})")


@dataclass(frozen=True, slots=True)
class Part:
    """One of several equal parts of a sweep, numbered from 0."""

    number: int = 0
    of: int = 1

    @classmethod
    def read(cls, text: str) -> Part:
        """Reads "3/10"; raises UserError."""
        found = _PART.fullmatch(text)
        if found is None or not int(found[1]) < int(found[2]):
            raise UserError(f"--part {text}: write NUMBER/PARTS with a number from 0 to one less than the parts")
        return cls(int(found[1]), int(found[2]))

    def of_all(self, runs: Sequence[T]) -> Sequence[T]:
        """The runs that are in this part: every n-th, so that long ones are spread."""
        return runs[self.number :: self.of]


def script(name: str, command: Sequence[str], runs: int, tasks: int | None, folder: Path) -> str:
    """The text of a job array of at most `tasks` tasks; `command` is called in `folder`.

    Raises UserError if there is nothing to run, or the array is too large.
    """
    if not runs:
        raise UserError("there is no run for a job array to make")
    if tasks is not None and tasks > MOST_TASKS:
        raise UserError(f"--tasks {tasks}: SLURM takes at most {MOST_TASKS}: a task can make several runs")
    number = min(runs, tasks or MOST_TASKS)
    return f"""#!/bin/sh
# The sweep {name}, {runs} runs in {number} tasks: submit it by sbatch, and again to make what is still missing.
#SBATCH --job-name=roambus-{name}
#SBATCH --array=0-{number - 1}
#SBATCH --cpus-per-task=1
#SBATCH --output=slurm-%x-%A_%a.log
#SBATCH --requeue
cd {shlex.quote(str(folder))} || exit
exec {shlex.join(command)} --workers "${{SLURM_CPUS_PER_TASK:-1}}" --part "$SLURM_ARRAY_TASK_ID/{number}"
"""


def without_options(arguments: Sequence[str], *options: str) -> list[str]:
    """The arguments of a command without these options and their values."""
    kept: list[str] = []
    waiting = iter(arguments)
    for word in waiting:
        if word in options:
            next(waiting, None)
        elif word.partition("=")[0] not in options:
            kept.append(word)
    return kept
