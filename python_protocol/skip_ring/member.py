"""A node in the ring of one topic: its part in BuildSR, and its publications (004, section 4)."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from roambus.python_protocol.actions import Action, Note
from roambus.python_protocol.filters import Notification
from roambus.python_protocol.messages.names import NOBODY, Names
from roambus.python_protocol.notes import OVERLAY
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.skip_ring.messages import (
    CheckAndPublish,
    CheckTrie,
    Introduce,
    IntroduceShortcut,
    Linearize,
    Publish,
    PublishNew,
    RemoveConnections,
    SetData,
    Topic,
    TopicMessage,
)
from roambus.python_protocol.skip_ring.parameters import SkipRingParameters
from roambus.python_protocol.skip_ring.publications import Publications
from roambus.python_protocol.skip_ring.references import describe_reference
from roambus.python_protocol.skip_ring.subscriber import Subscriber


class Member:
    """One BuildSR instance of a node, with its trie."""

    def __init__(self, node: NodeId, topic: Topic, parameters: SkipRingParameters, random: Random) -> None:
        self.topic = topic
        self.subscriber = Subscriber(node, topic, parameters, random)
        self.publications = Publications(topic, parameters, random)
        self._floods_shortcuts = parameters.flood_shortcuts
        self._noted: tuple[object, ...] = ()
        self._notes = 0
        subscriber, publications = self.subscriber, self.publications
        self._handlers: dict[type[TopicMessage], Callable[[NodeId, Any], list[Action]]] = {
            SetData: self._set_data,
            Introduce: subscriber.receive,
            Linearize: subscriber.receive,
            IntroduceShortcut: subscriber.receive,
            RemoveConnections: lambda _, message: subscriber.remove_connections(message),
            CheckTrie: publications.check,
            CheckAndPublish: publications.check_and_publish,
            Publish: lambda _, message: publications.receive(message),
            PublishNew: lambda sender, message: publications.publish_new(sender, message, self.neighbours()),
        }

    def receive(self, sender: NodeId, message: TopicMessage) -> list[Action]:
        """A message about this topic."""
        return self._handlers[type(message)](sender, message)

    def timeout(self) -> list[Action]:
        """Timeout of all parts."""
        actions = self.subscriber.timeout()
        return [*actions, *self.publications.timeout(self.subscriber.ring_neighbours())]

    def publish(self, publication: Notification) -> list[Action]:
        """The application publishes."""
        return self.publications.publish(publication, self.neighbours())

    def neighbours(self) -> list[NodeId]:
        """Those to whom flooding goes."""
        nodes = [one.node for one in self.subscriber.ring.neighbours()]
        if self._floods_shortcuts:
            nodes += [node for node in self.subscriber.shortcuts.nodes.values() if node is not None]
        return [node for node in dict.fromkeys(nodes) if node != self.subscriber.ring.node]

    def note_changes(self) -> list[Action]:
        """A row of the trace, if label or edges are others than in the last one."""
        ring = self.subscriber.ring
        state = (ring.label, ring.left, ring.right, ring.ring, *self.subscriber.shortcuts.nodes.items())
        if state == self._noted:
            return []
        self._noted = state
        self._notes += 1
        return [Note(OVERLAY, detail=self._describe())]

    def listing_row(self, names: Names) -> tuple[str, ...]:
        """Topic, label, left, right, ring, shortcuts."""
        ring = self.subscriber.ring
        edges = [describe_reference(one, names) for one in (ring.left, ring.right, ring.ring)]
        shortcuts = self.subscriber.shortcuts.nodes.items()
        known = " ".join(f"{names.node(node)}:{label}" for label, node in shortcuts)
        return (str(self.topic), ring.label or NOBODY, *edges, known or NOBODY)

    def _set_data(self, _: NodeId, message: SetData) -> list[Action]:
        actions = self.subscriber.set_data(message)
        return [*actions, *self.publications.flood(self.neighbours())]

    def _describe(self) -> str:
        """How many notes there were, label, left, right, ring, shortcuts with commas between them, topic."""
        ring = self.subscriber.ring
        edges = " ".join(NOBODY if one is None else str(one.node) for one in (ring.left, ring.right, ring.ring))
        shortcuts = ",".join(
            f"{label}:{NOBODY if node is None else node}" for label, node in self.subscriber.shortcuts.nodes.items()
        )
        return f"{self._notes} {ring.label or NOBODY} {edges} {shortcuts or NOBODY} {self.topic}"
