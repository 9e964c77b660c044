"""Finds runs that never end, though all is fair, and in which something wanted never comes: a circle in what was found.

What is wanted is quiet, or that a notification is delivered. A circle of states in which it has not come is a
counterexample only if nobody could say that it was unlucky:

- *Messages are fair*: what is sent on a link again and again arrives again and again, however often it is lost between.
  So a circle is none in whose states a message is under way that never arrives there.
- *Chance is fair*: whatever a draw can come to, it comes to again and again. So a step that chance can have lead out of
  the circle leads out of it in the end, and is no part of it.
- *Timers run out*: time passes when nothing else can happen, or at any moment if messages are slow.

Commands are never owed to anybody: the circle is what follows when there are no more. States are told apart by what is
left of times, and not by times, so that a protocol which beacons, or tries again and again, comes back to where it was.

The states of such circles are looked for from above. States that lead to each other are a component (Tarjan, 1972). If
a message is under way in some of them, and arrives in none, a fair circle can only be among the others, which are
searched in their turn (Emerson and Lei, 1987). Steps by which chance can leave what is left are left out each time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import NamedTuple

from roambus.experiments.exploring.network import Network
from roambus.experiments.exploring.rules import Arrive, Raised, State, Step
from roambus.experiments.exploring.search import Search

_Member = Callable[[State], bool]
_Edges = dict[State, list[tuple[int, State]]]


class Endless(NamedTuple):
    """The steps to a circle and once around it, and a state in it."""

    steps: tuple[Step, ...]
    state: State


def find_endless(search: Search, is_lacking: _Member, *, with_timers: bool) -> Endless | None:
    """The nearest fair circle of states in which something `is_lacking`; without timers one of arrivals alone."""
    network = search.network

    def was_found(state: State) -> bool:
        return search.number(state) is not None and is_lacking(state)

    def nearest(states: Iterable[State]) -> tuple[int, State]:
        return min((number, state) for state in states if (number := search.number(state)) is not None)

    fair: list[tuple[tuple[int, State], _Edges]] = []
    waiting: list[tuple[Iterable[State], _Member]] = [(map(search.state, search.numbers()), was_found)]
    while waiting:
        states, is_member = waiting.pop()
        for component in _Components(_Steps(network, is_member, with_timers=with_timers)).find(states):
            edges = {
                state: _Steps(network, component.__contains__, with_timers=with_timers).of(state) for state in component
            }
            left = component - _unfair(network, edges)
            if left == component and any(edges.values()):
                fair.append((nearest(component), edges))
            elif left != component:
                waiting.append((left, left.__contains__))
    if not fair:
        return None
    (number, start), edges = min(fair, key=lambda one: one[0])
    around = (network.steps[one] for one in _around(network, edges, start))
    return Endless((*search.way(number), *around), start)


class _Steps:
    """The steps from one state to others of some set, which chance cannot have lead out of it."""

    def __init__(self, network: Network, is_member: _Member, *, with_timers: bool) -> None:
        self._network = network
        self.is_member = is_member
        self._with_timers = with_timers

    def of(self, state: State) -> list[tuple[int, State]]:
        """The number of each step, and where it leads."""
        network = self._network
        ways: defaultdict[Step, list[tuple[int, State]]] = defaultdict(list)
        leave: set[Step] = set()
        for steps in (network.arrivals(state), network.ringings(state) if self._with_timers else ()):
            for number, after in steps:
                step = network.steps[number]._replace(picks=())
                if not isinstance(after, Raised) and self.is_member(after):
                    ways[step].append((number, after))
                else:
                    leave.add(step)
        return [way for step, its in ways.items() if step not in leave for way in its]


class _Components:
    """Tarjan's algorithm, with a stack of its own: a circle may be longer than Python can call."""

    def __init__(self, steps: _Steps) -> None:
        self._steps = steps
        self._index: dict[State, int] = {}
        self._low: dict[State, int] = {}
        self._open: dict[State, None] = {}
        """The states that were entered and belong to no component yet, in that order."""

    def find(self, states: Iterable[State]) -> Iterator[set[State]]:
        """The components of more than one of the states, or of one that leads to itself."""
        for state in states:
            if state not in self._index and self._steps.is_member(state):
                yield from filter(self._is_circle, self._find_from(state))

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
        """The component of which the state was the first to be entered, if it was."""
        if self._low[state] != self._index[state]:
            return
        component: set[State] = set()
        while state not in component:
            component.add(self._open.popitem()[0])
        yield component

    def _is_circle(self, component: set[State]) -> bool:
        state = next(iter(component))
        return len(component) > 1 or any(after == state for _, after in self._steps.of(state))


_Message = tuple[int, int]
"""The place of a link in a state, and the number of a message that is under way there."""


def _arrived(network: Network, state: State, number: int) -> Iterator[_Message]:
    """The message that arrives in a step from a state, if one does."""
    step = network.steps[number]
    if isinstance(step, Arrive) and not step.lost:
        place = network.worlds.place(step.sender, step.receiver)
        yield place, network.queues[state[place]][step.number - 1].message


def _arrivals(network: Network, edges: _Edges) -> set[_Message]:
    """All messages that arrive anywhere."""
    return {one for state, steps in edges.items() for number, _ in steps for one in _arrived(network, state, number)}


def _unfair(network: Network, edges: _Edges) -> set[State]:
    """The states in which a message is under way that arrives in none of them."""
    arrive = _arrivals(network, edges)
    places = range(network.size, network.size + len(network.worlds.links))
    return {
        state
        for state in edges
        if any((place, one.message) not in arrive for place in places for one in network.queues[state[place]])
    }


def _around(network: Network, edges: _Edges, start: State) -> list[int]:
    """The numbers of the steps of a circle: a shortest one if it is fair, or else one on which all messages arrive."""
    circle = _way(edges, start, lambda _, __, after: after == start)
    states = [start, *(after for _, after in circle)]
    if not _unfair(network, {state: [step] for state, step in zip(states, circle, strict=False)}):
        return [number for number, _ in circle]
    owed = _arrivals(network, edges)
    steps: list[int] = []
    at = start
    while owed or at != start:
        for number, after in _way(edges, at, partial(_brings, network, frozenset(owed) or start)):
            owed.difference_update(_arrived(network, at, number))
            steps.append(number)
            at = after
    return steps


def _brings(network: Network, wanted: frozenset[_Message] | State, state: State, number: int, after: State) -> bool:
    """Whether a step from a state is one by which such a message arrives, or one to the state that is wanted."""
    if isinstance(wanted, frozenset):
        return not wanted.isdisjoint(_arrived(network, state, number))
    return after == wanted


def _way(edges: _Edges, start: State, is_last: Callable[[State, int, State], bool]) -> list[tuple[int, State]]:
    """The fewest steps from a state of which the last is of that kind."""
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
