"""A tree that the scenario gives: for static trees, and to move brokers and clients one message at a time.

It sends nothing and loses nothing. The scenario tells each node its parent and its children at the start and at each
change (`Rewired`), as an operator would who lays the links.
"""

from __future__ import annotations

from roambus.python_protocol.events import Rewired
from roambus.python_protocol.parts.overlay import NeighbourAppeared, NeighbourGone, Overlay
from roambus.python_protocol.process import Process, on
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime


class GivenTree(Overlay):
    """One node's parent and children, which come with the first `Rewired`."""

    children: dict[NodeId, bool]
    """Whether each child is a broker."""

    def __init__(self, of: Process | None = None) -> None:
        """The node is alone at first; `of` is the agent."""
        super().__init__(of)
        self.children = {}

    @on(Rewired)
    def rewire(self, tree: Rewired, now: SimTime) -> None:
        """Tells of those who have gone, of the new parent, and of those who have come, each in the order given."""
        gone = [child for child in self.children if child not in (*tree.children, tree.parent)]
        come = [child for child in tree.children if child not in self.children]
        self.changes += [NeighbourGone(child, moved=False) for child in gone]
        self._set_parent(tree.parent)
        self.changes += [NeighbourAppeared(child, child in tree.brokers) for child in come]
        self.children = {child: child in tree.brokers for child in tree.children}

    def give_up(self, neighbour: NodeId, now: SimTime) -> None:
        """There is no way to a neighbour until the scenario gives one again."""
        self.children.pop(neighbour, None)
        if neighbour == self.parent:
            self._set_parent(None)
