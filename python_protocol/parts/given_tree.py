"""A tree that the scenario gives: for static trees, and to move brokers and clients one message at a time.

It sends nothing and loses nothing. The scenario tells each node its parent and children at the start and at each
change (`Rewired`), as an operator would who lays the links.
"""

from __future__ import annotations

from random import Random
from typing import Any

from roambus.python_protocol.events import Rewired
from roambus.python_protocol.parts.overlay import (
    NOTHING,
    Change,
    NeighbourAppeared,
    NeighbourGone,
    Outcome,
    ParentChanged,
)
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime


class GivenTree:
    """One node's place in the tree; see `Overlay`."""

    def __init__(
        self, node: NodeId, is_broker: bool, parameters: object, random: Random
    ) -> None:  # as every overlay is made
        """Alone at first."""
        self.parent: NodeId | None = None
        self.children: dict[NodeId, bool] = {}
        """Whether each child is a broker."""

    def start(self, now: SimTime) -> Outcome:  # the interface's
        """The tree comes with the first `rewire`."""
        return NOTHING

    def rewire(self, tree: Rewired) -> Outcome:
        """Those who have gone, the new parent, those who have come, each in the order given."""
        gone = [child for child in self.children if child not in (*tree.children, tree.parent)]
        come = [child for child in tree.children if child not in self.children]
        changes: list[Change] = [NeighbourGone(child, moved=False) for child in gone]
        if tree.parent != self.parent:
            changes.append(ParentChanged(tree.parent))
        changes += [NeighbourAppeared(child, child in tree.brokers) for child in come]
        self.parent = tree.parent
        self.children = {child: child in tree.brokers for child in tree.children}
        return (), changes

    def receive(self, sender: NodeId, message: Any, rssi_dbm: float, now: SimTime) -> Outcome:  # the interface's
        """There are no messages."""
        return NOTHING

    def timer(self, key: Any, now: SimTime) -> Outcome:  # the interface's
        """There are no timers."""
        return NOTHING

    def adopt(self, neighbour: NodeId, now: SimTime) -> None:
        """Only the scenario says who is whose child."""

    def give_up(self, neighbour: NodeId, now: SimTime) -> Outcome:  # the interface's
        """There is no way to a neighbour until the scenario says so again."""
        self.children.pop(neighbour, None)
        if neighbour != self.parent:
            return NOTHING
        self.parent = None
        return (), [ParentChanged(None)]
