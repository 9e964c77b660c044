"""The tree of brokers as an agent sees it: who is the parent, who the children are, and what changes.

The tree is made by a process of its own, which is a part of the agent: it is told the events of the node, and what it
sends and which timers it sets goes among the agent's actions. What changes in the tree it collects in `changes`. The
agent takes the changes after each event and follows them.

Any subclass of `Overlay` can make the tree. `roambus.python_protocol.parts.election` elects a leader and spans the tree
by its heartbeats (the thesis, section 2.5), and `roambus.python_protocol.parts.given_tree` is told the tree by the
scenario.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

from roambus.python_protocol.events import Received
from roambus.python_protocol.process import Process, on
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime


@dataclass(frozen=True, slots=True)
class ParentChanged:
    """The way to the leader now begins at `parent`, which is None while there is no way, and at the leader itself."""

    parent: NodeId | None


@dataclass(frozen=True, slots=True)
class NeighbourAppeared:
    """The node `neighbour` has this node as its parent."""

    neighbour: NodeId
    is_broker: bool


@dataclass(frozen=True, slots=True)
class NeighbourGone:
    """A child is no longer one, because it has `moved` to another parent or is out of reach."""

    neighbour: NodeId
    moved: bool


Change = ParentChanged | NeighbourAppeared | NeighbourGone


class Overlay(Process):
    """What an agent needs of an algorithm that keeps its node in a tree; events without a handler change nothing."""

    parent: NodeId | None
    """The next node towards the root; None at the root, and while there is no way to it."""
    children: Mapping[NodeId, object]
    """The nodes, brokers and clients, whose parent this one is."""

    def __init__(self, of: Process | None = None) -> None:
        """A node is alone at first; `of` is the agent."""
        super().__init__(of)
        self.parent = None
        self.changes: list[Change] = []
        """What has changed since `take_changes` was last called, in its order."""

    def take_changes(self) -> list[Change]:
        """What has changed since this was last called, in its order."""
        changes, self.changes = self.changes, []
        return changes

    @on(Received)
    def receive(self, event: Received, now: SimTime) -> None:
        """A message has arrived; an algorithm without messages has nothing to do."""

    def hear_frame(self, sender: NodeId, now: SimTime) -> None:
        """A frame has come that is not for the algorithm, but shows that its sender is there."""

    def adopt(self, neighbour: NodeId, now: SimTime) -> None:
        """A node has shown by other means that this node is its parent; not every algorithm wants to know."""

    @abstractmethod
    def give_up(self, neighbour: NodeId, now: SimTime) -> None:
        """The link layer gave a neighbour up: it is no child, and for some time no parent."""

    def _set_parent(self, parent: NodeId | None) -> None:
        """Takes another parent; the same one is no change."""
        if parent != self.parent:
            self.parent = parent
            self.changes.append(ParentChanged(parent))
