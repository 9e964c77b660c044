"""What a node answers to messages about a ring in which it has no place (004, section 4.1, lemma on unsubscribe)."""

from __future__ import annotations

from roambus.python_protocol.actions import Action, Send
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.skip_ring.messages import (
    GetConfiguration,
    Introduce,
    Linearize,
    RemoveConnections,
    SetData,
    TopicMessage,
    Unsubscribe,
)


def refuse(node: NodeId, supervisor: NodeId, sender: NodeId, message: TopicMessage) -> list[Action]:
    """Whoever has a connection to `node` is to delete it; a reference that was handed over goes to the supervisor.

    A supervisor that sends a configuration has it recorded, and is asked to remove it.
    """
    forget = RemoveConnections(message.topic, node)
    match message:
        case RemoveConnections():
            return []
        case SetData():
            return [] if message.label is None else [Send(supervisor, Unsubscribe(message.topic, node))]
        case Introduce():
            return [Send(message.reference.node, forget)]
        case Linearize():
            request = GetConfiguration(message.topic, message.reference.node)
            return [Send(sender, forget), Send(supervisor, request)]
    return [Send(sender, forget)]
