"""What becomes of a run to whose socket strangers come, by the thousand, before its simulator and during the run.

python -m benchmarks.strangers --visits 100000
python -m benchmarks.strangers --visits 5000 --over ipc

Each episode is a real `roambus serve` over ipc or over tcp, where it has keys. Half of the strangers come while it
waits, the others from when the stand-in has come as its simulator until the run has ended. They speak every version of
ZMTP, well and badly, or anything else, or nothing; they come, go, stay and speak slowly; `benchmarks/visitors` has
them. Afterwards the trace must be the one of a run without strangers, byte for byte, nobody may have been told anything
of the run, and the host may have taken neither memory nor file descriptors.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random

from rich.box import MARKDOWN
from rich.console import Console
from rich.table import Table

from benchmarks.failures.processes import wait_for
from benchmarks.failures.stand_in import STAND_IN
from benchmarks.visitors.served import ENDS_S, NOTHING, Served, Use, opened
from benchmarks.visitors.storm import Storm
from roambus.bridge.backends.castalia.files import SIMULATOR_FOLDER

DOORS = ("ipc", "tcp")
MORE_MIB = 64
"""Of memory, which the host may keep after thousands of strangers: libzmq's and the allocator's own."""
SETTLES_S = 5.0
"""Within this the host has seen the end of all who have gone."""
START_S = 60.0
LOOKED = 500
"""Every so many strangers the host's memory is looked at."""
DESCRIPTORS = 1024
"""So many file descriptors a process may have, as is common."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What all episodes share: the run's simulated seconds and undisturbed trace, and how many strangers come first."""

    seconds: int
    wanted: bytes
    waiting: int = 10_000


@dataclass(slots=True)
class Episode:
    """One run, and who came to it."""

    over: str
    visits: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    before: Use = NOTHING
    after: Use = NOTHING
    running: Use = NOTHING
    """What the host had when the run was nearly over."""
    run_s: float = 0.0


def undisturbed(folder: Path, seconds: int) -> bytes:
    """The trace of a run to which no stranger comes."""
    with Served(folder / "undisturbed", "ipc", seconds) as served:
        wait_for(lambda: served.listens, START_S)
        served.simulator().wait(ENDS_S)
        served.host.wait(ENDS_S)
        return served.trace()


def episodes(folder: Path, over: Sequence[str], visits: int, seconds: int, seed: int) -> Iterator[Episode]:
    """Runs, with so many strangers in all at each door, about half of whom come while the host waits."""
    terms = Terms(seconds, undisturbed(folder, seconds))
    for door in over:
        left, number = visits, 0
        while left > 0:
            number += 1
            episode = conduct(folder / f"{door}-{number}", door, Random(f"{seed} {door} {number}"), terms)
            left -= episode.visits.total()
            yield episode


def conduct(results: Path, over: str, random: Random, terms: Terms) -> Episode:
    """One run with strangers."""
    episode = Episode(over)
    with Served(results, over, terms.seconds) as served:
        if not wait_for(lambda: served.listens, START_S):
            raise RuntimeError(f"the host does not start: {served.errors()}")
        storm = _storm(served, random)
        episode.before = _blow_while_waiting(served, storm, terms.waiting)
        episode.after = _settled(served, episode.before)
        start = time.monotonic()
        episode.running = _blow_during_the_run(served, storm)
        episode.run_s = time.monotonic() - start
        episode.visits = storm.visits
        episode.faults = [*storm.faults[:10], *_wrong_ends(served, terms.wanted), *_growth(episode)]
    return episode


def _storm(served: Served, random: Random) -> Storm:
    session = served.session()
    endpoint, key = session["endpoint"], session.get("server_key")
    secret = session["token"].encode()
    return Storm(partial(opened, endpoint), endpoint, key.encode() if key else None, secret, random)


def _blow_while_waiting(served: Served, storm: Storm, number: int) -> Use:
    """What the host had after the first of them, when everything is there that it needs for any."""
    before = served.use()
    for count in range(number):
        storm.visit()
        if count == number // 10:
            before = Use(served.use().memory_mib, before.descriptors)
        if _is_gone(served):
            break
    storm.leave()
    return before


def _settled(served: Served, before: Use) -> Use:
    """What the host has once all have gone."""
    wait_for(lambda: _is_gone(served) or served.use().descriptors <= before.descriptors, SETTLES_S)
    return before if _is_gone(served) else served.use()


def _blow_during_the_run(served: Served, storm: Storm) -> Use:
    """What the host had when it was last looked at; nobody listens after the end of the run."""
    use, simulator = NOTHING, None if _is_gone(served) else served.simulator()
    while simulator is not None and simulator.poll() is None:
        known = len(storm.faults)
        storm.visit()
        if len(storm.faults) > known and wait_for(lambda: _has_ended(served), SETTLES_S):
            del storm.faults[known:]
        if _has_ended(served):
            break
        if storm.visits.total() % LOOKED == 0:
            use = served.use()
    if simulator is not None:
        simulator.wait(ENDS_S)
        served.host.wait(ENDS_S)
    storm.end()
    return use


def _has_ended(served: Served) -> bool:
    """Whether the run is over: it removes the folder for its simulator shortly after it has closed its socket."""
    return _is_gone(served) or not (served.folder / SIMULATOR_FOLDER).exists()


def _is_gone(served: Served) -> bool:
    return served.host.poll() is not None


def _wrong_ends(served: Served, wanted: bytes) -> list[str]:
    faults = [] if served.host.returncode == 0 else [f"exit code {served.host.returncode}: {served.errors()[-800:]}"]
    if "Traceback" in served.errors():
        faults.append(f"a traceback: {served.errors()[-800:]}")
    return [*faults, *([] if served.trace() == wanted else ["the trace is another one"])]


def _growth(episode: Episode) -> list[str]:
    peak = max(episode.after.memory_mib, episode.running.memory_mib)
    more_mib, more = peak - episode.before.memory_mib, episode.after.descriptors - episode.before.descriptors
    faults = [f"the host keeps {more_mib:.0f} MiB more"] if more_mib > MORE_MIB else []
    return [*faults, *([f"the host keeps {more} descriptors more"] if more > 0 else [])]


def table(done: Sequence[Episode]) -> Table:
    """A row for each door and kind of strangers."""
    result = Table("over", "strangers", "tried", "as promised", "not", box=MARKDOWN)
    for over in dict.fromkeys(episode.over for episode in done):
        ours = [episode for episode in done if episode.over == over]
        visits = sum((episode.visits for episode in ours), Counter[str]())
        for kind, number in sorted(visits.items()):
            wrong = sum(fault.startswith(kind) for episode in ours for fault in episode.faults)
            result.add_row(over, kind, f"{number:,}", f"{number - wrong:,}", str(wrong))
    return result


def report(done: Sequence[Episode], seconds: float) -> int:
    """Prints all of it; returns the exit code: 0, or 1 if something changed."""
    console = Console(width=120)
    console.print(table(done))
    for episode in done:
        before, after = episode.before, episode.after
        memory = (
            f"memory {before.memory_mib:.0f} -> {after.memory_mib:.0f} MiB, in the run {episode.running.memory_mib:.0f}"
        )
        said = "; ".join(episode.faults) or "the trace is equal"
        print(f"{episode.over}: {episode.visits.total():,} strangers, run {episode.run_s:.1f} s; {memory} MiB,")
        print(f"  descriptors {before.descriptors} -> {after.descriptors}; {said}")
    print(f"{sum(episode.visits.total() for episode in done):,} strangers in {len(done)} runs, {seconds:.0f} s")
    return 1 if any(episode.faults for episode in done) else 0


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns its exit code: 0, 1 if strangers changed something, or 2 for a user's error."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.strangers", description="Lets strangers come to runs.")
    parser.add_argument("--visits", type=int, default=50_000, help="at each door (default: 50000)")
    parser.add_argument("--over", action="append", choices=DOORS, help="default: both")
    parser.add_argument("--seconds", type=int, default=3000, help="of each run, in simulated time (default: 3000)")
    parser.add_argument("--seed", type=int, default=0, help="of the strangers (default: 0)")
    asked = parser.parse_args(arguments)
    if not STAND_IN.is_file():
        print(f"strangers: {STAND_IN} is not there: build it with make -C omnet stand-in", file=sys.stderr)
        return 2
    resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="strangers-") as folder:
        done = list(episodes(Path(folder), asked.over or DOORS, asked.visits, asked.seconds, asked.seed))
    return report(done, time.monotonic() - start)


if __name__ == "__main__":
    sys.exit(main())
