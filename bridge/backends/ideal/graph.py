"""The graph of ideal links: it knows which links there are, and which of them carry frames now."""

from __future__ import annotations

from collections.abc import Iterable

from roambus.bridge.scenario.happenings import LinkChange, Partition
from roambus.python_protocol.roles import NodeId

Link = tuple[NodeId, NodeId]
"""One direction of a link, from its sender to its receiver."""


class Graph:
    """A link carries while it is up, both of its ends are up, and no partition separates them."""

    def __init__(self, nodes: int, links: Iterable[tuple[NodeId, NodeId]]) -> None:
        self._neighbours: list[set[NodeId]] = [set() for _ in range(nodes)]
        self._crashed: set[NodeId] = set()
        self._group = [0] * nodes
        for a, b in links:
            self._neighbours[a].add(b)
            self._neighbours[b].add(a)

    def carries(self, sender: NodeId, receiver: NodeId) -> bool:
        """Whether frames go from `sender` to `receiver`."""
        if receiver not in self._neighbours[sender] or self._group[sender] != self._group[receiver]:
            return False
        return sender not in self._crashed and receiver not in self._crashed

    def reached(self, sender: NodeId) -> list[NodeId]:
        """The nodes that a broadcast of `sender` reaches."""
        return [receiver for receiver in self._neighbours[sender] if self.carries(sender, receiver)]

    def change(self, change: LinkChange) -> None:
        """Has a link come up or go down."""
        for a, b in ((change.a, change.b), (change.b, change.a)):
            if change.up:
                self._neighbours[a].add(b)
            else:
                self._neighbours[a].discard(b)

    def part(self, partition: Partition) -> None:
        """Separates groups from each other, whatever groups there were before."""
        self._group = [0] * len(self._group)
        for number, group in enumerate(partition.groups, start=1):
            for node in group:
                self._group[node] = number

    def crash(self, node: NodeId) -> None:
        """Has the node's links carry nothing."""
        self._crashed.add(node)

    def recover(self, node: NodeId) -> None:
        """The node's links carry again, as far as they are up."""
        self._crashed.discard(node)
