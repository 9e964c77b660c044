"""A subscriber's part of BuildSR, for one topic (the skip ring's paper, sections 3.2 and 4.1).

A subscriber gets its label by the four actions of section 3.2.1, which ask the supervisor for a configuration: (i) if
it has no label, (ii) at random, the more seldom the longer its label is, (iii) for a former neighbour that is nearer
than those of a configuration, (iv) at random if it has no left neighbour. It makes the ring by the extended BuildRing
(`build_ring`), and the shortcuts out of the ring (`shortcuts`).

The text leaves some things open:

- *Who has asked for itself is recorded.* To the letter, action (iii) records the neighbour that is asked for. If that
  has just left, it is recorded, introduced to others, and asked for again by them: with delays longer than a round for
  ever. By `ask_first` the supervisor asks it first, and it answers by asking for itself.
- *A left neighbour that is silent* counts as none for action (iv), by `doubt_silence` (`silence`).
- *Probabilities*, which it lost: (ii) has 1 / (2^k k^2) for a label of k bits, (iv) has 1/2. There are two labels of
  one bit, so that (ii) alone comes to 1.3 requests a round among many, though the lemma of section 3.2.1 says below 1;
  `sparse_requests` takes k + 1 for k.
- *A configuration replaces the neighbours.* A former neighbour that is nearer than the new one, or has its label, is
  what action (iii) asks the supervisor for; one that is farther is placed by BuildRing. So nobody is lost, and a node
  that has crashed does not stay.
- *A reference that comes to a node without a label* goes to the supervisor, by a request for its configuration; the
  node itself answers by RemoveConnections (`refusal`).
"""

from __future__ import annotations

from random import Random

from roambus.python_protocol.process import Process, on
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime
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
from roambus.python_protocol.skip_ring.refusal import Outsider
from roambus.python_protocol.skip_ring.shortcuts import Shortcuts
from roambus.python_protocol.skip_ring.silence import Silence

MINIMAL = 0.5
"""The probability of action (iv)."""


class Subscriber(Process):
    """v, or rather its part in the ring of one topic."""

    def __init__(
        self,
        node: NodeId,
        topic: Topic,
        parameters: SkipRingParameters,
        random: Random,
        of: Process | None = None,
    ) -> None:
        super().__init__(of)
        self.ring = BuildRing(
            node, topic, check_labels=parameters.check_labels, probe_ends=parameters.probe_ends, of=self
        )
        self.shortcuts = Shortcuts(self.ring, of=self)
        self.is_leaving = False
        self._silence = Silence()
        self._outsider = Outsider(node, parameters.supervisor, of=self)
        self._parameters = parameters
        self._random = random

    @property
    def own(self) -> Reference | None:
        """The node with its label, if it has one."""
        return None if self.ring.label is None else Reference(self.ring.node, self.ring.label)

    def ring_neighbours(self) -> list[NodeId]:
        """Both direct ring neighbours; if there is only one, it is there twice."""
        direct = (self.ring.predecessor, self.ring.successor)
        return [one.node for one in direct if one is not None]

    def clear(self) -> None:
        """Deletes all connections."""
        self.ring.clear()
        self.shortcuts.nodes.clear()

    # Requests

    def join(self) -> None:
        """Asks to be integrated (section 4.1; action (i))."""
        self.is_leaving = False
        self._ask(Subscribe(self.ring.topic, self.ring.node))

    def leave(self) -> None:
        """Asks to be removed, and stays in the ring until that is permitted."""
        self.is_leaving = True
        self._ask(Unsubscribe(self.ring.topic, self.ring.node))

    def confirm(self) -> None:
        """Asks for its configuration, because the supervisor, which another has asked for it, wants to know."""
        if not self.is_leaving:
            self._request(self.ring.node)

    def timeout(self) -> None:
        """Carries out Timeout: actions (i), (ii) and (iv), and the rounds of ring and shortcuts."""
        own = self.own
        if self.is_leaving:
            self.leave()
        elif own is None:
            self.join()
        else:
            self.ring.timeout(own)
            self._silence.count(None if self.ring.left is None else self.ring.left.node)
            self.shortcuts.timeout(own)
            self._request_at_random(own)

    # Messages

    def configure(self, message: SetData) -> None:
        """Takes label and direct neighbours from a configuration; a former neighbour is replaced, and not forgotten."""
        if message.label is None:
            self.clear()
            return
        own = Reference(self.ring.node, message.label)
        old = [one for one in self.ring.neighbours() if one.node != own.node]
        self.ring.clear()
        self.ring.label = message.label
        self._adopt(own, message)
        adopted = {one.node for one in self.ring.neighbours()}
        for one in dict.fromkeys(old):
            if one.node not in adopted:
                self._replace(own, one)

    @on(Introduce)
    def introduced(self, message: Introduce, sender: NodeId, now: SimTime) -> None:
        """Gives the ring a node that has introduced itself (section 2.2)."""
        self._silence.hear(message.reference.node)
        own = self.own
        if own is None:
            self._outsider.hear(message, sender, now)
        else:
            self.ring.introduced(own, message)

    @on(Linearize)
    def delegated(self, message: Linearize, sender: NodeId, now: SimTime) -> None:
        """Gives the ring a node that another has delegated (section 2.2)."""
        own = self.own
        if own is None:
            self._outsider.hear(message, sender, now)
        else:
            self.ring.delegated(own, message)

    @on(IntroduceShortcut)
    def shortcut_introduced(self, message: IntroduceShortcut, sender: NodeId, now: SimTime) -> None:
        """Gives the shortcuts a node (section 3.2.2)."""
        own = self.own
        if own is None:
            self._outsider.hear(message, sender, now)
        else:
            self.shortcuts.introduced(own, message.reference)

    @on(RemoveConnections)
    def remove_connections(self, message: RemoveConnections, sender: NodeId, now: SimTime) -> None:
        """Forgets a node that is not in the ring (section 4.1, lemma on unsubscribe)."""
        self.ring.remove(message.subscriber)
        self.shortcuts.remove(message.subscriber)

    # Helpers

    def _adopt(self, own: Reference, message: SetData) -> None:
        """Stores the neighbours of a configuration; one that is on the wrong side is the other end of the list."""
        for one, is_predecessor in ((message.predecessor, True), (message.successor, False)):
            if one is None or one.node == own.node:
                continue
            if (one.key < own.key) != is_predecessor:
                self.ring.ring = one
            elif is_predecessor:
                self.ring.left = one
            else:
                self.ring.right = one

    def _replace(self, own: Reference, old: Reference) -> None:
        """Action (iii) for a former neighbour that is nearer than those of the configuration, BuildRing for others."""
        before, after = self.ring.predecessor, self.ring.successor
        if before is None or after is None or _is_between(before, old, after):
            self._request(old.node)
        else:
            self.ring.place(own, old)

    def _request_at_random(self, own: Reference) -> None:
        """Actions (ii) and (iv)."""
        if self._random.random() < request_probability(own.label, sparse=self._parameters.sparse_requests):
            self._request(own.node)
        if self._may_be_first() and self._random.random() < MINIMAL:
            self._request(own.node)

    def _may_be_first(self) -> bool:
        """Whether there is no left neighbour, or, by `doubt_silence`, none that is heard."""
        return self.ring.left is None or (self._parameters.doubt_silence and self._silence.is_long)

    def _request(self, subscriber: NodeId) -> None:
        self._ask(GetConfiguration(self.ring.topic, subscriber))

    def _ask(self, message: Subscribe | Unsubscribe | GetConfiguration) -> None:
        self.send(self._parameters.supervisor, message)


def request_probability(label: Label, *, sparse: bool) -> float:
    """The probability of action (ii)."""
    bits = len(label) + sparse
    return 1 / ((1 << bits) * bits**2)


def _is_between(start: Reference, middle: Reference, end: Reference) -> bool:
    """On the way from `start` to `end`, both included, which is all the way round if they are the same."""
    way, whole = ((position(one.label) - position(start.label)) % CIRCLE for one in (middle, end))
    return way <= (whole or CIRCLE)
