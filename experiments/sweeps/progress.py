"""A sweep's progress and remaining time: a bar on a terminal, plain lines elsewhere.

The estimate uses the ended runs' work, since runs have ten nodes or a hundred. Work is simulated time times nodes to
the power of 1.6 (1.6 to 1.9 in the thesis' evaluation). The clock starts with the first run, after the radio is
compiled.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table

from roambus.bridge.runs.run import RunPlan
from roambus.bridge.system.printed import escaped

_NODES, _LIMIT = re.compile(r"^SN\.numNodes\s*=\s*(\d+)", re.M), re.compile(r"^sim-time-limit\s*=\s*([\d.]+)", re.M)
_EXPONENT = 1.6
SECONDS_BETWEEN_LINES = 10.0
_ALWAYS = 3000.0
"""The fixed work of a process and a trace, as 170 s of six nodes."""


def expected_work(plan: RunPlan) -> float:
    """A run's expected work, in its own unit; 1 if the ini lacks it."""
    nodes, limit = _NODES.search(plan.ini), _LIMIT.search(plan.ini)
    return _ALWAYS + float(nodes[1]) ** _EXPONENT * float(limit[1]) if nodes and limit else 1.0


@dataclass(slots=True)
class Work:
    """The runs' work in order; `at_once` go on together (0: unknown), half done."""

    works: Mapping[Path, float]
    at_once: int = 0
    ended: set[Path] = field(default_factory=set)

    def left(self, elapsed: float) -> float:
        """The seconds left if the done work took `elapsed`; at least the longest run's."""
        rest = [work for place, work in self.works.items() if place not in self.ended]
        going_on = sum(rest[: self.at_once]) / 2
        done = sum(self.works[place] for place in self.ended) + going_on
        longest = max([*(work / 2 for work in rest[: self.at_once]), *rest[self.at_once :]], default=0.0)
        return elapsed / done * max(sum(rest) - going_on, longest * self.at_once)


class Progress:
    """Counts finished runs and estimates the time left; with `each`, a line a run."""

    def __init__(self, console: Console, *, each: bool = False) -> None:
        self._console, self._each = console, each
        self._live: Live | None = None
        self._total = self._done = 0
        self._work: Work | None = None
        self._is_begun = False
        self._start = self._last_line = 0.0

    def show_runs(self, plans: Sequence[RunPlan], at_once: int) -> AbstractContextManager[None]:
        """Begin to count these runs, of which so many go on together."""
        return self.show(len(plans), Work({plan.place: expected_work(plan) for plan in plans}, at_once))

    @contextmanager
    def show(self, total: int, work: Work | None = None) -> Iterator[None]:
        """Begin to count `total` runs; `work` is their relative times."""
        self._total, self._done, self._work = total, 0, work
        self._start = time.monotonic()
        if not self._console.is_terminal:
            self._console.print(self.line())
            yield
            return
        with Live(self._bar(), console=self._console, refresh_per_second=2, get_renderable=self._bar) as self._live:
            yield

    def note(self, line: str) -> None:
        """Prints a line at once."""
        self._console.print(escaped(line), markup=False, highlight=False, soft_wrap=True)

    def begun(self) -> None:
        """Start the clock: preparation takes no longer for more runs."""
        if not self._is_begun:
            self._is_begun, self._start = True, time.monotonic()

    def finished(self, place: Path, error: str | None) -> None:
        """Count one run; show a failed one at once."""
        self.finished_together({place: error})

    def finished_together(self, places: Mapping[Path, str | None]) -> None:
        """Count several runs, each with its error or None."""
        self._done += len(places)
        if self._work is not None:
            self._work.ended.update(places)
        for place, error in places.items():
            if error is not None:
                self.note(f"failed: {place}: {error}")
            elif self._each:
                self.note(f"done: {place}")
        since_s = time.monotonic() - self._last_line
        if not self._console.is_terminal and (self._done == self._total or since_s >= SECONDS_BETWEEN_LINES):
            self._last_line += since_s
            self._console.print(self.line(), highlight=False)

    def line(self) -> str:
        """The line, such as: 12 of 60 runs, about 3 min left."""
        counted = f"{self._done} of {self._total} runs"
        if self._done in (0, self._total):
            return counted
        elapsed = time.monotonic() - self._start
        # Of runs whose work nobody knows, each is taken to be like the others.
        left_s = self._work.left(elapsed) if self._work else elapsed / self._done * (self._total - self._done)
        return f"{counted}, about {describe(left_s)} left"

    def _bar(self) -> Table:
        table = Table.grid(padding=1)
        table.add_row(ProgressBar(self._total, self._done, width=40), self.line())
        return table


def describe(left_s: float) -> str:
    """A time in a natural unit."""
    seconds = round(left_s)
    if seconds < 90:
        return f"{seconds} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"
