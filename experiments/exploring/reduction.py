"""Which arrivals have to be tried: orders that come to the same are explored once (persistent sets; Godefroid, 1996).

Two arrivals at different nodes commute: each changes its own node, takes the first message off its own link, and adds
to the ends of others. So it is enough to try those at one node, if nothing that happens elsewhere can bring that node
something which could have come first. That is so if no part of the network beyond it has anything under way, or else
all links from that part to the node have a message already, and whatever follows queues behind it.

All states in which nothing is under way are still reached, on ways of the same length; states between are left out. So
this is for properties of quiet states, and only where no command, loss or timer can come between.
"""

from __future__ import annotations

from collections.abc import Iterable

from roambus.experiments.exploring.network import Network
from roambus.experiments.exploring.rules import State
from roambus.python_protocol.roles import NodeId


class Reduction:
    """Chooses the arrivals to be tried."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._links = network.links()
        self._parts: dict[tuple[frozenset[tuple[NodeId, NodeId]], NodeId], list[frozenset[NodeId]]] = {}
        self._known: dict[tuple[int, tuple[bool, ...]], tuple[int, ...]] = {}
        self._applies: dict[int, bool] = {}

    def applies(self, state: State) -> bool:
        """Whether only arrivals can happen until nothing is under way; it depends on the world alone."""
        world = state[-1]
        if world not in self._applies:
            self._applies[world] = self._is_left_to_arrivals(state)
        return self._applies[world]

    def _is_left_to_arrivals(self, state: State) -> bool:
        rules, left = self._network.rules, self._network.world(state).left
        return not rules.slow_messages and not any(
            times for times, may in zip(left, rules.may, strict=True) if not may.when_quiet
        )

    def places(self, state: State) -> tuple[int, ...]:
        """The places in the state of the links whose arrivals are to be tried: as edges and busy links have it."""
        key = (self._network.worlds.topology(state[-1]), tuple(map(bool, state[self._network.size : -1])))
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._choose(state)
        return found

    def _choose(self, state: State) -> tuple[int, ...]:
        to: dict[NodeId, list[int]] = {}
        for place, (_, receiver) in enumerate(self._links, self._network.size):
            if state[place]:
                to.setdefault(receiver, []).append(place)
        for node in sorted(to, key=lambda one: len(to[one])):
            if self._is_enough(node, to, state):
                return tuple(to[node])
        return tuple(place for places in to.values() for place in places)

    def _is_enough(self, node: NodeId, to: dict[NodeId, list[int]], state: State) -> bool:
        senders = {self._links[place - self._network.size][0] for place in to[node]}
        world = self._network.world(state)
        near = set(world.neighbours(node))
        for part in self._beyond(world.edges, node):
            busy = any(other in part for other in to if other != node)
            if busy and (self._network.rules.any_order or not near & part <= senders):
                return False
        return True

    def _beyond(self, edges: frozenset[tuple[NodeId, NodeId]], node: NodeId) -> list[frozenset[NodeId]]:
        """The parts into which the network falls without the node."""
        if (edges, node) not in self._parts:
            rest = [edge for edge in edges if node not in edge]
            self._parts[edges, node] = _components(self._network.size, rest)
        return self._parts[edges, node]


def _components(size: int, edges: Iterable[tuple[NodeId, NodeId]]) -> list[frozenset[NodeId]]:
    parts = {node: frozenset({node}) for node in range(size)}
    for a, b in edges:
        merged = parts[a] | parts[b]
        parts.update(dict.fromkeys(merged, merged))
    return list(set(parts.values()))
