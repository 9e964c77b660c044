"""What becomes of commands that are hit at random moments: host, worker, Java, simulator; and of a full file system.

python -m benchmarks.kills --trials 40
python -m benchmarks.kills --trials 20 --subject castalia
python -m benchmarks.kills --trials 10 --subject sweep --full-disk

Each trial is a real command (`run`, `sweep`, `aggregate`, `reproduce --quick`), of which one process gets SIGKILL,
SIGTERM, SIGINT or SIGHUP at some moment between start and end; with --full-disk, no byte more can be written from that
moment on. It must end in time, without a traceback, and take its processes with it. Then the same command is given
again, and hit again, some times, until it is left alone: it must succeed, its results must be those of an undisturbed
one, byte for byte, and no process, socket, temporary folder or hidden file may be left. --full-disk mounts a small file
system, which needs the rights for that.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import count, cycle, islice, product
from pathlib import Path
from random import Random

from rich.box import MARKDOWN
from rich.console import Console
from rich.table import Table

from benchmarks.failures.processes import adopt_orphans
from benchmarks.killing.hits import FULL, SIGNALS, Blow, small_disk
from benchmarks.killing.subjects import subjects
from benchmarks.killing.trial import Stage, Trial, set_stage, try_blows
from roambus.bridge.backends.castalia.environment import CASTALIA_ROOT, OMNETPP_ROOT

NAMES = ("run", "sweep", "stand-in", "aggregate", "reproduce", "castalia")
AT_ONCE = 4
"""So often a command is hit before it may end."""
SHORT = "/tmp"  # noqa: S108  # mkdtemp follows; the path of a socket must be short


def castalia() -> dict[str, str] | None:
    """The variables that say where Castalia is, if the environment has them."""
    found = {name: os.environ.get(name, "") for name in (OMNETPP_ROOT, CASTALIA_ROOT)}
    return found if all(found.values()) else None


def trials(stage: Stage, number: int, random: Random, *, full_disk: bool = False) -> Iterator[Trial]:
    """At least so many trials that were hit before their command ended, targets and signals in turns."""
    pairs = [(target, number.name) for target, number in product(stage.subject.targets, SIGNALS)]
    random.shuffle(pairs)
    turns, done = cycle([("", FULL)] if full_disk else pairs), 0
    with ExitStack() as stack:
        disk = stack.enter_context(small_disk(stage.folder / "disk")) if full_disk else None
        for attempt in count():
            blows = [Blow(*turn, random, disk) for turn in islice(turns, min(AT_ONCE, number - done))]
            for trial in try_blows(stage, attempt, blows):
                if trial.complaints or not trial.was_late:
                    done += 1
                    yield trial
            _clear((disk or stage.folder), attempt)
            if done >= number:
                return


def _clear(folder: Path, attempt: int) -> None:
    """Makes room for the next trial."""
    for path in folder.glob(f"trial-{attempt}*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def table(done: Sequence[Trial]) -> Table:
    """A row for each command and kind of process."""
    result = Table("command", "hit", *(number.name for number in SIGNALS), FULL, "as promised", "not", box=MARKDOWN)
    for subject, target in sorted({(trial.subject, trial.target) for trial in done}):
        ours = [trial for trial in done if (trial.subject, trial.target) == (subject, target)]
        counts = [sum(trial.how == how for trial in ours) for how in (*(number.name for number in SIGNALS), FULL)]
        wrong = sum(bool(trial.complaints) for trial in ours)
        result.add_row(subject, target, *map(str, counts), str(len(ours) - wrong), str(wrong))
    return result


def report(done: Sequence[Trial]) -> int:
    """Prints all of it; returns the exit code: 0, or 1 if a promise was broken."""
    console = Console(width=140)
    for trial in done:
        if trial.complaints:
            console.rule(f"{trial.subject}: {trial.how} to {trial.target}, at {trial.moment_s:.2f} s")
            console.print("\n".join([*trial.complaints, trial.said]), markup=False, highlight=False)
    console.print(table(done))
    wrong = sum(bool(trial.complaints) for trial in done)
    print(f"{len(done)} trials, {wrong} not as promised")
    return 1 if wrong else 0


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns its exit code: 0, or 1 if a promise was broken."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kills", description="Hits commands at random moments.")
    parser.add_argument("--trials", type=int, default=40, help="of each command (default: 40)")
    parser.add_argument("--subject", action="append", choices=NAMES, help="default: all that are there")
    parser.add_argument("--seed", type=int, default=0, help="of the moments and what is hit (default: 0)")
    parser.add_argument("--full-disk", action="store_true")
    asked = parser.parse_args(arguments)
    adopt_orphans()
    done: list[Trial] = []
    with tempfile.TemporaryDirectory(prefix="kills-", dir=SHORT) as folder:
        for name, subject in subjects(Path(folder), castalia()).items():
            if name in (asked.subject or NAMES):
                stage, random = set_stage(subject, Path(folder) / name), Random(f"{asked.seed} {name}")
                for trial in trials(stage, asked.trials, random, full_disk=asked.full_disk):
                    done.append(trial)
                    said = "\n".join([*trial.complaints, trial.said]) if trial.complaints else "as promised"
                    print(f"{name} {len(done)}: {trial.how} {trial.target}: {said}", file=sys.stderr, flush=True)
    return report(done)


if __name__ == "__main__":
    sys.exit(main())
