"""What a node answers to messages about a ring in which it has no place (the skip ring's paper, section 4.1).

The lemma on unsubscribe says that whoever has a connection to such a node is to delete it, and so it is told. Two more
things are ours: a reference that was handed over is not lost, because it goes to the supervisor; and a supervisor that
sends a configuration has the node recorded, and is asked to remove it.
"""

from __future__ import annotations

from roambus.python_protocol.process import Process, on
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime
from roambus.python_protocol.skip_ring.messages import (
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
    TopicMessage,
    Unsubscribe,
)


class Outsider(Process):
    """A node outside the ring; it does not answer a RemoveConnections, which concerns those inside only."""

    def __init__(self, node: NodeId, supervisor: NodeId, of: Process | None = None) -> None:
        super().__init__(of)
        self.node = node
        self.supervisor = supervisor

    @on(SetData)
    def configured(self, message: SetData, sender: NodeId, now: SimTime) -> None:
        """Asks the supervisor to remove it, unless the message is the permission to go."""
        if message.label is not None:
            self.send(self.supervisor, Unsubscribe(message.topic, self.node))

    @on(Introduce)
    def introduced(self, message: Introduce, sender: NodeId, now: SimTime) -> None:
        """Has the node that introduced itself delete its connection."""
        self._disconnect(message.reference.node, message)

    @on(Linearize)
    def delegated(self, message: Linearize, sender: NodeId, now: SimTime) -> None:
        """Has the sender delete its connection, and the supervisor configure the node that was delegated."""
        self._disconnect(sender, message)
        self.send(self.supervisor, GetConfiguration(message.topic, message.reference.node))

    @on(IntroduceShortcut, CheckTrie, CheckAndPublish, Publish, PublishNew)
    def addressed(self, message: TopicMessage, sender: NodeId, now: SimTime) -> None:
        """Has the sender delete its connection."""
        self._disconnect(sender, message)

    def _disconnect(self, node: NodeId, message: TopicMessage) -> None:
        self.send(node, RemoveConnections(message.topic, self.node))
