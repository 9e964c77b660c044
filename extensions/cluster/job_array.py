"""The script of a SLURM job array, whose tasks make every n-th run of a sweep.

The script calls the command that wrote it, with `--part`; submitted again it makes the missing runs.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from roambus.bridge.system.errors import UserError
from roambus.experiments.sweeps.sweep import LONGEST_NAME

MOST_TASKS = 1000
"""The most tasks of a SLURM array by default (MaxArraySize)."""


def write_script(name: str, arguments: Sequence[str], runs: int, tasks: int | None) -> str:
    """The job array of the command `roambus` with these arguments, at most `tasks` tasks, called in this folder.

    Raises UserError for no run or too many tasks.
    """
    command = [sys.executable, "-m", "roambus", *without_options(arguments, "--slurm", "--tasks")]
    return script(name, command, runs, tasks, Path.cwd())


def script(name: str, command: Sequence[str], runs: int, tasks: int | None, folder: Path) -> str:
    """A job array's text, at most `tasks` tasks; raises UserError for none or too many."""
    if not runs:
        raise UserError("there is no run for a job array")
    if tasks is not None and tasks > MOST_TASKS:
        raise UserError(f"--tasks {tasks}: SLURM takes at most {MOST_TASKS}: a task can make several runs")
    number = min(runs, tasks or MOST_TASKS)
    # It comes from the name of a file, which can be anything: a line break would begin a command of its own. Nothing
    # here can be quoted, for sbatch reads these lines itself, and ends an option at the next blank.
    safe = re.sub(r"[^\w.+-]", "-", name, flags=re.ASCII)[:LONGEST_NAME]
    return f"""#!/bin/sh
# The sweep {safe}, {runs} runs in {number} tasks: submit it by sbatch, and again to make what is still missing.
#SBATCH --job-name=roambus-{safe}
#SBATCH --array=0-{number - 1}
#SBATCH --cpus-per-task=1
#SBATCH --output=slurm-%x-%A_%a.log
#SBATCH --requeue
cd {shlex.quote(str(folder))} || exit
exec {shlex.join(command)} --workers "${{SLURM_CPUS_PER_TASK:-1}}" --part "$SLURM_ARRAY_TASK_ID/{number}"
"""


def without_options(arguments: Sequence[str], *options: str) -> list[str]:
    """A command's arguments without these options and their values."""
    kept: list[str] = []
    waiting = iter(arguments)
    for word in waiting:
        if word in options:
            next(waiting, None)
        elif word.partition("=")[0] not in options:
            kept.append(word)
    return kept
