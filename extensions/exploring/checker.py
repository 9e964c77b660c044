"""Searches all states of a model breadth first, so that a counterexample is a shortest one.

Each state is expanded once. It is kept as bytes, with the numbers of its predecessor and of the step. The bytes are
compared, not a hash: a collision would be a wrong verdict.
"""

from __future__ import annotations

import resource
import sys
import time
from array import array
from collections.abc import Callable
from dataclasses import dataclass
from struct import Struct

from roambus.extensions.exploring.model import Model
from roambus.extensions.exploring.nodes import Raised
from roambus.extensions.exploring.property_checker import PropertyChecker
from roambus.extensions.exploring.steps import State, Step

INTERRUPTED = "Ctrl-C"
RAISES = "agents raise no errors"
"""A property of every agent, whatever else must hold."""
REPEATS = "agents repeat what they did"
"""Another: a fresh run does what the search has seen."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """The limits of a search; None is no bound."""

    depth: int | None = None
    states: int | None = None
    seconds: float | None = None
    memory_mib: int | None = None


@dataclass(frozen=True, slots=True)
class Violation:
    """A violated property, with the reason and the path, or the transcript of a run."""

    name: str
    text: str
    path: tuple[Step, ...]
    transcript: str = ""


@dataclass(kw_only=True)
class Figures:
    """The size and the end of a search."""

    states: int = 0
    transitions: int = 0
    depth: int = 0
    quiet_states: int = 0
    node_states: int = 0
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    memory_mib: int = 0
    walks: int = 0
    walked_steps: int = 0
    """How many fresh runs repeated a path, and the steps of all."""
    real_runs: int = 0
    """How many runs without a path were judged."""
    ended_by: str | None = None
    """The bound that ended it; None if none did."""

    def __str__(self) -> str:
        return f"{self.states} states, {self.transitions} transitions, depth {self.depth}"


Visitor = Callable[[Figures], None]
"""Is called now and then with the figures so far."""
_MEBIBYTES = 2**20 if sys.platform == "darwin" else 2**10
_LOOK_EVERY = 256
"""States expanded between checks of clock and memory."""


def peak_mib() -> int:
    """Return the most memory that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // _MEBIBYTES


class Checker:
    """A breadth-first search that can stop after any state and resume."""

    def __init__(self, model: Model, initial: State, properties: PropertyChecker, *, keep_on: bool = False) -> None:
        """With `keep_on` it continues after a violation, for other properties."""
        self.model, self.initial, self.properties = model, initial, properties
        self.keep_on = keep_on
        self.figures = Figures()
        self.violations: list[Violation] = []
        self.next = 0
        """The number of the next state to be expanded."""
        self.depth_bound: int | None = None
        """The depth to which all states were expanded, if deeper ones exist."""
        struct = Struct(f"{len(initial)}I")
        self._pack, self._unpack = struct.pack, struct.unpack
        self._numbers: dict[bytes, int] = {}
        self._packed: list[bytes] = []
        self._before, self._steps, self._depths = array("I"), array("I"), array("I")
        self._find(initial, 0, 0, 0)

    def __len__(self) -> int:
        return len(self._packed)

    @property
    def is_over(self) -> bool:
        """Whether all states were expanded."""
        return self.next >= len(self)

    @property
    def is_enough(self) -> bool:
        """Whether the violations are enough."""
        return bool(self.violations) and not (self.keep_on and self.properties.is_left(self.violations))

    def state(self, number: int) -> State:
        """Return the state of that number, in order of discovery."""
        return self._unpack(self._packed[number])

    def number(self, state: State) -> int | None:
        """Return the number of a state that was found."""
        return self._numbers.get(self._pack(*state))

    def before(self, number: int) -> int:
        """Return the state from which the search found that one."""
        return self._before[number]

    def ancestors(self, number: int) -> list[int]:
        """Return the numbers of the states on the path to that one, itself included."""
        numbers = [number]
        while numbers[-1]:
            numbers.append(self._before[numbers[-1]])
        return numbers[::-1]

    def path(self, number: int) -> tuple[Step, ...]:
        """Return the steps from the initial state to that one."""
        return tuple(self.model.steps[self._steps[ancestor]] for ancestor in self.ancestors(number)[1:])

    def run(self, bounds: Bounds, visitor: Visitor = lambda _: None) -> Figures:
        """Search until a property is violated, a bound is reached, or no state is left; Ctrl-C stops it.

        A second call continues, perhaps with wider bounds.
        """
        figures = self.figures
        started, worked = time.monotonic() - figures.seconds, time.process_time() - figures.cpu_seconds
        figures.ended_by = self.depth_bound = None
        try:
            while not (self.is_over or self.is_enough or figures.ended_by):
                if self.next % _LOOK_EVERY == 0:
                    self.count(started, worked)
                    visitor(figures)
                figures.ended_by = self._bound(bounds)
                if figures.ended_by is None:
                    self._expand(self.next)
                    self.next += 1
        except KeyboardInterrupt:
            figures.ended_by = INTERRUPTED
        self.count(started, worked)
        return figures

    def count(self, started: float | None = None, worked: float = 0) -> None:
        """Bring the figures up to date; times are counted from these moments on."""
        figures = self.figures
        figures.states, figures.quiet_states = len(self), self.properties.quiet
        figures.node_states = len(self.model.nodes)
        figures.memory_mib = peak_mib()
        if started is not None:
            figures.seconds, figures.cpu_seconds = time.monotonic() - started, time.process_time() - worked

    def _bound(self, bounds: Bounds) -> str | None:
        """Return the bound that is reached."""
        figures, depth = self.figures, self._depths[self.next]
        limits = (
            ("steps", depth, bounds.depth),
            ("states", len(self), bounds.states),
            ("s", figures.seconds, bounds.seconds),
            ("MiB", figures.memory_mib, bounds.memory_mib),
        )
        for unit, value, most in limits:
            if most is not None and value >= most:
                self.depth_bound = depth if unit == "steps" else None
                return f"the bound of {most:g} {unit}" if unit == "s" else f"the bound of {most} {unit}"
        return None

    def _expand(self, number: int) -> None:
        """Find the successors of that state."""
        pack, numbers, depth = self._pack, self._numbers, self._depths[number] + 1
        for step, after in self.model.successors(self.state(number)):
            self.figures.transitions += 1
            if isinstance(after, Raised):
                self.report(Violation(RAISES, after.text, (*self.path(number), self.model.steps[step])))
            elif pack(*after) not in numbers:
                self._find(after, number, step, depth)

    def _find(self, state: State, before: int, step: int, depth: int) -> None:
        """Number the state, and check the properties."""
        packed = self._pack(*state)
        number = self._numbers[packed] = len(self)
        self._packed.append(packed)
        self._before.append(before)
        self._steps.append(step)
        self._depths.append(depth)
        self.figures.depth = depth
        for name, text in self.properties.violated(state):
            self.report(Violation(name, text, self.path(number)))

    def report(self, violation: Violation) -> None:
        """Record a violation unless the property has one: the first is a shortest."""
        if all(known.name != violation.name for known in self.violations):
            self.violations.append(violation)
