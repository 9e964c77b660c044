"""The parts of a network's state beside its nodes, by numbers: the world, and what is under way on single links."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from roambus.experiments.exploring.nodes import Delivered, Taken
from roambus.experiments.exploring.numbering import Numbering, Tally
from roambus.experiments.exploring.world import World
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime

Item = tuple[int, bool]
"""The number of a message, and whether it was sent to this receiver alone."""


class Worlds(Numbering[World]):
    """Knows the worlds, and what depends on them alone."""

    def __init__(self, size: int, learnt: Tally) -> None:
        super().__init__(learnt)
        self._size = size
        self.links = [(sender, receiver) for sender in range(size) for receiver in range(size) if sender != receiver]
        """The pairs (sender, receiver) in the order in which a state has what is under way between them."""
        self._places = {link: place for place, link in enumerate(self.links, size)}
        self._edges: Numbering[frozenset[tuple[NodeId, NodeId]]] = Numbering()
        self._topologies: list[int] = []
        self._reached: dict[int, dict[NodeId, tuple[int, ...]]] = {}
        self._seen: dict[tuple[int, NodeId, Delivered | Taken], int] = {}

    def place(self, sender: NodeId, receiver: NodeId) -> int:
        """The place in a state of what is under way from one node to another."""
        return self._places[sender, receiver]

    def places(self) -> Iterable[tuple[int, tuple[NodeId, NodeId]]]:
        """Each of these places, and its link."""
        return enumerate(self.links, self._size)

    def topology(self, world: int) -> int:
        """The number of the edges of a world."""
        for number in range(len(self._topologies), world + 1):
            self._topologies.append(self._edges.number(self[number].edges))
        return self._topologies[world]

    def neighbours(self, world: int) -> dict[NodeId, tuple[int, ...]]:
        """Those to whom a link carries, of each node."""
        topology = self.topology(world)
        if topology not in self._reached:
            own = self[world]
            self._reached[topology] = {node: tuple(own.neighbours(node)) for node in range(self._size)}
        return self._reached[topology]

    def see(self, world: int, node: NodeId, seen: Delivered | Taken) -> int:
        """The world after a node was given something, or has taken it on."""
        found = self._seen.get((world, node, seen))
        if found is None:
            found = self._seen[world, node, seen] = self.number(_after_seeing(self[world], node, seen))
        return found

    def passed(self, number: int, elapsed: SimTime, calm: SimTime) -> int:
        """The world after so much time, as far as it counts what has elapsed, and what was calm."""
        if not (elapsed or calm):
            return number
        world = self[number]
        return self.number(replace(world, elapsed=world.elapsed + elapsed, calm=world.calm + calm))


def used(world: World, may: int) -> World:
    """The world in which what may happen has happened once more."""
    return replace(world, left=(*world.left[:may], world.left[may] - 1, *world.left[may + 1 :]))


def _after_seeing(world: World, node: NodeId, seen: Delivered | Taken) -> World:
    if isinstance(seen, Delivered):
        return world.with_delivered(node, seen.notification)
    return replace(world, taken=world.taken | {(seen.notification, one) for one in seen.subscribers})


class Queues(Numbering[tuple[Item, ...]]):
    """What is under way on one link; number 0 is nothing."""

    def __init__(self, learnt: Tally) -> None:
        super().__init__(learnt)
        self.number(())
        self._appended: dict[tuple[int, Item], int] = {}

    def append(self, queue: int, item: Item) -> int:
        """The queue with one item more at its end."""
        found = self._appended.get((queue, item))
        if found is None:
            found = self._appended[queue, item] = self.number((*self[queue], item))
        return found

    def without(self, queue: int, index: int) -> int:
        """The queue with one item less."""
        items = self[queue]
        return self.number(items[:index] + items[index + 1 :])
