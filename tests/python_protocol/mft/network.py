"""Brokers of MFT-PubSub joined by reliable FIFO links; see `tests.python_protocol.brokers.network`."""

from __future__ import annotations

from roambus.python_protocol.brokers.broker import Pub
from roambus.python_protocol.filters import NotificationId
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.mft.broker import Broker
from roambus.python_protocol.mft.messages import Bmig, Bquery, Bsub, Known, MftParameters, Mig, Rep, Sub, Uns
from roambus.python_protocol.roles import NodeId
from tests.python_protocol.brokers import network
from tests.python_protocol.brokers.network import CLIENTS, describe_filter, describe_node, event, topic

__all__ = ["CLIENTS", "Network", "event", "topic"]


class Network(network.Network[Broker]):
    """See there."""

    def __init__(self, *links: tuple[NodeId, NodeId], parameters: MftParameters | None = None) -> None:
        self.parameters = parameters or MftParameters()
        super().__init__(*links)

    def make(self, node: NodeId) -> Broker:
        return Broker(node, self.parameters)

    def subscribe(self, number: int, broker: NodeId, timestamp: int = 1) -> None:
        client = CLIENTS + number
        self.client_sends(client, broker, Sub(client, timestamp, 0, topic(number)))

    def set_uplink(self, node: NodeId, parent: NodeId) -> None:
        """Lets a broker know its parent in a tree that is already there, without messages."""
        self.broker(node).migrate(parent)

    def next_hops(self, number: int) -> dict[NodeId, NodeId | None]:
        """Where each broker sends what is for s_number."""
        return {node: broker.table.next_hop(CLIENTS + number) for node, broker in sorted(self.brokers.items())}

    def reached(self, number: int) -> list[NotificationId]:
        """The notifications that left a broker for s_number, in their order."""
        found: list[NotificationId] = []
        for client, message in self.to_clients:
            if client == CLIENTS + number and isinstance(message, Pub):
                found.append(message.notification.id)
            elif client == CLIENTS + number and isinstance(message, Rep):
                found.extend(notification.id for notification in message.notifications)
        return found

    def describe(self, message: Message) -> str:
        """As the thesis writes it: "C=[(s3,1,1)] O=[] h=0"."""
        match message:
            case Bmig(hops, children, others):
                return f"C={_describe_known(children)} O={_describe_known(others)} h={hops}"
            case Bsub(subscriber, known, hops, filters):
                listed = " ".join(map(describe_filter, filters))
                return f"{describe_node(subscriber)} [{listed}] T=({known.counter},{known.hops}) h={hops}"
            case Bquery(subscriber, known):
                return f"{describe_node(subscriber)} T=({known.counter},{known.hops})"
            case Pub(_, notification):
                return str(notification.id)
            case Rep(subscriber, _, notifications):
                return f"{describe_node(subscriber)} {' '.join(str(notification.id) for notification in notifications)}"
        assert isinstance(message, Sub | Uns | Mig)
        return f"{describe_node(message.subscriber)} t={message.timestamp} h={message.hops}"


def _describe_known(known: tuple[Known, ...]) -> str:
    return (
        "["
        + " ".join(f"({describe_node(known_.subscriber)},{known_.timestamp},{known_.hops})" for known_ in known)
        + "]"
    )
