"""The tree of brokers as an agent sees it: who is its parent, who its children, and what changes.

Whatever has the interface of `Overlay` can make the tree: `roambus.python_protocol.parts.election` elects a leader
and spans the tree by its heartbeats (003, section 2.5), `roambus.python_protocol.parts.given_tree` is told it from
outside.

An agent performs the actions and follows the changes that each method returns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from roambus.python_protocol.actions import Action
from roambus.python_protocol.events import Rewired
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime


@dataclass(frozen=True, slots=True)
class ParentChanged:
    """The way to the leader now begins at `parent`; None while there is none, and at the leader itself."""

    parent: NodeId | None


@dataclass(frozen=True, slots=True)
class NeighbourAppeared:
    """`neighbour` has this node as its parent."""

    neighbour: NodeId
    is_broker: bool


@dataclass(frozen=True, slots=True)
class NeighbourGone:
    """A child is no longer one: it `moved` to another parent, or is out of reach."""

    neighbour: NodeId
    moved: bool


Change = ParentChanged | NeighbourAppeared | NeighbourGone
Outcome = tuple[Sequence[Action], Sequence[Change]]
NOTHING: Outcome = ((), ())
"""What most messages come to; compare by identity."""


class Overlay(Protocol):
    """What an agent needs of an algorithm that keeps its node in a tree."""

    @property
    def parent(self) -> NodeId | None:
        """The next node towards the root; None at the root, and while there is none."""

    @property
    def children(self) -> Mapping[NodeId, object]:
        """The nodes, brokers and clients, whose parent this one is."""

    def start(self, now: SimTime) -> Outcome:
        """The node has booted."""

    def receive(self, sender: NodeId, message: Any, rssi_dbm: float, now: SimTime) -> Outcome:
        """A message of the algorithm has arrived."""

    def timer(self, key: Any, now: SimTime) -> Outcome:
        """A timer of the algorithm has run out."""

    def rewire(self, tree: Rewired) -> Outcome:
        """The scenario gives the tree; an algorithm that makes its own ignores that."""

    def adopt(self, neighbour: NodeId, now: SimTime) -> None:
        """A broker says by other means that this node is its parent."""

    def give_up(self, neighbour: NodeId, now: SimTime) -> Outcome:
        """The link layer gave a neighbour up: it is no child, and for some time no parent."""
