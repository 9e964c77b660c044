"""A subscriber in one topic's ring: its part in BuildSR (sections 3.2, 4 and 4.1).

Actions request a configuration (section 3.2.1): (i) without a label, (ii) at random, (iii) for a former neighbour
nearer than the configured ones, (iv) at random without a left neighbour. (ii) has probability 1 / (2^k k^2) for k bits,
(iv) 1/2; `sparse_requests` takes k + 1, else the lemma's bound fails. By `ask_first` a named node asks itself; else a
departed node stays recorded. By `doubt_silence` a silent left neighbour counts as none for (iv).
"""

from __future__ import annotations

from random import Random

from roambus.extensions.skip_ring.labels import CIRCLE, Label, Reference, position
from roambus.extensions.skip_ring.messages import (
    OVERLAY,
    CheckAndPublish,
    CheckTrie,
    GetConfiguration,
    Introduce,
    IntroduceShortcut,
    Linearize,
    Publish,
    PublishNew,
    RemoveConnections,
    SetData,
    SkipRingParameters,
    Subscribe,
    Topic,
    TopicMessage,
    Unsubscribe,
)
from roambus.extensions.skip_ring.publications import Publications
from roambus.extensions.skip_ring.ring import BuildRing, Shortcuts
from roambus.python_protocol.agent import Process, heard_by, on
from roambus.python_protocol.filters import Notification
from roambus.python_protocol.messages.fields import NOBODY, Names
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime

MINIMAL = 0.5
"""The probability of action (iv)."""
PATIENCE = 3
"""Rounds with at least one introduction by a neighbour."""


def request_probability(label: Label, *, sparse: bool) -> float:
    """Return the probability of action (ii)."""
    bits = len(label) + sparse
    return 1 / ((1 << bits) * bits**2)


class Subscriber(Process):
    """v in the ring of one topic."""

    def __init__(
        self,
        node: NodeId,
        topic: Topic,
        parameters: SkipRingParameters,
        random: Random,
        of: Process | None = None,
    ) -> None:
        super().__init__(of)
        self.topic = topic
        self.ring = BuildRing(node, topic, parameters, of=self)
        self.shortcuts = Shortcuts(self.ring, of=self)
        self.publications = Publications(topic, parameters, random, of=self)
        self.is_leaving = False
        self._left: NodeId | None = None
        self._silent_rounds = 0
        self._noted: tuple[object, ...] = ()
        self._notes = 0
        self._outsider = Outsider(node, parameters.supervisor, of=self)
        self._parameters = parameters
        self._random = random

    @property
    def own(self) -> Reference | None:
        """The node with its label, if it has one."""
        return None if self.ring.label is None else Reference(self.ring.node, self.ring.label)

    def neighbours(self) -> list[NodeId]:
        """The nodes to flood publications to."""
        nodes: list[NodeId | None] = [neighbour.node for neighbour in self.ring.neighbours()]
        if self._parameters.flood_shortcuts:
            nodes += self.shortcuts.nodes.values()
        return [node for node in dict.fromkeys(nodes) if node is not None and node != self.ring.node]

    def clear(self) -> None:
        """Delete all connections and the label (section 4.1)."""
        self.ring.clear()
        self.shortcuts.nodes.clear()

    def publish(self, publication: Notification) -> None:
        """Publishes for the application."""
        self.publications.publish(publication, self.neighbours())

    # Requests and Timeout

    def join(self) -> None:
        """Ask for a place (section 4.1; action (i))."""
        self.is_leaving = False
        self._ask(Subscribe(self.topic, self.ring.node))

    def leave(self) -> None:
        """Ask for removal, and stay until permitted to go."""
        self.is_leaving = True
        self._ask(Unsubscribe(self.topic, self.ring.node))

    def confirm(self) -> None:
        """Request a configuration: another node named this one."""
        if not self.is_leaving:
            self._request(self.ring.node)

    def timeout(self) -> None:
        """Carry out Timeout: actions (i), (ii) and (iv), ring, shortcuts and trie."""
        own = self.own
        # Both are requested again each round, because the request, or its answer, may have met a corrupted state.
        if self.is_leaving:
            self.leave()
        elif own is None:
            self.join()
        else:
            self.ring.timeout(own)
            self._count_silence()
            self.shortcuts.timeout(own)
            self._request_at_random(own)
        self.publications.timeout([neighbour.node for neighbour in self.ring.direct_neighbours()])

    def _count_silence(self) -> None:
        """Count the rounds of silence of the left neighbour."""
        left = self.ring.left and self.ring.left.node
        self._silent_rounds = self._silent_rounds + 1 if left == self._left else 0
        self._left = left

    def _request_at_random(self, own: Reference) -> None:
        """Actions (ii) and (iv)."""
        if self._random.random() < request_probability(own.label, sparse=self._parameters.sparse_requests):
            self._request(own.node)
        is_silent = self._left is not None and self._silent_rounds > PATIENCE
        may_be_first = self.ring.left is None or (self._parameters.doubt_silence and is_silent)
        if may_be_first and self._random.random() < MINIMAL:
            self._request(own.node)

    # Messages

    @on(SetData)
    def configure(self, message: SetData, sender: NodeId, now: SimTime) -> None:
        """Take a configuration, replace neighbours, and flood waiting publications."""
        if message.label is None:
            self.clear()
        else:
            own = Reference(self.ring.node, message.label)
            # Merged with the former neighbours instead, one that has crashed would stay for ever (section 5, lemma on
            # ring closure).
            old = [neighbour for neighbour in self.ring.neighbours() if neighbour.node != own.node]
            self.ring.clear()
            self.ring.label = message.label
            self._adopt(own, message)
            adopted = {neighbour.node for neighbour in self.ring.neighbours()}
            for neighbour in dict.fromkeys(old):
                if neighbour.node not in adopted:
                    self._replace(own, neighbour)
        self.publications.flood(self.neighbours())

    def _adopt(self, own: Reference, message: SetData) -> None:
        """Store the neighbours; one on the wrong side is the list's other end."""
        for reference, is_predecessor in ((message.predecessor, True), (message.successor, False)):
            if reference is None or reference.node == own.node:
                continue
            if (reference.key < own.key) != is_predecessor:
                self.ring.ring = reference
            elif is_predecessor:
                self.ring.left = reference
            else:
                self.ring.right = reference

    def _replace(self, own: Reference, old: Reference) -> None:
        """Carry out action (iii) for a nearer former neighbour, else BuildRing."""
        before, after = self.ring.predecessor, self.ring.successor
        if before is None or after is None or _is_between(before, old, after):
            self._request(old.node)
        else:
            self.ring.place(own, old)

    @on(Introduce)
    def introduced(self, message: Introduce, sender: NodeId, now: SimTime) -> None:
        """Take an introduced node (section 2.2)."""
        if message.reference.node == self._left:
            self._silent_rounds = 0
        if own := self._own_or_refuse(message, sender, now):
            self.ring.introduced(own, message)

    @on(Linearize)
    def delegated(self, message: Linearize, sender: NodeId, now: SimTime) -> None:
        """Take a delegated node (section 2.2)."""
        if own := self._own_or_refuse(message, sender, now):
            self.ring.delegated(own, message)

    @on(IntroduceShortcut)
    def shortcut_introduced(self, message: IntroduceShortcut, sender: NodeId, now: SimTime) -> None:
        """Take a shortcut's node (section 3.2.2)."""
        if own := self._own_or_refuse(message, sender, now):
            self.shortcuts.introduced(own, message.reference)

    @on(RemoveConnections)
    def remove_connections(self, message: RemoveConnections, sender: NodeId, now: SimTime) -> None:
        """Forget a node outside the ring (section 4.1, lemma on unsubscribe)."""
        self.ring.remove(message.subscriber)
        self.shortcuts.remove(message.subscriber)

    @on(PublishNew)
    def publish_new(self, message: PublishNew, sender: NodeId, now: SimTime) -> None:
        """Take a new publication, and flood it (section 4.3)."""
        self.publications.publish_new(message, sender, self.neighbours())

    @on(*heard_by(Publications))
    def compare(self, message: TopicMessage, sender: NodeId, now: SimTime) -> None:
        """Compare tries (section 4.2)."""
        self.publications._handle_message(message, sender, now)

    # Helpers

    def _own_or_refuse(self, message: TopicMessage, sender: NodeId, now: SimTime) -> Reference | None:
        """Return the labelled node, or answer as one outside the ring."""
        own = self.own
        if own is None:
            self._outsider._handle_message(message, sender, now)
        return own

    def _request(self, subscriber: NodeId) -> None:
        self._ask(GetConfiguration(self.topic, subscriber))

    def _ask(self, message: Subscribe | Unsubscribe | GetConfiguration) -> None:
        self.send(self._parameters.supervisor, message)

    # What traces and transcripts show

    def note_changes(self) -> None:
        """Note changed labels and edges in the trace."""
        ring, shortcuts = self.ring, tuple(self.shortcuts.nodes.items())
        state = (ring.label, ring.left, ring.right, ring.ring, *shortcuts)
        if state == self._noted:
            return
        self._noted = state
        self._notes += 1
        left, right, closing = (neighbour and neighbour.node for neighbour in (ring.left, ring.right, ring.ring))
        nodes = [NOBODY if node is None else str(node) for node in (left, right, closing)]
        far = ",".join(f"{place}:{NOBODY if node is None else node}" for place, node in shortcuts) or NOBODY
        self.note(OVERLAY, detail=" ".join([str(self._notes), ring.label or NOBODY, *nodes, far, str(self.topic)]))

    def listing_row(self, names: Names) -> tuple[str, ...]:
        """Topic, label, left, right, ring and shortcuts."""
        known = " ".join(f"{names.node(node)}:{label}" for label, node in self.shortcuts.nodes.items())
        return (str(self.topic), self.ring.label or NOBODY, *self.ring.describe(names), known or NOBODY)


def _is_between(start: Reference, middle: Reference, end: Reference) -> bool:
    """Whether `middle` is on the way from `start` to `end`, or round the circle if equal."""
    way, whole = ((position(reference.label) - position(start.label)) % CIRCLE for reference in (middle, end))
    return way <= (whole or CIRCLE)


class Outsider(Process):
    """A node outside the ring. RemoveConnections concerns only those inside."""

    def __init__(self, node: NodeId, supervisor: NodeId, of: Process | None = None) -> None:
        super().__init__(of)
        self._node = node
        self._supervisor = supervisor

    @on(SetData)
    def configured(self, message: SetData, sender: NodeId, now: SimTime) -> None:
        """Ask the supervisor for removal, unless permitted to go."""
        if message.label is not None:
            self.send(self._supervisor, Unsubscribe(message.topic, self._node))

    @on(Introduce, Linearize, IntroduceShortcut, CheckTrie, CheckAndPublish, Publish, PublishNew)
    def addressed(self, message: TopicMessage, sender: NodeId, now: SimTime) -> None:
        """Have the sender disconnect; send delegated nodes to the supervisor."""
        connected = message.reference.node if isinstance(message, Introduce) else sender
        self.send(connected, RemoveConnections(message.topic, self._node))
        if isinstance(message, Linearize):
            self.send(self._supervisor, GetConfiguration(message.topic, message.reference.node))
