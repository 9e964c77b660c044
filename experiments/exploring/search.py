"""Searches all states of a network, the nearest first, so that what it finds wrong is found on a shortest way.

A state that was seen is kept as bytes, with the state and the step before it: the way to any state can be told again.
Nothing else is kept of a state, so that millions have room.
"""

from __future__ import annotations

import resource
import sys
import time
from array import array
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from struct import Struct

from roambus.experiments.exploring.asking import Asking
from roambus.experiments.exploring.network import Network
from roambus.experiments.exploring.reduction import Reduction
from roambus.experiments.exploring.rules import Raised, State, Step

_KIBIBYTES = 1 if sys.platform == "darwin" else 1024
INTERRUPTED = "Ctrl-C"
RAISES = "agents raise no errors"
"""What holds of every agent, whatever else must."""
_LOOK_EVERY = 2048
"""So many states are worked off between two looks at clock and memory."""


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
    ended_by: str | None = None
    """Which bound ended it; None if everything was explored."""
    violations: list[Violation] = field(default_factory=list)
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    """The time that the processor has worked for it: less than `seconds` if others worked, too."""
    node_states: int = 0
    memory_bytes: int = 0

    def __str__(self) -> str:
        return f"{self.states} states, {self.transitions} transitions, {self.depth} deep"


class Search:
    """A breadth-first search, which can be stopped after any state and go on."""

    def __init__(self, network: Network, first: State, asking: Asking, *, reduce: bool, keep_on: bool = False) -> None:
        """With `keep_on` the search goes on when something is wrong, for the other properties."""
        self.network = network
        self.found = Found()
        self._asking = asking
        self._keep_on = keep_on
        self._reduction = Reduction(network) if reduce else None
        self._struct = Struct(f"{len(first)}I")
        self._seen: dict[bytes, int] = {}
        self._before = array("I")
        self._steps = array("I")
        self._depths = array("I")
        self._order: list[bytes] = []
        self._next = 0
        """The number of the next state to be worked off."""
        self._reach(first, 0, 0)

    def __len__(self) -> int:
        return len(self._order)

    @property
    def is_over(self) -> bool:
        """Whether nothing is left to be worked off."""
        return self._next >= len(self._order)

    def state(self, number: int) -> State:
        """The state of that number, in the order in which they were found."""
        return self._struct.unpack(self._order[number])

    def number(self, state: State) -> int | None:
        """The number of a state that was found."""
        return self._seen.get(self._struct.pack(*state))

    def run(self, bounds: Bounds, tell: Callable[[Found], None] = lambda _: None) -> Found:
        """Searches until everything was explored, something is wrong, or a bound is reached; `tell` hears now and then.

        After Ctrl-C it ends in good order. Called again, with wider bounds perhaps, it goes on where it was.
        """
        started, before = time.monotonic(), self.found.seconds
        worked, worked_before = time.process_time(), self.found.cpu_seconds
        self.found.ended_by = None
        try:
            while not self.is_over and not self._is_ended():
                if self._next % _LOOK_EVERY == 0:
                    self.found.seconds = before + time.monotonic() - started
                    self._look(bounds)
                    tell(self.found)
                if self._is_bounded(bounds):
                    break
                self._work_off(self._next)
                self._next += 1
        except KeyboardInterrupt:
            self.found.ended_by = INTERRUPTED
        finally:
            self.found.seconds = before + time.monotonic() - started
            self.found.cpu_seconds = worked_before + time.process_time() - worked
            self._sum_up()
        return self.found

    def way(self, number: int) -> tuple[Step, ...]:
        """The steps from the first state to the one of that number."""
        steps: list[Step] = []
        while number:
            steps.append(self.network.steps[self._steps[number]])
            number = self._before[number]
        return tuple(reversed(steps))

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
        """The numbers of all states that were worked off."""
        yield from range(self._next)

    def successors(self, state: State) -> Iterable[tuple[int, State | Raised]]:
        """The steps from a state that have to be tried."""
        network = self.network
        if self._reduction is None or network.is_idle(state) or not self._reduction.applies(state):
            return network.successors(state)
        places = self._reduction.places(state)
        return (step for place in places for step in network.arrivals_at(state, place))

    def _is_ended(self) -> bool:
        return bool(self.found.violations) and not (self._keep_on and self._asking.is_left(self.found.violations))

    def _work_off(self, number: int) -> None:
        state, found = self.state(number), self.found
        depth = self._depths[number] + 1
        seen, pack = self._seen, self._struct.pack
        for step, after in self.successors(state):
            found.transitions += 1
            if isinstance(after, Raised):
                self._report(RAISES, after.text, (*self.way(number), self.network.steps[step]))
                continue
            if pack(*after) not in seen:
                self._reach(after, number, step, depth)

    def _reach(self, state: State, before: int, step: int, depth: int = 0) -> None:
        number = len(self._order)
        packed = self._struct.pack(*state)
        self._seen[packed] = number
        self._order.append(packed)
        self._before.append(before)
        self._steps.append(step)
        self._depths.append(depth)
        self.found.depth = depth
        for name, text in self._asking.wrong(state):
            self._report(name, text, self.way(number))

    def _report(self, name: str, text: str, steps: tuple[Step, ...]) -> None:
        if all(one.name != name for one in self.found.violations):
            self.found.violations.append(Violation(name, text, steps))

    def _is_bounded(self, bounds: Bounds) -> bool:
        if self.found.ended_by is not None:
            return True
        if bounds.depth is None or self._depths[self._next] < bounds.depth:
            return False
        self.found.ended_by = f"the bound of {bounds.depth} steps"
        return True

    def _look(self, bounds: Bounds) -> None:
        found = self.found
        self._sum_up()
        if bounds.states is not None and found.states >= bounds.states:
            found.ended_by = f"the bound of {bounds.states} states"
        if bounds.seconds is not None and found.seconds >= bounds.seconds:
            found.ended_by = f"the bound of {bounds.seconds:g} s"
        if bounds.memory_bytes is not None and found.memory_bytes >= bounds.memory_bytes:
            found.ended_by = f"the bound of {bounds.memory_bytes // 2**20} MiB"

    def _sum_up(self) -> None:
        found = self.found
        found.states, found.quiet = len(self._order), self._asking.quiet
        found.node_states = len(self.network.nodes)
        found.memory_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _KIBIBYTES
