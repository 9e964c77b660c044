"""Which arrivals have to be tried: orders that come to the same are explored once (persistent sets; Godefroid, 1996).

Two arrivals at different nodes commute: each changes its own node, takes the first message off its own link, and adds
to the ends of others. So it is enough to try those at one node, if nothing that happens elsewhere can bring that node
something which could have come first. Without the node the network falls into parts, each of which goes on by itself:
it is tried out whether one of them can come to send the node something over a link that has no message yet. Over a link
that has one, whatever follows queues behind it.

All states in which nothing is under way are still reached, on ways of the same length; states between are left out. So
this is for properties of quiet states, and only where no command, loss or timer can come between.
"""

from __future__ import annotations

from collections.abc import Iterable

from roambus.experiments.exploring.network import Network
from roambus.experiments.exploring.rules import Raised, State
from roambus.python_protocol.roles import NodeId

_MOST_TRIED = 300
"""So many states of a part are tried; if there are more, it is taken to be able to do anything."""


class Reduction:
    """Chooses the arrivals to be tried."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._links = network.links()
        self._parts: dict[tuple[int, NodeId], list[_Part]] = {}

    def applies(self, state: State) -> bool:
        """Whether only arrivals can happen until nothing is under way."""
        rules, left = self._network.rules, self._network.world(state).left
        return not rules.slow_messages and not any(
            times for times, may in zip(left, rules.may, strict=True) if not may.when_quiet
        )

    def places(self, state: State) -> Iterable[int]:
        """The places in the state of the links whose arrivals are to be tried."""
        to: dict[NodeId, list[int]] = {}
        for place, (_, receiver) in enumerate(self._links, self._network.size):
            if state[place]:
                to.setdefault(receiver, []).append(place)
        for node in sorted(to, key=lambda one: len(to[one])):
            if not any(part.can_send(state) for part in self._without(node, state)):
                return to[node]
        return [place for places in to.values() for place in places]

    def _without(self, node: NodeId, state: State) -> list[_Part]:
        """The parts into which the network falls without the node."""
        key = self._network.worlds.topology(state[-1]), node
        if key not in self._parts:
            rest = [edge for edge in self._network.world(state).edges if node not in edge]
            parts = _components(self._network.size, rest)
            self._parts[key] = [_Part(self._network, node, one) for one in parts if node not in one]
        return self._parts[key]


class _Part:
    """A part of the network without one node, as long as that node does nothing."""

    def __init__(self, network: Network, node: NodeId, members: frozenset[NodeId]) -> None:
        links = list(enumerate(network.links(), network.size))
        self._network = network
        self._to = [place for place, (sender, receiver) in links if sender in members and receiver == node]
        self._within = [place for place, (_, receiver) in links if receiver in members]
        own = {*members, *self._within}
        self._is_own = [place in own for place in range(network.size + len(links))]
        self._known: dict[tuple[State, tuple[int, ...]], bool] = {}

    def can_send(self, state: State) -> bool:
        """Whether it can come to send something to the node over a link that has no message yet."""
        if not any(state[place] for place in self._within):
            return False
        empty = tuple(place for place in self._to if self._network.rules.any_order or not state[place])
        if not empty:
            return False
        key = self._own(state), empty
        if key not in self._known:
            self._known[key] = self._try(*key)
        return self._known[key]

    def _own(self, state: State) -> State:
        """The state with nothing but what belongs to the part, and the world."""
        numbers = [number if own else 0 for number, own in zip(state[:-1], self._is_own, strict=True)]
        return (*numbers, state[-1])

    def _try(self, start: State, empty: tuple[int, ...]) -> bool:
        seen, waiting = {start}, [start]
        for state in waiting:
            for after in self._following(state):
                if isinstance(after, Raised) or any(after[place] for place in empty) or len(seen) > _MOST_TRIED:
                    return True
                own = self._own(after)
                if own not in seen:
                    seen.add(own)
                    waiting.append(own)
        return False

    def _following(self, state: State) -> Iterable[State | Raised]:
        for place in self._within:
            if state[place]:
                for _, after in self._network.arrivals_at(state, place):
                    yield after


def _components(size: int, edges: Iterable[tuple[NodeId, NodeId]]) -> list[frozenset[NodeId]]:
    parts = {node: frozenset({node}) for node in range(size)}
    for a, b in edges:
        merged = parts[a] | parts[b]
        parts.update(dict.fromkeys(merged, merged))
    return list(set(parts.values()))
