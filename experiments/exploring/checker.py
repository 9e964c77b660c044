"""Searches all states of a model breadth first, so that a counterexample is a shortest one.

Each state is expanded once. It is kept as bytes, with the numbers of its predecessor and of the step. The bytes are
compared, not a hash: a collision would be a wrong verdict.
"""

from __future__ import annotations

import resource
import sys
import time
from array import array
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from struct import Struct

from roambus.experiments.exploring.model import Model
from roambus.experiments.exploring.property_checker import PropertyChecker
from roambus.experiments.exploring.reduction import Reduction
from roambus.experiments.exploring.steps import Raised, State, Step, Successor

_NUMBERS = "I"
INTERRUPTED = "Ctrl-C"
RAISES = "agents raise no errors"
"""A property of every agent, whatever else must hold."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Where a search ends at the latest; None is no bound."""

    depth: int | None = None
    states: int | None = None
    seconds: float | None = None
    memory_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Violation:
    """A property that does not hold: how, and the path there."""

    name: str
    text: str
    path: tuple[Step, ...]


@dataclass(slots=True)
class Figures:
    """The size and the end of a search."""

    states: int = 0
    transitions: int = 0
    depth: int = 0
    quiet: int = 0
    """How many states were quiet."""
    ended_by: str | None = None
    """The bound that ended it; None if none did."""
    depth_bound: int | None = None
    """The depth to which all states were expanded, if deeper ones exist."""
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    node_states: int = 0
    memory_bytes: int = 0

    def __str__(self) -> str:
        return f"{self.states} states, {self.transitions} transitions, {self.depth} deep"


Visitor = Callable[[Figures], None]
"""Is called now and then with the figures so far."""


class _Paths:
    """Numbers the states in order of discovery, with a shortest path to each."""

    def __init__(self, width: int) -> None:
        struct = Struct(f"{width}{_NUMBERS}")
        self.pack = struct.pack
        self._unpack = struct.unpack
        self.numbers: dict[bytes, int] = {}
        self.packed: list[bytes] = []
        self.before = array(_NUMBERS)
        self.steps = array(_NUMBERS)
        self.depths = array(_NUMBERS)

    def add(self, packed: bytes, before: int, step: int, depth: int) -> int:
        number = self.numbers[packed] = len(self.packed)
        self.before.append(before)
        self.steps.append(step)
        self.depths.append(depth)
        self.packed.append(packed)
        return number

    def state(self, number: int) -> State:
        return self._unpack(self.packed[number])

    def path(self, number: int) -> list[int]:
        steps: list[int] = []
        while number:
            steps.append(self.steps[number])
            number = self.before[number]
        return steps[::-1]


_KIBIBYTES = 1 if sys.platform == "darwin" else 1024
_LOOK_EVERY = 256
"""States that are expanded between two looks at the clock and the memory."""


@dataclass(slots=True)
class Checker:
    """A breadth-first search, which can be stopped after any state and go on."""

    model: Model
    initial: State
    properties: PropertyChecker
    reduce: bool = False
    keep_on: bool = False
    """Whether it goes on after a violation, for the other properties."""
    figures: Figures = field(default_factory=Figures)
    violations: list[Violation] = field(default_factory=list)
    next: int = 0
    """The number of the next state to be expanded."""
    _paths: _Paths = field(init=False)
    _reduction: Reduction | None = field(init=False)

    def __post_init__(self) -> None:
        """Find the initial state."""
        self._paths = _Paths(len(self.initial))
        self._reduction = Reduction(self.model) if self.reduce else None
        self._find(self.initial, 0, 0, 0)

    def __len__(self) -> int:
        return len(self._paths.packed)

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
        return self._paths.state(number)

    def number(self, state: State) -> int | None:
        """Return the number of a state that was found."""
        return self._paths.numbers.get(self._paths.pack(*state))

    def ancestors(self, number: int) -> list[State]:
        """Return the states on the path to the one of that number."""
        numbers = [number]
        while numbers[-1]:
            numbers.append(self._paths.before[numbers[-1]])
        return [self.state(one) for one in reversed(numbers)]

    def path(self, number: int) -> tuple[Step, ...]:
        """Return the steps from the initial state to the one of that number."""
        return tuple(self.model.steps[step] for step in self._paths.path(number))

    def run(self, bounds: Bounds, visitor: Visitor = lambda _: None) -> Figures:
        """Search until a property is violated, a bound is reached, or no state is left; Ctrl-C stops it.

        A second call continues, perhaps with wider bounds.
        """
        figures, started, worked = self.figures, time.monotonic(), time.process_time()
        before = figures.seconds, figures.cpu_seconds

        def look() -> None:
            figures.seconds = before[0] + time.monotonic() - started
            figures.cpu_seconds = before[1] + time.process_time() - worked
            self.count()

        figures.ended_by = figures.depth_bound = None
        try:
            while not (self.is_over or self.is_enough or figures.ended_by):
                if self.next % _LOOK_EVERY == 0:
                    look()
                    visitor(figures)
                figures.ended_by = self._bound(bounds)
                if figures.ended_by is None:
                    self._expand(self.next)
                    self.next += 1
        except KeyboardInterrupt:
            figures.ended_by = INTERRUPTED
        look()
        return figures

    def _bound(self, bounds: Bounds) -> str | None:
        """Return the bound that is reached."""
        figures, depth = self.figures, self._paths.depths[self.next]
        if bounds.depth is not None and depth >= bounds.depth:
            figures.depth_bound = depth
            return f"the bound of {bounds.depth} steps"
        if bounds.states is not None and len(self) >= bounds.states:
            return f"the bound of {bounds.states} states"
        if bounds.seconds is not None and figures.seconds >= bounds.seconds:
            return f"the bound of {bounds.seconds:g} s"
        if bounds.memory_bytes is not None and figures.memory_bytes >= bounds.memory_bytes:
            return f"the bound of {bounds.memory_bytes // 2**20} MiB"
        return None

    def _expand(self, number: int) -> None:
        """Find the states to which one step leads from that one."""
        pack, numbers, depth = self._paths.pack, self._paths.numbers, self._paths.depths[number] + 1
        for step, after in self.successors(self._paths.state(number)):
            self.figures.transitions += 1
            if isinstance(after, Raised):
                path = (*self.path(number), self.model.steps[step])
                self.report(Violation(RAISES, after.text, path))
            elif pack(*after) not in numbers:
                self._find(after, number, step, depth)

    def _find(self, state: State, before: int, step: int, depth: int) -> None:
        """Give a state its number, and see whether it violates a property."""
        number = self._paths.add(self._paths.pack(*state), before, step, depth)
        self.figures.depth = depth
        for name, text in self.properties.violated(state):
            self.report(Violation(name, text, self.path(number)))

    def report(self, violation: Violation) -> None:
        """Record a violation unless the property has one: the first is a shortest."""
        if all(one.name != violation.name for one in self.violations):
            self.violations.append(violation)

    def state_after(self, path: Iterable[Step]) -> State:
        """Return the state to which steps lead from the initial one."""
        state = self.initial
        for step in path:
            after = {self.model.steps[one]: end for one, end in self.model.successors(state)}[step]
            if isinstance(after, Raised):
                return state
            state = after
        return state

    def successors(self, state: State) -> Iterable[Successor]:
        """Return the steps from a state that have to be tried."""
        if self._reduction is None:
            return self.model.successors(state)
        return self._reduction.successors(state, self._was_expanded)

    def _was_expanded(self, state: State) -> bool:
        number = self.number(state)
        return number is not None and number <= self.next

    def count(self) -> None:
        """Bring the figures up to date."""
        figures = self.figures
        figures.states, figures.quiet = len(self), self.properties.quiet
        figures.node_states = len(self.model.nodes)
        figures.memory_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _KIBIBYTES
