"""A tree that the scenario gives: for static trees, and to move brokers and clients one message at a time.

It loses nothing. The scenario tells each node its parent and its children at the start and at each change (`Rewired`),
as an operator would who lays the links.
"""

from __future__ import annotations

from random import Random

from roambus.python_protocol.events import Recovered, Rewired, Started
from roambus.python_protocol.parts.election import NO_LEADERSHIP, ElectionTimer, Heartbeat
from roambus.python_protocol.parts.overlay import NeighbourAppeared, NeighbourGone, Overlay
from roambus.python_protocol.process import Process, on, on_timer
from roambus.python_protocol.roles import BROADCAST, NodeId
from roambus.python_protocol.simtime import SimTime

BEAT = ElectionTimer("beat")


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


class BeatingTree(GivenTree):
    """The same with heartbeats, for protocols that have something to tell by them; the tree does not depend on them."""

    def __init__(self, is_broker: bool, interval: SimTime, random: Random, of: Process | None = None) -> None:
        """A node beats every `interval` ns from a random time on; `random` and `of` are the agent's."""
        super().__init__(of)
        self._is_broker = is_broker
        self._interval = interval
        self._random = random

    @on(Started, Recovered)
    def start(self, _: Started | Recovered, now: SimTime) -> None:
        """The node has booted, or is back."""
        self.set_timer(BEAT, self._random.randrange(self._interval))

    @on_timer(BEAT)
    def beat(self, key: ElectionTimer, now: SimTime) -> None:
        """Tells the neighbours who the parent of this node is."""
        self.send(BROADCAST, Heartbeat(NO_LEADERSHIP, 0, 0, self.parent, self._is_broker))
        self.set_timer(BEAT, self._interval)
