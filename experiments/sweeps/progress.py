"""Shows how far a sweep is: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table

SECONDS_BETWEEN_LINES = 10.0


class Progress:
    """Counts runs as they finish, and estimates the time left from the time that they took."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live: Live | None = None
        self._total = self._done = 0
        self._start = self._last_line = 0.0

    @contextmanager
    def show(self, total: int) -> Iterator[None]:
        """Begins to count to `total` runs."""
        self._total, self._done = total, 0
        self._start = time.monotonic()
        if not self._console.is_terminal:
            self._console.print(self.line())
            yield
            return
        with Live(self._bar(), console=self._console, refresh_per_second=2, get_renderable=self._bar) as self._live:
            yield

    def note(self, line: str) -> None:
        """Tells a line at once."""
        self._console.print(line, markup=False, highlight=False, soft_wrap=True)

    def finished(self, place: Path, error: str | None) -> None:
        """One more run is done; a failed one is told at once."""
        self._done += 1
        if error is not None:
            self.note(f"failed: {place}: {error}")
        if not self._console.is_terminal and self._is_line_due():
            self._last_line = time.monotonic()
            self._console.print(self.line(), highlight=False)

    def _is_line_due(self) -> bool:
        return self._done == self._total or time.monotonic() - self._last_line >= SECONDS_BETWEEN_LINES

    def line(self) -> str:
        """The line, such as: 12 of 60 runs, about 3 min left."""
        elapsed = time.monotonic() - self._start
        left = (
            "" if self._done in (0, self._total) else f", about {describe_left(elapsed, self._done, self._total)} left"
        )
        return f"{self._done} of {self._total} runs{left}"

    def _bar(self) -> Table:
        table = Table.grid(padding=1)
        table.add_row(ProgressBar(self._total, self._done, width=40), self.line())
        return table


def describe_left(elapsed: float, done: int, total: int) -> str:
    """How long the runs that are left will take, if they take as long as those that are done (done > 0)."""
    seconds = round(elapsed / done * (total - done))
    if seconds < 90:
        return f"{seconds} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"
