"""One broker, b1, for tests rule by rule: it has the neighbours b2, b3 and b4; s1 is node 101, s2 is node 102."""

from __future__ import annotations

from roambus.python_protocol.actions import Action, Note, Send
from roambus.python_protocol.filters import Filter
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.mft.broker import Broker
from roambus.python_protocol.mft.messages import MftParameters, Timestamp
from roambus.python_protocol.roles import NodeId

S1, S2, S3 = 101, 102, 103
STRANGER = 9


def make_broker(parameters: MftParameters | None = None) -> Broker:
    made = Broker(1, parameters or MftParameters())
    made.neighbours = dict.fromkeys((2, 3, 4))
    return made


def knows(broker: Broker, subscriber: NodeId, via: NodeId, timestamp: Timestamp, *filters: Filter) -> None:
    """Puts (f, via, subscriber) and T in the table."""
    route = broker.table.update(subscriber, via, timestamp)
    route.filters = dict.fromkeys(filters)


def sends(actions: list[Action]) -> list[tuple[NodeId, Message]]:
    return [(action.destination, action.message) for action in actions if isinstance(action, Send)]


def notes(actions: list[Action], name: str) -> list[tuple[str | None, NodeId | None]]:
    return [
        (action.notification_id, action.peer) for action in actions if isinstance(action, Note) and action.name == name
    ]


def stored(broker: Broker, subscriber: NodeId) -> list[int]:
    """The sequence numbers of what is stored for a subscriber; takes them out."""
    return [notification.id.sequence for notification in broker.storage.take(subscriber)]
