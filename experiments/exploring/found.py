"""What a search is bounded by, and what it finds."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from roambus.experiments.exploring.rules import Step

INTERRUPTED = "Ctrl-C"
RAISES = "agents raise no errors"
"""What holds of every agent, whatever else must."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Where a search ends at the latest; None and 0 are no bound."""

    depth: int | None = None
    states: int | None = None
    seconds: float | None = None
    memory_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Violation:
    """A property that does not hold: how, and the steps that lead there."""

    name: str
    text: str
    steps: tuple[Step, ...]


@dataclass(slots=True)
class Found:
    """What a search has found so far."""

    states: int = 0
    transitions: int = 0
    depth: int = 0
    quiet: int = 0
    """How many states were quiet."""
    begins_quiet: bool = False
    """Whether the first state is one of them."""
    ended_by: str | None = None
    """Which bound ended it; None if none did."""
    cuts: list[str] = field(default_factory=list)
    """What else it was cut at, and (`narrowed`) what stood for all outcomes of chance (see `Nodes`)."""
    narrowed: list[str] = field(default_factory=list)
    violations: list[Violation] = field(default_factory=list)
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    """The time that the processor has worked for it: less than `seconds` if others worked, too."""
    node_states: int = 0
    memory_bytes: int = 0

    def __str__(self) -> str:
        return f"{self.states} states, {self.transitions} transitions, {self.depth} deep"

    def look(self, bounds: Bounds, seconds: float) -> None:
        """Says which bound is reached, if one is, after so many seconds in this process."""
        if bounds.states is not None and self.states >= bounds.states:
            self.ended_by = f"the bound of {bounds.states} states"
        if bounds.seconds is not None and seconds >= bounds.seconds:
            self.ended_by = f"the bound of {bounds.seconds:g} s"
        if bounds.memory_bytes is not None and self.memory_bytes >= bounds.memory_bytes:
            self.ended_by = f"the bound of {bounds.memory_bytes // 2**20} MiB"

    def report(self, violation: Violation) -> None:
        """Takes what is wrong, unless the same property is known not to hold."""
        if all(one.name != violation.name for one in self.violations):
            self.violations.append(violation)


class Clock:
    """Counts the seconds of a search, in one go or in several."""

    def __init__(self, found: Found) -> None:
        self._found = found
        self._since: tuple[float, float] | None = None
        self.seconds = 0.0
        """Those in this process."""

    @contextmanager
    def running(self) -> Iterator[None]:
        """Counts during the block."""
        self._since = time.monotonic(), time.process_time()
        try:
            yield
        finally:
            self.read()
            self._since = None

    def read(self) -> None:
        """Brings the figures up to now."""
        if self._since is not None:
            now = time.monotonic(), time.process_time()
            self.seconds += now[0] - self._since[0]
            self._found.seconds += now[0] - self._since[0]
            self._found.cpu_seconds += now[1] - self._since[1]
            self._since = now
