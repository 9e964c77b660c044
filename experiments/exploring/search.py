"""Searches all states of a network, the nearest first, so that what it finds wrong is found on a shortest way.

States are handled depth by depth, and each once. A state is kept as bytes, with the number of the state before it and
of the step between: enough to tell the way to it, and so little (some 290 bytes with what Python adds) that millions
have room. The bytes themselves are compared, and no hash of them: a state that is taken for another one by mistake
would be left out in silence, and "everything was explored" would be wrong.
"""

from __future__ import annotations

import resource
import sys
import time
from array import array
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from struct import Struct

from roambus.bridge.process import interrupts_noticed
from roambus.experiments.exploring.network import Network, Reduction, Successor
from roambus.experiments.exploring.probes import Asking
from roambus.experiments.exploring.rules import Raised, State, Step

NUMBERS = "I"
"""The type code of all numbers that are kept."""


class Store:
    """Numbers the states in the order in which they are found; the first one is before itself."""

    def __init__(self, width: int) -> None:
        """The number of integers in a state."""
        struct = Struct(f"{width}{NUMBERS}")
        self.width = width
        self.pack = struct.pack
        self._unpack = struct.unpack
        self.numbers: dict[bytes, int] = {}
        self.packed: list[bytes] = []
        self.before = array(NUMBERS)
        self.steps = array(NUMBERS)
        self.depths = array(NUMBERS)

    def __len__(self) -> int:
        return len(self.packed)

    def add(self, packed: bytes, before: int, step: int, depth: int) -> int:
        """Takes a state that is new; returns its number."""
        number = self.numbers[packed] = len(self.packed)
        self.packed.append(packed)
        self.before.append(before)
        self.steps.append(step)
        self.depths.append(depth)
        return number

    def state(self, number: int) -> State:
        """The state of that number."""
        return self._unpack(self.packed[number])

    def number(self, state: State) -> int | None:
        """The number of a state that was found."""
        return self.numbers.get(self.pack(*state))

    def way(self, number: int) -> list[int]:
        """The numbers of the steps from the first state to the one of that number."""
        steps: list[int] = []
        while number:
            steps.append(self.steps[number])
            number = self.before[number]
        return steps[::-1]


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
    """What else it was cut at, and (`narrowed`) what stood for all that can be (see `Nodes`)."""
    narrowed: list[str] = field(default_factory=list)
    seen: list[str] = field(default_factory=list)
    """The names of the properties that had something to look at."""
    endless: bool = False
    """Whether it was looked for runs that never end."""
    violations: list[Violation] = field(default_factory=list)
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    """The time that the processor has worked for it: less than `seconds` if others worked, too."""
    node_states: int = 0
    memory_bytes: int = 0

    def __str__(self) -> str:
        return f"{self.states} states, {self.transitions} transitions, {self.depth} deep"

    def look(self, bounds: Bounds, seconds: float) -> None:
        """The bound that is reached after `seconds` in this process, or None."""
        if bounds.states is not None and self.states >= bounds.states:
            self.ended_by = f"the bound of {bounds.states} states"
        if bounds.seconds is not None and seconds >= bounds.seconds:
            self.ended_by = f"the bound of {bounds.seconds:g} s"
        if bounds.memory_bytes is not None and self.memory_bytes >= bounds.memory_bytes:
            self.ended_by = f"the bound of {bounds.memory_bytes // 2**20} MiB"

    def report(self, violation: Violation) -> None:
        """Takes what is wrong, unless the same property is known not to hold: the first way found is a shortest."""
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


_KIBIBYTES = 1 if sys.platform == "darwin" else 1024
_LOOK_EVERY = 256
"""States that are handled between two checks of clock and memory."""


@dataclass(frozen=True, slots=True)
class Manner:
    """How is searched. Searches that differ in this find other states."""

    reduce: bool
    """Whether orders with the same result are explored once."""
    keep_on: bool = False
    """Whether it goes on when something is wrong, for the other properties."""


class Search:
    """A breadth-first search, which can be stopped after any state and go on."""

    def __init__(self, network: Network, first: State, asking: Asking, manner: Manner) -> None:
        self.network = network
        self.asking = asking
        self.found = Found()
        self.store = Store(len(first))
        self.waiting = array(NUMBERS)
        """The numbers of the states that are handled, in this order."""
        self.next = 0
        """The place in `waiting` of the next state to be handled."""
        self.clock = Clock(self.found)
        self.manner = manner
        self._reduction = Reduction(network) if manner.reduce else None
        self.reach(first, 0, 0, 0)

    def __len__(self) -> int:
        return len(self.store)

    @property
    def is_over(self) -> bool:
        """Whether nothing is left to be handled."""
        return self.next >= len(self.waiting)

    @property
    def is_ended(self) -> bool:
        """Whether what is wrong is enough."""
        return bool(self.found.violations) and not (self.manner.keep_on and self.asking.is_left(self.found.violations))

    def state(self, number: int) -> State:
        """The state of that number, in the order in which they were found."""
        return self.store.state(number)

    def number(self, state: State) -> int | None:
        """The number of a state that was found."""
        return self.store.number(state)

    def run(
        self,
        bounds: Bounds,
        tell: Callable[[Found], None] = lambda _: None,
    ) -> Found:
        """Searches until everything was explored, something is wrong, or a bound is reached; `tell` hears now and then.

        After Ctrl-C it ends in good order. Called again, with wider bounds perhaps, it goes on where it was.
        """
        self.found.ended_by = None
        with interrupts_noticed() as is_interrupted, self.clock.running():
            while not (self.is_over or self.is_ended or self.found.ended_by):
                self.work_off_depth(bounds, is_interrupted, tell)
                self.clock.read()
                self.sum_up()
        return self.found

    def work_off_depth(
        self, bounds: Bounds, is_interrupted: Callable[[], bool], tell: Callable[[Found], None] = lambda _: None
    ) -> None:
        """Handles all that is as deep as the next state, unless the search ends before."""
        found, depths, depth = self.found, self.store.depths, self.store.depths[self.waiting[self.next]]
        if bounds.depth is not None and depth >= bounds.depth:
            found.ended_by = f"the bound of {bounds.depth} steps"
        while not (self.is_over or self.is_ended) and depths[self.waiting[self.next]] == depth:
            if self.next % _LOOK_EVERY == 0:
                self._look(bounds)
                tell(found)
            if is_interrupted():
                found.ended_by = INTERRUPTED
            if found.ended_by:
                break
            self.work_off(self.waiting[self.next])
            self.next += 1

    def work_off(self, number: int) -> None:
        """Finds the states to which one step leads from that one."""
        successors = list(self.successors(self.store.state(number)))
        self.found.transitions += len(successors)
        pack, numbers = self.store.pack, self.store.numbers
        for step, after in successors:
            if isinstance(after, Raised):
                self.found.report(Violation(RAISES, after.text, (*self.way(number), self.network.steps[step])))
            elif pack(*after) not in numbers:
                self.reach(after, number, step, self.store.depths[number] + 1)

    def reach(self, state: State, before: int, step: int, depth: int) -> None:
        """Gives a state its number, and sees whether anything is wrong with it."""
        number = self.store.add(self.store.pack(*state), before, step, depth)
        self.waiting.append(number)
        self.found.depth = depth
        wrong = self.asking.wrong(state)
        for name, text in wrong:
            self.found.report(Violation(name, text, self.way(number)))

    def way(self, number: int) -> tuple[Step, ...]:
        """The steps from the first state to the one of that number."""
        return tuple(self.network.steps[step] for step in self.store.way(number))

    def state_after(self, steps: Iterable[Step]) -> State:
        """The state to which steps lead from the first one."""
        state = self.state(0)
        for step in steps:
            after = {self.network.steps[one]: end for one, end in self.network.successors(state)}[step]
            if isinstance(after, Raised):
                return state
            state = after
        return state

    def numbers(self) -> Iterator[int]:
        """The numbers of all states that were handled."""
        yield from self.waiting[: self.next]

    def successors(self, state: State) -> Iterable[Successor]:
        """The steps from a state that have to be tried."""
        if self._reduction is None:
            return self.network.successors(state)
        return self._reduction.successors(state)

    def sum_up(self) -> None:
        """Brings the figures up to now."""
        found = self.found
        found.states, found.quiet = len(self.store), self.asking.quiet
        found.begins_quiet = self.asking.is_quiet(self.state(0))
        found.cuts = sorted({*found.cuts, *self.network.nodes.cuts})
        found.narrowed = sorted({*found.narrowed, *self.network.nodes.narrowed})
        found.seen = sorted({*found.seen, *self.asking.seen})
        found.node_states = len(self.network.nodes)
        found.memory_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _KIBIBYTES

    def _look(self, bounds: Bounds) -> None:
        self.clock.read()
        self.sum_up()
        self.found.look(bounds, self.clock.seconds)
