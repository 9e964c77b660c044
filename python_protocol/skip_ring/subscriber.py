"""A subscriber's part of BuildSR, for one topic (004, sections 3.2 and 4.1).

The four actions by which a subscriber gets its label, the ring by the extended BuildRing, and the shortcuts.

What the text leaves open:

- *Probabilities*, which it lost: (ii) 1 / (2^k k^2) for a label of k bits, (iv) 1/2. There are two labels of one bit,
  so that (ii) alone comes to 1.3 requests a round among many, though the lemma of section 3.2.1 says below 1;
  `sparse_requests` takes k + 1 for k.
- *A configuration replaces the neighbours.* Who is nearer than the new one, or has its label, is what action (iii) asks
  the supervisor for; who is farther is placed by BuildRing; so nobody is lost, and who has crashed does not stay.
- *A reference that comes to a node without a label* goes to the supervisor, by a request for its configuration; the
  node itself answers by RemoveConnections.
"""

from __future__ import annotations

from random import Random

from roambus.python_protocol.actions import Action, Send
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.skip_ring.build_ring import BuildRing
from roambus.python_protocol.skip_ring.labels import CIRCLE, Label, position
from roambus.python_protocol.skip_ring.messages import (
    GetConfiguration,
    Introduce,
    IntroduceShortcut,
    Linearize,
    RemoveConnections,
    SetData,
    Subscribe,
    Topic,
    Unsubscribe,
)
from roambus.python_protocol.skip_ring.parameters import SkipRingParameters
from roambus.python_protocol.skip_ring.references import Reference
from roambus.python_protocol.skip_ring.refusal import refuse
from roambus.python_protocol.skip_ring.shortcuts import Shortcuts

MINIMAL = 0.5
"""The probability of action (iv)."""


class Subscriber:
    """v, or rather its part in the ring of one topic."""

    def __init__(self, node: NodeId, topic: Topic, parameters: SkipRingParameters, random: Random) -> None:
        self.ring = BuildRing(node, topic, check_labels=parameters.check_labels)
        self.shortcuts = Shortcuts(self.ring)
        self.is_leaving = False
        self._parameters = parameters
        self._random = random

    @property
    def own(self) -> Reference | None:
        """The node with its label, if it has one."""
        return None if self.ring.label is None else Reference(self.ring.node, self.ring.label)

    def ring_neighbours(self) -> list[NodeId]:
        """Both direct ring neighbours, or the only one twice."""
        direct = (self.ring.predecessor, self.ring.successor)
        return [one.node for one in direct if one is not None]

    def clear(self) -> None:
        """Deletes all connections."""
        self.ring.clear()
        self.shortcuts.nodes.clear()

    def join(self) -> list[Action]:
        """Asks to be integrated (section 4.1; action (i))."""
        self.is_leaving = False
        return self._ask(Subscribe(self.ring.topic, self.ring.node))

    def leave(self) -> list[Action]:
        """Asks to be removed; it stays in the ring until it has the permission."""
        self.is_leaving = True
        return self._ask(Unsubscribe(self.ring.topic, self.ring.node))

    def timeout(self) -> list[Action]:
        """Timeout."""
        own = self.own
        if self.is_leaving:
            return self.leave()
        if own is None:
            return self.join()
        actions = [*self.ring.timeout(own), *self.shortcuts.timeout(own)]
        if self._random.random() < request_probability(own.label, sparse=self._parameters.sparse_requests):
            actions += self._request(own.node)
        if self.ring.left is None and self._random.random() < MINIMAL:
            actions += self._request(own.node)
        return actions

    def set_data(self, message: SetData) -> list[Action]:
        """A configuration: label and direct neighbours are as it says."""
        if message.label is None:
            self.clear()
            return []
        own = Reference(self.ring.node, message.label)
        old = [one for one in self.ring.neighbours() if one.node != own.node]
        self.ring.clear()
        self.ring.label = message.label
        self._adopt(own, message)
        adopted = {one.node for one in self.ring.neighbours()}
        return [action for one in dict.fromkeys(old) if one.node not in adopted for action in self._replace(own, one)]

    def receive(self, sender: NodeId, message: Introduce | Linearize | IntroduceShortcut) -> list[Action]:
        """A reference, for ring or shortcuts."""
        own = self.own
        if own is None:
            return refuse(self.ring.node, self._parameters.supervisor, sender, message)
        match message:
            case Introduce():
                return self.ring.introduced(own, message)
            case Linearize():
                return self.ring.delegated(own, message)
            case IntroduceShortcut():
                return self.shortcuts.introduced(own, message.reference)

    def remove_connections(self, message: RemoveConnections) -> list[Action]:
        """Section 4.1: a node has left the ring."""
        self.ring.remove(message.subscriber)
        self.shortcuts.remove(message.subscriber)
        return []

    def _adopt(self, own: Reference, message: SetData) -> None:
        for one, is_predecessor in ((message.predecessor, True), (message.successor, False)):
            if one is None or one.node == own.node:
                continue
            if (one.key < own.key) != is_predecessor:
                self.ring.ring = one
            elif is_predecessor:
                self.ring.left = one
            else:
                self.ring.right = one

    def _replace(self, own: Reference, old: Reference) -> list[Action]:
        """Action (iii) for a former neighbour that is nearer than those of the configuration, BuildRing for others."""
        before, after = self.ring.predecessor, self.ring.successor
        if before is None or after is None or _is_between(before, old, after):
            return self._request(old.node)
        return self.ring.place(own, old)

    def _request(self, subscriber: NodeId) -> list[Action]:
        return self._ask(GetConfiguration(self.ring.topic, subscriber))

    def _ask(self, message: Subscribe | Unsubscribe | GetConfiguration) -> list[Action]:
        return [Send(self._parameters.supervisor, message)]


def request_probability(label: Label, *, sparse: bool) -> float:
    """Of action (ii)."""
    bits = len(label) + sparse
    return 1 / ((1 << bits) * bits**2)


def _is_between(start: Reference, middle: Reference, end: Reference) -> bool:
    """On the way from `start` to `end`, both included, all the way round if they are the same."""
    way, whole = ((position(one.label) - position(start.label)) % CIRCLE for one in (middle, end))
    return way <= (whole or CIRCLE)
