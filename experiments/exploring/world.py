"""What is so in the world around the nodes: links, places, what applications want, and what may still happen.

A world is a value. `published`, `delivered` and `taken` are its history as far as properties ask for it: they are part
of what tells one state from another.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from roambus.python_protocol.events import Rewired
from roambus.python_protocol.filters import Filter, Notification, NotificationId
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime

Parents = tuple[NodeId | None, ...]


class Published(NamedTuple):
    """A notification, what it is called, and those who wanted it when it was published."""

    notification: Notification
    name: str
    wanted_by: frozenset[NodeId]


@dataclass(frozen=True, slots=True)
class World:
    """The state of everything but the nodes and what is under way between them."""

    nodes: int
    links: frozenset[tuple[NodeId, NodeId]]
    """The links that are up, each with its lower end first; those of a given tree are its edges."""
    parents: Parents = ()
    """The given tree, node by node; empty if there is none."""
    down: frozenset[NodeId] = frozenset()
    left: tuple[int, ...] = ()
    """How often each of what may happen still may."""
    wanted: tuple[frozenset[Filter], ...] = ()
    numbers: tuple[int, ...] = ()
    """How many notifications each node has published."""
    published: tuple[Published, ...] = ()
    delivered: tuple[tuple[NotificationId, ...], ...] = ()
    """What each node was given, in the order in which it was."""
    taken: frozenset[tuple[str, NodeId]] = frozenset()
    """(notification, subscriber) that a node has taken on."""
    elapsed: SimTime = 0
    """The time since the beginning, if that is limited."""
    calm: SimTime = 0
    """The time since something last happened, if a property wants calm."""

    @property
    def edges(self) -> frozenset[tuple[NodeId, NodeId]]:
        """The links that carry, because they and both ends are up."""
        return frozenset(one for one in self.links if self.down.isdisjoint(one))

    def neighbours(self, node: NodeId) -> list[NodeId]:
        """Those to whom a link carries, in their order."""
        return sorted(b if a == node else a for a, b in self.edges if node in (a, b))

    def part(self, node: NodeId) -> frozenset[NodeId]:
        """The nodes that a node can reach, itself included."""
        return frozenset(_reach({node}, self.edges))

    def children(self, node: NodeId) -> tuple[NodeId, ...]:
        """The children of a node in the given tree."""
        return tuple(child for child, parent in enumerate(self.parents) if parent == node)

    def is_below(self, node: NodeId, above: NodeId) -> bool:
        """Whether `node` is `above`, or below it in the given tree."""
        place: NodeId | None = node
        while place is not None:
            if place == above:
                return True
            place = self.parents[place]
        return False

    def place(self, node: NodeId, brokers: frozenset[NodeId]) -> Rewired:
        """The place of a node in the given tree, as it is told."""
        parent = self.parents[node]
        children = tuple(child for child in self.children(node) if child not in self.down)
        return Rewired(None if parent in self.down else parent, children, brokers & frozenset(children))

    def with_parent(self, node: NodeId, parent: NodeId | None) -> World:
        """The world in which a node has another parent."""
        parents = (*self.parents[:node], parent, *self.parents[node + 1 :])
        return replace(self, parents=parents, links=tree_edges(enumerate(parents)))

    def with_link(self, a: NodeId, b: NodeId, *, up: bool) -> World:
        """The world in which a link is up, or is not."""
        link = frozenset({(min(a, b), max(a, b))})
        return replace(self, links=self.links | link if up else self.links - link)

    def with_wanted(self, node: NodeId, filters: frozenset[Filter]) -> World:
        """The world in which the application of a node wants this."""
        return replace(self, wanted=(*self.wanted[:node], filters, *self.wanted[node + 1 :]))

    def with_delivered(self, node: NodeId, identifier: NotificationId) -> World:
        """The world in which a node was given a notification."""
        own = (*self.delivered[node], identifier)
        return replace(self, delivered=(*self.delivered[:node], own, *self.delivered[node + 1 :]))


def tree_edges(parents: Iterable[tuple[NodeId, NodeId | None]]) -> frozenset[tuple[NodeId, NodeId]]:
    """The edges of a tree, each with its lower end first."""
    pairs = ((node, parent) for node, parent in parents if parent is not None)
    return frozenset((min(pair), max(pair)) for pair in pairs)


def _reach(found: set[NodeId], edges: Iterable[tuple[NodeId, NodeId]]) -> set[NodeId]:
    links: Mapping[NodeId, list[NodeId]] = _by_end(edges)
    waiting = list(found)
    while waiting:
        for neighbour in links.get(waiting.pop(), ()):
            if neighbour not in found:
                found.add(neighbour)
                waiting.append(neighbour)
    return found


def _by_end(edges: Iterable[tuple[NodeId, NodeId]]) -> dict[NodeId, list[NodeId]]:
    found: dict[NodeId, list[NodeId]] = {}
    for a, b in edges:
        found.setdefault(a, []).append(b)
        found.setdefault(b, []).append(a)
    return found


def ends(edge: tuple[NodeId, NodeId]) -> Iterator[tuple[NodeId, NodeId]]:
    """Both directions of a link."""
    yield edge
    yield edge[1], edge[0]
