"""Brokers of Phoenix joined by reliable FIFO links; see `tests.python_protocol.brokers.network`."""

from __future__ import annotations

from roambus.extensions.phoenix.broker import NEVER, Broker, Mig, PhoenixParameters, Pub, Rep
from roambus.python_protocol.brokers.routing import Sub, Uns
from roambus.python_protocol.filters import Notification
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.roles import NodeId
from tests.python_protocol.brokers import network
from tests.python_protocol.brokers.network import CLIENTS, describe_filter, describe_node, topic


class Network(network.Network[Broker]):
    """See there."""

    def make(self, node: NodeId) -> Broker:
        return Broker(node, PhoenixParameters())

    def subscribe(self, number: int, broker: NodeId, wanted: int | None = None) -> None:
        """s_number subscribes to f_wanted, f_number without."""
        self.client_sends(CLIENTS + number, broker, Sub(CLIENTS + number, topic(wanted or number)))

    def publication(self, notification: Notification) -> Pub:
        return Pub(NEVER, 1, (), notification)

    def table(self, broker: NodeId) -> list[str]:
        """R_i, sorted, as table 2.3 has it."""
        entries = self.brokers[broker].table
        return sorted(f"{describe_filter(f)} {describe_node(z)} {describe_node(s)}" for f, z, s in entries)

    def describe(self, message: Message) -> str:
        if isinstance(message, Pub | Rep):
            return str(message.notification.id)
        assert isinstance(message, Sub | Uns | Mig)
        return describe_node(message.subscriber)
