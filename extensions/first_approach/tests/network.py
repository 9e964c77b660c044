"""Brokers of the first approach, joined by reliable FIFO links."""

from __future__ import annotations

from roambus.extensions.first_approach.agent import Bmig, Broker, Btab, FirstApproachParameters, Fmig, Mig, Rep
from roambus.python_protocol.brokers.broker import Pub
from roambus.python_protocol.brokers.routing import Sub, Uns
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.roles import NodeId
from tests.python_protocol.brokers import network
from tests.python_protocol.brokers.network import CLIENTS, describe_filter, describe_node, topic


class Network(network.Network[Broker]):
    """Brokers with one set of parameters, in which s_number wants f_number."""

    def __init__(self, *links: tuple[NodeId, NodeId], parameters: FirstApproachParameters | None = None) -> None:
        self.parameters = parameters or FirstApproachParameters(link_layer=False)
        super().__init__(*links)

    def make(self, node: NodeId) -> Broker:
        return Broker(node, self.parameters)

    def subscribe(self, number: int, broker: NodeId) -> None:
        client = CLIENTS + number
        self.client_sends(client, broker, Sub(client, topic(number)))

    def unsubscribe(self, number: int, broker: NodeId) -> None:
        """s_number unsubscribes from f_number at a broker."""
        client = CLIENTS + number
        self.client_sends(client, broker, Uns(client, topic(number)))

    def next_hops(self, number: int) -> dict[NodeId, list[str]]:
        """Where each broker sends what is for s_number."""
        subscriber = CLIENTS + number
        return {
            node: list(map(describe_node, broker.table.interfaces(subscriber))) for node, broker in self.brokers.items()
        }

    def reached(self, number: int) -> list[int]:
        """The sequence numbers of what left a broker for s_number, in their order."""
        messages = [message for client, message in self.to_clients if client == CLIENTS + number]
        return [message.notification.id.sequence for message in messages if isinstance(message, Pub | Rep)]

    def describe(self, message: Message) -> str:
        """As the thesis writes it: "C=[s3] b=b3"."""
        match message:
            case Bmig(broker, subscribers):
                return f"C=[{' '.join(map(describe_node, subscribers))}] b={describe_node(broker)}"
            case Btab(rows):
                listed = (f"({describe_filter(f)},{describe_node(z)},{describe_node(s)})" for z, s, f in rows)
                return f"R=[{' '.join(listed)}]"
            case Mig(subscriber, broker):
                return f"{describe_node(subscriber)} b={describe_node(broker)}"
            case Pub() | Rep():
                return str(message.notification.id)
            case Sub(subscriber, wanted) | Uns(subscriber, wanted):
                return f"{describe_filter(wanted)} {describe_node(subscriber)}"
        assert isinstance(message, Fmig)
        return ""
