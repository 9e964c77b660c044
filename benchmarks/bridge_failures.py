"""What becomes of runs that are hit at random moments: a process killed or frozen, the socket closed, Ctrl-C.

python -m benchmarks.bridge_failures --trials 200
python -m benchmarks.bridge_failures --trials 20 --simulator stand-in --kind "host frozen"
python -m benchmarks.bridge_failures --at-once 20

Each trial is a real `roambus run --backend castalia` in processes of its own, hit once at a moment between its start
and its end. Host and simulator must both end in time, the one that is left with the right exit code and message, and no
process, socket or unfinished result may be left. A sweep over some of the same runs must complete afterwards.

With --at-once, nothing is hit: so many runs are started together, and must leave the traces that they leave alone.
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

from rich.box import MARKDOWN
from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.failures.at_once import run_alone, run_at_once
from benchmarks.failures.conduct import End, Outcome, conduct
from benchmarks.failures.kinds import ALLOWANCE_S, KINDS, Kind
from benchmarks.failures.processes import adopt_orphans
from benchmarks.failures.stand_in import all_linked, install_stand_in
from benchmarks.failures.sweeps import sweep
from benchmarks.failures.trial import NODES, Stage, Trial
from roambus.bridge.backends.castalia.installation import find_installation
from roambus.bridge.errors import RoambusError, UserError

SECONDS = 200
"""How long the runs are, in simulated time: about as long as they take to start, in wall time."""
SWEPT = 42
"""So many of the runs, of all kinds in turns, are in the sweep that follows the trials."""


def set_stage(folder: Path, simulator: str, deadline_s: float, seconds: int, transport: str = "zeromq") -> Stage:
    """Makes the folders; raises UserError if the simulator is not there."""
    environment: dict[str, str] = {}
    if simulator == "stand-in":
        environment = install_stand_in(folder / "stand-in", all_linked(NODES, seconds))
    else:
        find_installation()
    stage = Stage(folder, environment, deadline_s, seconds, transport)
    stage.temporary.mkdir()
    return stage


def undisturbed_s(stage: Stage, seed: int) -> float:
    """How long a run takes, wall time; raises UserError if it fails."""
    with Trial(stage, seed) as trial:
        start = time.monotonic()
        trial.host.wait()
        if trial.host.returncode != 0:
            raise UserError(f"a run that nothing disturbs fails: {trial.errors().strip()}")
        return time.monotonic() - start


def trials(kinds: Sequence[Kind], count: int, stage: Stage, random: Random) -> Iterator[Outcome]:
    """`count` of each kind, in turns, each run with another seed, hit at another moment."""
    whole = min(undisturbed_s(stage, seed) for seed in range(2))
    for seed in range(count * len(kinds)):
        yield conduct(kinds[seed % len(kinds)], stage, seed + 2, random.uniform(0, whole))


def table(outcomes: Sequence[Outcome]) -> Table:
    """A row for each kind."""
    made = Table("kind", "trials", *(end.value for end in End), "slowest end", box=MARKDOWN)
    for kind in dict.fromkeys(outcome.kind for outcome in outcomes):
        ours = [outcome for outcome in outcomes if outcome.kind == kind]
        counts = [str(sum(outcome.end is end for outcome in ours)) for end in End]
        slowest = max((outcome.took_s for outcome in ours if outcome.end is End.PROMISED), default=0.0)
        made.add_row(kind, str(len(ours)), *counts, f"{slowest:.1f} s")
    return made


def report(outcomes: Sequence[Outcome], complaints: Sequence[str], deadline_s: float, console: Console) -> int:
    """Prints all of it; returns the exit code: 0, or 1 if a promise was broken."""
    broken = [outcome for outcome in outcomes if outcome.end is End.BROKEN]
    for outcome in broken:
        console.rule(f"{outcome.kind}, seed {outcome.seed}, hit at {outcome.moment_s:.3f} s")
        console.print(outcome.details, markup=False, highlight=False)
    for complaint in complaints:
        console.print(complaint, markup=False, highlight=False)
    console.print(table(outcomes))
    console.print(
        f"deadline {deadline_s:g} s; the end may take 1 deadline (host frozen: 2; simulator frozen before its"
    )
    console.print(f"hello: 3) and {ALLOWANCE_S:g} s")
    return 1 if broken or complaints else 0


def missed(outcomes: Sequence[Outcome]) -> list[str]:
    """A complaint for each kind none of whose blows a run has felt: they say nothing."""
    kinds = dict.fromkeys(outcome.kind for outcome in outcomes)
    felt = {outcome.kind for outcome in outcomes if outcome.end in {End.PROMISED, End.BROKEN}}
    return [f"{kind}: no run has felt it" for kind in kinds if kind not in felt]


def run_trials(kinds: Sequence[Kind], count: int, asked: argparse.Namespace) -> int:
    """All of it; returns the exit code. Raises UserError if the simulator is not there."""
    adopt_orphans()
    # A shell has what it starts with & ignore the interrupt, and so would the runs.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    console, random = Console(), Random(asked.seed)
    with tempfile.TemporaryDirectory(prefix="trials-") as folder:
        stage = set_stage(Path(folder), asked.simulator, asked.deadline, SECONDS, asked.transport)
        steps = track(trials(kinds, count, stage, random), "trials", count * len(kinds), console=console)
        outcomes = list(steps)
        complaints = [*missed(outcomes), *sweep(stage, min(SWEPT, len(outcomes)))]
    return report(outcomes, complaints, asked.deadline, console)


def run_together(runs: int, simulator: str, deadline_s: float) -> int:
    """The same runs alone, then at once; returns the exit code. Raises UserError if the simulator is not there."""
    with tempfile.TemporaryDirectory(prefix="trials-") as folder:
        stage = set_stage(Path(folder), simulator, deadline_s, SECONDS)
        start = time.monotonic()
        alone, complaints = run_alone(stage, runs)
        between = time.monotonic()
        complaints += run_at_once(stage, alone, runs)
    print("\n".join([*complaints, f"{runs} runs: one after the other {between - start:.1f} s, at once "]), end="")
    print(f"{time.monotonic() - between:.1f} s; {'their traces are equal' if not complaints else 'see above'}")
    return 1 if complaints else 0


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns its exit code: 0, 1 if a promise was broken, or 2 for a user's error."""
    asked = _parser().parse_args(arguments)
    kinds = [kind for kind in KINDS if kind.name in (asked.kind or {kind.name})]
    try:
        if asked.at_once:
            return run_together(asked.at_once, asked.simulator, asked.deadline)
        return run_trials(kinds, asked.trials, asked)
    except (RoambusError, OSError) as error:
        print(f"bridge_failures: {error}", file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.bridge_failures",
        description="Hits runs with a simulator at random moments, and checks how they end.",
        epilog="example: python -m benchmarks.bridge_failures --trials 20 --simulator stand-in",
    )
    parser.add_argument("--trials", type=int, default=200, help="of each kind (default: 200)")
    parser.add_argument("--simulator", choices=("castalia", "stand-in"), default="castalia")
    parser.add_argument("--transport", choices=("zeromq", "local"), default="zeromq")
    parser.add_argument("--kind", action="append", choices=[kind.name for kind in KINDS], help="default: all")
    parser.add_argument("--deadline", type=float, default=2.0, help="of the runs, in seconds (default: 2)")
    parser.add_argument("--seed", type=int, default=0, help="of the moments (default: 0)")
    parser.add_argument("--at-once", type=int, metavar="RUNS", help="start so many together instead, and hit none")
    return parser


if __name__ == "__main__":
    sys.exit(main())
