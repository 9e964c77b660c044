"""Finds fair runs that never end and lack something wanted: cycles of the states found.

A cycle without quiet, or without a delivery, is a counterexample only if it is fair:

- *Messages*: a message sent again and again arrives again and again, despite losses.
- *Chance*: each outcome of a draw recurs, so a step that chance can lead out of the cycle is no part of it.
- *Timers*: time passes. With `messages fast` it passes when nothing is under way; else, if timers are set, one runs out
  in the cycle.

Commands are never owed. If a message is under way in some states of a strong component and arrives in none, the others
are searched in turn, without steps by which chance leaves them (Emerson and Lei, 1987).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import NamedTuple

from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from roambus.bridge.transcript.commands import Arrive, RunOut
from roambus.extensions.exploring.checker import Checker
from roambus.extensions.exploring.nodes import Raised
from roambus.extensions.exploring.steps import State, Step

_Edges = dict[int, list[tuple[int, int]]]
"""The steps from each state, and where they lead, all by number."""
_Message = tuple[int, int]
"""A link's place in a state, and the number of a message under way there."""


class FairCycle(NamedTuple):
    """The path to a cycle and once around it, and a state in it."""

    path: tuple[Step, ...]
    state: State


def find_fair_cycle(checker: Checker, is_lacking: Callable[[State], bool], *, with_timers: bool) -> FairCycle | None:
    """Return the nearest fair cycle with something `is_lacking`; without timers one of arrivals alone."""
    graph = _Graph(checker, with_timers=with_timers)
    fair: list[_Edges] = []
    waiting = [{number for number in range(len(checker)) if is_lacking(checker.state(number))}]
    while waiting:
        for component in _components(graph.within(waiting.pop())):
            edges = graph.within(component)
            left = component - graph.unfair(edges)
            if left != component:
                waiting.append(left)
            elif any(edges.values()):
                fair.append(edges)
    if not fair:
        return None
    edges = min(fair, key=min)
    start = min(edges)
    around = (checker.model.steps[number] for number in graph.around(edges, start))
    return FairCycle((*checker.path(start), *around), checker.state(start))


def _components(edges: _Edges) -> Iterator[set[int]]:
    """Yield the strong components of several states, or of one with a step to itself."""
    places = {state: place for place, state in enumerate(edges)}
    pairs = [(places[state], places[after]) for state, steps in edges.items() for _, after in steps]
    if pairs:
        matrix = coo_array(([1] * len(pairs), tuple(zip(*pairs, strict=True))), (len(edges), len(edges)))
        _, labels = connected_components(matrix, connection="strong")
        found: defaultdict[int, set[int]] = defaultdict(set)
        for state, label in zip(edges, labels.tolist(), strict=True):
            found[label].add(state)
        loops = {state for state, steps in edges.items() if any(after == state for _, after in steps)}
        yield from (component for component in found.values() if len(component) > 1 or component & loops)


class _Graph:
    """The arrivals and timers between the states of a search."""

    def __init__(self, checker: Checker, *, with_timers: bool) -> None:
        self._checker, self._model = checker, checker.model
        self._must_pass = self._model.nodes.is_timed and not self._model.rules.question.fast_messages
        self._with_timers = with_timers or self._must_pass

    def within(self, states: set[int]) -> _Edges:
        """Return the steps within a set of states that chance cannot have lead out of it."""
        return {state: self._steps(state, states) for state in states}

    def _steps(self, number: int, states: set[int]) -> list[tuple[int, int]]:
        model, state = self._model, self._checker.state(number)
        ways: defaultdict[Step, list[tuple[int, int]]] = defaultdict(list)
        leave: set[Step] = set()
        soonest = model.soonest(state) if self._with_timers else None
        for step, after in (*model.arrivals(state, soonest), *model.timeouts(state, soonest)):
            drawn = model.steps[step]._replace(picks=())
            end = None if isinstance(after, Raised) else self._checker.number(after)
            if end in states:
                ways[drawn].append((step, end))
            else:
                leave.add(drawn)
        return [way for drawn, its in ways.items() if drawn not in leave for way in its]

    def _arrivals(self, state: int, step: int) -> set[_Message]:
        """Return the message that arrives in a step, if any."""
        command = self._model.steps[step].command
        if not isinstance(command, Arrive) or command.lost:
            return set()
        place = self._model.places[command.sender, command.receiver]
        return {(place, self._model.queues[self._checker.state(state)[place]][command.number - 1].message)}

    def _all_arrivals(self, edges: _Edges) -> set[_Message]:
        return {
            arrival for state, steps in edges.items() for step, _ in steps for arrival in self._arrivals(state, step)
        }

    def unfair(self, edges: _Edges) -> set[int]:
        """Return the states with a message under way that arrives in none of them, or all if no timer runs out."""
        model, arrive = self._model, self._all_arrivals(edges)
        states = {number: self._checker.state(number) for number in edges}
        run_out = (isinstance(model.steps[step].command, RunOut) for steps in edges.values() for step, _ in steps)
        if self._must_pass and all(model.soonest(state) is not None for state in states.values()) and not any(run_out):
            return set(edges)
        places = range(model.size, model.size + len(model.links))
        return {
            number
            for number, state in states.items()
            if any((place, queue.message) not in arrive for place in places for queue in model.queues[state[place]])
        }

    def around(self, edges: _Edges, start: int) -> list[int]:
        """Return the steps of a cycle: a shortest fair one, or one on which all messages arrive."""
        cycle = _way(edges, start, lambda _, __, after: after == start)
        states = [start, *(after for _, after in cycle)]
        if not self.unfair({state: [step] for state, step in zip(states, cycle, strict=False)}):
            return [step for step, _ in cycle]
        owed, at, found = self._all_arrivals(edges), start, list[int]()

        def brings(state: int, step: int, after: int) -> bool:
            return bool(owed & self._arrivals(state, step)) if owed else after == start

        while owed or at != start:
            for step, after in _way(edges, at, brings):
                owed, at = owed - self._arrivals(at, step), after
                found.append(step)
        return found


def _way(edges: _Edges, start: int, is_last: Callable[[int, int, int], bool]) -> list[tuple[int, int]]:
    """Return the fewest steps from a state to the end of a step of that kind."""
    ways: dict[int, list[tuple[int, int]]] = {start: []}
    waiting: list[int] = [start]
    for state in waiting:
        for step, after in edges[state]:
            if is_last(state, step, after):
                return [*ways[state], (step, after)]
            if after not in ways:
                ways[after] = [*ways[state], (step, after)]
                waiting.append(after)
    raise AssertionError("of states that lead to each other one leads to any step")
