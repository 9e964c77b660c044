"""A node in the ring of one topic: its part in BuildSR, and its publications (the skip ring's paper, section 4).

A member gives each message to the one of its two parts that takes it. What the parts need of each other goes through
the member: publications are flooded to the subscriber's neighbours.
"""

from __future__ import annotations

from random import Random

from roambus.python_protocol.filters import Notification
from roambus.python_protocol.messages.names import NOBODY, Names
from roambus.python_protocol.notes import OVERLAY
from roambus.python_protocol.process import Process, on
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime
from roambus.python_protocol.skip_ring.messages import PublishNew, SetData, Topic, TopicMessage
from roambus.python_protocol.skip_ring.parameters import SkipRingParameters
from roambus.python_protocol.skip_ring.publications import Publications
from roambus.python_protocol.skip_ring.references import describe_reference
from roambus.python_protocol.skip_ring.subscriber import Subscriber


class Member(Process):
    """One BuildSR instance of a node, with its trie."""

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
        self.subscriber = Subscriber(node, topic, parameters, random, of=self)
        self.publications = Publications(topic, parameters, random, of=self)
        self._floods_shortcuts = parameters.flood_shortcuts
        self._noted: tuple[object, ...] = ()
        self._notes = 0

    # Messages and Timeout

    @on(*Subscriber.heard())
    def build(self, message: TopicMessage, sender: NodeId, now: SimTime) -> None:
        """Gives the subscriber what ring and shortcuts are made of."""
        self.subscriber.hear(message, sender, now)

    @on(*Publications.heard())
    def compare(self, message: TopicMessage, sender: NodeId, now: SimTime) -> None:
        """Gives the publications what tries are compared by."""
        self.publications.hear(message, sender, now)

    @on(SetData)
    def configure(self, message: SetData, sender: NodeId, now: SimTime) -> None:
        """Gives the subscriber its configuration, and floods what had to wait for neighbours."""
        self.subscriber.configure(message)
        self.publications.flood(self.neighbours())

    @on(PublishNew)
    def publish_new(self, message: PublishNew, sender: NodeId, now: SimTime) -> None:
        """Gives the publications a new one, which goes on to the other neighbours (section 4.3)."""
        self.publications.publish_new(message, sender, self.neighbours())

    def timeout(self) -> None:
        """Carries out Timeout of both parts."""
        self.subscriber.timeout()
        self.publications.timeout(self.subscriber.ring_neighbours())

    def publish(self, publication: Notification) -> None:
        """Publishes for the application."""
        self.publications.publish(publication, self.neighbours())

    def neighbours(self) -> list[NodeId]:
        """The nodes to which publications are flooded."""
        nodes = [one.node for one in self.subscriber.ring.neighbours()]
        if self._floods_shortcuts:
            nodes += [node for node in self.subscriber.shortcuts.nodes.values() if node is not None]
        return [node for node in dict.fromkeys(nodes) if node != self.subscriber.ring.node]

    # What traces and transcripts show

    def note_changes(self) -> None:
        """Writes a row into the trace, if label or edges are others than in the last one."""
        ring = self.subscriber.ring
        state = (ring.label, ring.left, ring.right, ring.ring, *self.subscriber.shortcuts.nodes.items())
        if state != self._noted:
            self._noted = state
            self._notes += 1
            self.note(OVERLAY, detail=self._describe())

    def listing_row(self, names: Names) -> tuple[str, ...]:
        """Topic, label, left, right, ring and shortcuts."""
        ring = self.subscriber.ring
        edges = [describe_reference(one, names) for one in (ring.left, ring.right, ring.ring)]
        shortcuts = self.subscriber.shortcuts.nodes.items()
        known = " ".join(f"{names.node(node)}:{label}" for label, node in shortcuts)
        return (str(self.topic), ring.label or NOBODY, *edges, known or NOBODY)

    def _describe(self) -> str:
        """How many notes there were, label, left, right, ring, shortcuts with commas between them, topic."""
        ring = self.subscriber.ring
        edges = " ".join(NOBODY if one is None else str(one.node) for one in (ring.left, ring.right, ring.ring))
        shortcuts = ",".join(
            f"{label}:{NOBODY if node is None else node}" for label, node in self.subscriber.shortcuts.nodes.items()
        )
        return f"{self._notes} {ring.label or NOBODY} {edges} {shortcuts or NOBODY} {self.topic}"
