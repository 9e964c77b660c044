"""Runs trials by seed, with progress and a limit of time, and prints a table; the exit code says if all went well.

A chapter yields an outcome for each trial. An outcome names the subject, the harm done to it, the end in the chapter's
own words, and the broken promises. A harm that came too late for each subject proves nothing, and counts as a broken
promise. All draws come from a generator of the seed and the subject's name, so that a trial can be repeated alone.
"""

from __future__ import annotations

import faulthandler
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any, TypeVar

from rich.box import MARKDOWN
from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.trials.processes import adopt_orphans

PROMISED = "as promised"
SHORT = "/tmp"  # noqa: S108  # mkdtemp follows; the path of a socket must be short
SHOWN = 2000
"""So many characters of what a subject said are shown where a promise was broken."""
STDERR = 2

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a trial ended; `times` stands for so many that ended alike."""

    subject: str
    harm: str
    end: str = PROMISED
    complaints: Sequence[str] = ()
    """The broken promises."""
    said: str = ""
    """The subject's own messages."""
    took_s: float = 0.0
    felt: bool = True
    """Whether the harm came when there was still something to harm."""
    times: int = 1


@dataclass(frozen=True, slots=True)
class TrialOptions:
    """The part of a chapter that is to be tried."""

    folder: Path
    """An empty one, for everything that trials leave."""
    trials: int
    """How many, of each subject; 0 for all, where a chapter has a list of them."""
    seed: int
    subjects: Sequence[str]
    harms: Sequence[str]
    settings: Mapping[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    """Lines that a chapter adds to the report."""

    def random(self, *what: object) -> Random:
        """The generator for this."""
        return Random(" ".join(map(str, (self.seed, *what))))

    def some(self, things: Iterable[Item], *what: object) -> list[Item]:
        """As many as trials are asked for, drawn, in their order."""
        every = list(things)
        if not 0 < self.trials < len(every):
            return every
        return [every[place] for place in sorted(self.random(*what).sample(range(len(every)), self.trials))]


@dataclass(frozen=True, slots=True)
class Chapter:
    """A kind of trials."""

    run: Callable[[TrialOptions], Iterator[Outcome]]
    subjects: Sequence[str]
    harms: Sequence[str]
    trials: int
    """How many, unless asked for another number."""
    on_request: Sequence[str] = ()
    """The subjects and harms that are tried only if they are named."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Further options, each with its default."""
    longest_s: float = 1800.0
    """If a trial takes longer, the program ends with a traceback of where it hangs."""


@dataclass(slots=True)
class Tally:
    """The counts of many trials."""

    counts: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    """By subject, harm and end; those that broke a promise not among them."""
    broken: list[Outcome] = field(default_factory=list)
    felt: Counter[str] = field(default_factory=Counter)
    """How many trials of each harm were felt."""
    slowest_s: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, outcome: Outcome) -> None:
        """Counts one more outcome."""
        row = outcome.subject, outcome.harm
        self.felt[outcome.harm] += outcome.times * outcome.felt
        self.slowest_s[row] = max(self.slowest_s[row], outcome.took_s)  # type: ignore[assignment]  # seconds
        if outcome.complaints:
            self.broken.append(outcome)
        else:
            self.counts[(*row, outcome.end)] += outcome.times

    @property
    def tried(self) -> int:
        """How many there were."""
        return self.counts.total() + len(self.broken)

    def subjects(self) -> set[str]:
        """Those that were tried."""
        return {subject for subject, _ in self.slowest_s}

    def complaints(self) -> list[str]:
        """All that was not as promised, with what was said of it."""
        return [
            *map(_described, self.broken),
            *(f"{harm}: nothing has felt it" for harm, felt in self.felt.items() if not felt),
        ]

    def table(self) -> Table:
        """A row for each subject and harm."""
        ends = list(dict.fromkeys(end for _, _, end in self.counts))
        made = Table("subject", "harm", "trials", *ends, "broken", "slowest", box=MARKDOWN)
        wrong = Counter((outcome.subject, outcome.harm) for outcome in self.broken)
        for row, slowest_s in self.slowest_s.items():
            counts = [self.counts[(*row, end)] for end in ends]
            numbers = [sum(counts) + wrong[row], *counts, wrong[row]]
            made.add_row(*row, *(f"{number:,}" for number in numbers), f"{slowest_s:.2f} s")
        return made


def _described(broken: Outcome) -> str:
    return f"{broken.subject}, {broken.harm}: {'; '.join(broken.complaints)}\n{broken.said[-SHOWN:]}".strip()


def conduct(chapter: Chapter, asked: TrialOptions) -> Tally:
    """Runs the trials, with a bar of progress, and what was not as promised, on stderr."""
    tally, console = Tally(), Console(stderr=True)
    watched = 0.0
    try:
        silent = not console.is_terminal
        for outcome in track(chapter.run(asked), "trials", total=None, console=console, disable=silent):
            if time.monotonic() > watched + 1:
                watched = time.monotonic()
                faulthandler.dump_traceback_later(chapter.longest_s, exit=True, file=STDERR)
            tally.add(outcome)
            if outcome.complaints:
                console.print(_described(outcome), markup=False, highlight=False, soft_wrap=True)
    finally:
        faulthandler.cancel_dump_traceback_later()
    return tally


def main(chapter: Chapter, **asked: Any) -> int:
    """Runs and reports the trials of a chapter; the exit code: 0, or 1 if a promise was broken."""
    adopt_orphans()
    # A shell has what it starts with & ignore the interrupt, and so would the runs.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="trials-", dir=SHORT) as folder:
        everything = TrialOptions(Path(folder), **asked)
        tally = conduct(chapter, everything)
    everything.notes.extend(f"{name}: not tried" for name in everything.subjects if name not in tally.subjects())
    console, complaints = Console(width=160), tally.complaints()
    for line in (*complaints, *everything.notes):
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    console.print(tally.table())
    console.print(
        f"{tally.tried:,} trials, {len(complaints)} promises broken, {time.monotonic() - start:.0f} s", highlight=False
    )
    return 1 if complaints else 0


class TooLongError(Exception):
    """A call has taken longer than was promised."""


WAITING = 15
"""A call may wait this many times longer than it may compute: the machine can have other work."""


@contextmanager
def patience(within_s: int) -> Iterator[None]:
    """Raises TooLongError in the block once it has computed so long, or waited much longer."""

    def end(_: int, __: FrameType | None) -> None:
        raise TooLongError(f"longer than {within_s} s")

    before = {number: signal.signal(number, end) for number in (signal.SIGPROF, signal.SIGALRM)}
    signal.setitimer(signal.ITIMER_PROF, within_s)
    signal.alarm(WAITING * within_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.alarm(0)
        for number, handler in before.items():
            signal.signal(number, handler)
