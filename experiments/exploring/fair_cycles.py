"""Finds fair runs that never end and lack something wanted: cycles of the states found.

A cycle without quiet, or without a delivery, is a counterexample only if it is fair:

- *Messages*: a message sent again and again arrives again and again, despite losses.
- *Chance*: each outcome of a draw recurs, so a step that chance can lead out of the cycle is no part of it.
- *Timers*: time passes. With `messages fast` it passes when nothing is under way; else, if timers are set, one runs out
  in the cycle.

Commands are never owed. Components follow Tarjan (1972). If a message is under way in some states of a component and
arrives in none, the others are searched in turn, without steps by which chance leaves them (Emerson and Lei, 1987).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import NamedTuple

from roambus.experiments.exploring.checker import Checker
from roambus.experiments.exploring.model import Model
from roambus.experiments.exploring.steps import Arrive, Raised, RunOut, State, Step

_Member = Callable[[State], bool]
_Edges = dict[State, list[tuple[int, State]]]


class FairCycle(NamedTuple):
    """The path to a cycle and once around it, and a state in it."""

    path: tuple[Step, ...]
    state: State


def find_fair_cycle(checker: Checker, is_lacking: _Member, *, with_timers: bool) -> FairCycle | None:
    """Return the nearest fair cycle with something `is_lacking`; without timers one of arrivals alone."""
    model = checker.model
    with_timers |= model.nodes.is_timed and not model.rules.fast_messages

    def was_found(state: State) -> bool:
        return checker.number(state) is not None and is_lacking(state)

    def nearest(states: Iterable[State]) -> tuple[int, State]:
        return min((number, state) for state in states if (number := checker.number(state)) is not None)

    fair: list[tuple[tuple[int, State], _Edges]] = []
    waiting: list[tuple[Iterable[State], _Member]] = [(map(checker.state, range(checker.next)), was_found)]
    while waiting:
        states, is_member = waiting.pop()
        for component in _Components(_Steps(model, is_member, with_timers=with_timers)).find(states):
            edges = {
                state: _Steps(model, component.__contains__, with_timers=with_timers).of(state) for state in component
            }
            left = component - _unfair(model, edges)
            if left == component and any(edges.values()):
                fair.append((nearest(component), edges))
            elif left != component:
                waiting.append((left, left.__contains__))
    if not fair:
        return None
    (number, start), edges = min(fair, key=lambda one: one[0])
    around = (model.steps[one] for one in _around(model, edges, start))
    return FairCycle((*checker.path(number), *around), start)


class _Steps:
    """The steps within a set of states that chance cannot have lead out of it."""

    def __init__(self, model: Model, is_member: _Member, *, with_timers: bool) -> None:
        self._model = model
        self.is_member = is_member
        self._with_timers = with_timers

    def of(self, state: State) -> list[tuple[int, State]]:
        """The number of each step, and where it leads."""
        model = self._model
        ways: defaultdict[Step, list[tuple[int, State]]] = defaultdict(list)
        leave: set[Step] = set()
        soonest = model.soonest(state) if self._with_timers else None
        for steps in (model.arrivals(state, soonest), model.timeouts(state, soonest)):
            for number, after in steps:
                step = model.steps[number]._replace(picks=())
                if not isinstance(after, Raised) and self.is_member(after):
                    ways[step].append((number, after))
                else:
                    leave.add(step)
        return [way for step, its in ways.items() if step not in leave for way in its]


class _Components:
    """Tarjan's algorithm with an explicit stack: a cycle may exceed Python's recursion limit."""

    def __init__(self, steps: _Steps) -> None:
        self._steps = steps
        self._index: dict[State, int] = {}
        self._low: dict[State, int] = {}
        self._open: dict[State, None] = {}
        """The entered states without a component yet, in order."""

    def find(self, states: Iterable[State]) -> Iterator[set[State]]:
        """The components of several states, or of one with a step to itself."""
        for state in states:
            if state not in self._index and self._steps.is_member(state):
                yield from filter(self._is_cycle, self._find_from(state))

    def _find_from(self, root: State) -> Iterator[set[State]]:
        work = [self._enter(root)]
        while work:
            state, following = work[-1]
            after = next(following, None)
            if after is None:
                work.pop()
                if work:
                    self._lower(work[-1][0], self._low[state])
                yield from self._leave(state)
            elif after not in self._index:
                work.append(self._enter(after))
            elif after in self._open:
                self._lower(state, self._index[after])

    def _enter(self, state: State) -> tuple[State, Iterator[State]]:
        self._index[state] = self._low[state] = len(self._index)
        self._open[state] = None
        return state, (after for _, after in self._steps.of(state))

    def _lower(self, state: State, low: int) -> None:
        self._low[state] = min(self._low[state], low)

    def _leave(self, state: State) -> Iterator[set[State]]:
        """The component whose first entered state this is, if any."""
        if self._low[state] != self._index[state]:
            return
        component: set[State] = set()
        while state not in component:
            component.add(self._open.popitem()[0])
        yield component

    def _is_cycle(self, component: set[State]) -> bool:
        state = next(iter(component))
        return len(component) > 1 or any(after == state for _, after in self._steps.of(state))


_Message = tuple[int, int]
"""A link's place in a state, and the number of a message under way there."""


def _arrived(model: Model, state: State, number: int) -> Iterator[_Message]:
    """The message that arrives in a step from a state, if one does."""
    step = model.steps[number]
    if isinstance(step, Arrive) and not step.lost:
        place = model.worlds.place(step.sender, step.receiver)
        yield place, model.queues[state[place]][step.number - 1].message


def _arrivals(model: Model, edges: _Edges) -> set[_Message]:
    """All messages that arrive anywhere."""
    return {one for state, steps in edges.items() for number, _ in steps for one in _arrived(model, state, number)}


def _unfair(model: Model, edges: _Edges) -> set[State]:
    """The states with a message under way that arrives in none of them."""
    if _waits_for_ever(model, edges):
        return set(edges)
    arrive = _arrivals(model, edges)
    places = range(model.size, model.size + len(model.worlds.links))
    return {
        state
        for state in edges
        if any((place, one.message) not in arrive for place in places for one in model.queues[state[place]])
    }


def _waits_for_ever(model: Model, edges: _Edges) -> bool:
    """Whether all states have timers and time could pass, but none runs out."""
    if model.rules.fast_messages or any(model.soonest(state) is None for state in edges):
        return False
    return not any(isinstance(model.steps[number], RunOut) for steps in edges.values() for number, _ in steps)


def _around(model: Model, edges: _Edges, start: State) -> list[int]:
    """The step numbers of a cycle: a shortest fair one, or one on which all messages arrive."""
    cycle = _way(edges, start, lambda _, __, after: after == start)
    states = [start, *(after for _, after in cycle)]
    if not _unfair(model, {state: [step] for state, step in zip(states, cycle, strict=False)}):
        return [number for number, _ in cycle]
    owed = _arrivals(model, edges)
    steps: list[int] = []
    at = start
    while owed or at != start:
        for number, after in _way(edges, at, partial(_brings, model, frozenset(owed) or start)):
            owed.difference_update(_arrived(model, at, number))
            steps.append(number)
            at = after
    return steps


def _brings(model: Model, wanted: frozenset[_Message] | State, state: State, number: int, after: State) -> bool:
    """Whether the step is such a message's arrival, or leads to the wanted state."""
    if isinstance(wanted, frozenset):
        return not wanted.isdisjoint(_arrived(model, state, number))
    return after == wanted


def _way(edges: _Edges, start: State, is_last: Callable[[State, int, State], bool]) -> list[tuple[int, State]]:
    """The fewest steps from a state to the end of a step of that kind."""
    before: dict[State, tuple[State, int]] = {}
    waiting = [start]
    for state in waiting:
        for number, after in edges[state]:
            if is_last(state, number, after):
                way, at = [(number, after)], state
                while at != start:
                    way.append((before[at][1], at))
                    at = before[at][0]
                return way[::-1]
            if after not in before and after != start:
                before[after] = state, number
                waiting.append(after)
    raise AssertionError("of states that lead to each other one leads to any step")
