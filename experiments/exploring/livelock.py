"""Finds messages that go on for ever: a circle of arrivals that no other arrival could end.

Among the states that were explored, those that lead to each other by arrivals alone are a component (Tarjan, 1972). A
component is a livelock if it is fair: every link that has a message in all of its states has an arrival in it, too. In
one that is not fair a message waits for ever on a link, and its arrival could be what ends the circle.
"""

from __future__ import annotations

from collections.abc import Iterator

from roambus.experiments.exploring.network import Network
from roambus.experiments.exploring.rules import Raised, State, Step
from roambus.experiments.exploring.search import Search

_Edges = dict[State, list[tuple[int, State]]]


def find_livelock(search: Search) -> tuple[Step, ...]:
    """The steps to the nearest livelock and once around it; nothing if there is none."""
    for component in sorted(_Components(search).find(), key=lambda one: _nearest(search, one)[0]):
        edges = {state: _within(search.network, state, component) for state in component}
        if _is_fair(search.network, edges):
            number, start = _nearest(search, component)
            return (*search.way(number), *_once_around(search.network, edges, start))
    return ()


def _nearest(search: Search, component: set[State]) -> tuple[int, State]:
    """The number of the state that is nearest to the beginning, and that state."""
    return min((number, state) for state in component if (number := search.number(state)) is not None)


def _within(network: Network, state: State, component: set[State]) -> list[tuple[int, State]]:
    return [(step, after) for step, after in _arrivals(network, state) if after in component]


def _arrivals(network: Network, state: State) -> Iterator[tuple[int, State]]:
    for step, after in network.arrivals(state):
        if not isinstance(after, Raised):
            yield step, after


class _Components:
    """Tarjan's algorithm, with a stack of its own: a circle may be longer than Python can call."""

    def __init__(self, search: Search) -> None:
        self._search = search
        self._index: dict[State, int] = {}
        self._low: dict[State, int] = {}
        self._open: dict[State, None] = {}
        """The states that were entered and belong to no component yet, in that order."""

    def find(self) -> Iterator[set[State]]:
        """The components of more than one state, or of one that leads to itself."""
        for number in self._search.numbers():
            state = self._search.state(number)
            if state not in self._index and not self._search.network.is_idle(state):
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
        return state, self._following(state)

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

    def _following(self, state: State) -> Iterator[State]:
        for _, after in _arrivals(self._search.network, state):
            if self._search.number(after) is not None:
                yield after

    def _is_circle(self, component: set[State]) -> bool:
        state = next(iter(component))
        return len(component) > 1 or any(after == state for after in self._following(state))


def _is_fair(network: Network, edges: _Edges) -> bool:
    for place, link in enumerate(network.worlds.links, network.size):
        if all(state[place] for state in edges):
            steps = (network.steps[step] for following in edges.values() for step, _ in following)
            if not any((step[0], step[1]) == link for step in steps):
                return False
    return True


def _once_around(network: Network, edges: _Edges, start: State) -> Iterator[Step]:
    """The steps of a shortest circle from a state back to it."""
    before: dict[State, tuple[State, int]] = {}
    waiting = [start]
    for state in waiting:
        for step, after in edges[state]:
            if after not in before:
                before[after] = state, step
                waiting.append(after)
    steps: list[Step] = []
    state = start
    while not steps or state != start:
        state, step = before[state]
        steps.append(network.steps[step])
    yield from reversed(steps)
