"""Brokers of Simple Routing joined by reliable FIFO links; see `tests.python_protocol.brokers.network`."""

from __future__ import annotations

from roambus.extensions.first_approach.simple import Broker
from roambus.python_protocol.brokers.anonymous import Sub, Uns
from roambus.python_protocol.brokers.broker import BrokerParameters, Pub
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.roles import NodeId
from tests.python_protocol.brokers import network
from tests.python_protocol.brokers.network import CLIENTS, describe_filter, describe_node, topic


class Network(network.Network[Broker]):
    """See there."""

    def make(self, node: NodeId) -> Broker:
        return Broker(node, BrokerParameters())

    def subscribe(self, number: int, broker: NodeId, wanted: int | None = None) -> None:
        """s_number subscribes to f_wanted, f_number without."""
        self.client_sends(CLIENTS + number, broker, Sub(topic(wanted or number)))

    def table(self, broker: NodeId) -> list[str]:
        """R_i, sorted, as table 2.2 has it."""
        entries = self.brokers[broker].table
        return sorted(f"{describe_filter(entry.filter)} {describe_node(entry.interface)}" for entry in entries)

    def describe(self, message: Message) -> str:
        if isinstance(message, Pub):
            return str(message.notification.id)
        assert isinstance(message, Sub | Uns)
        return describe_filter(message.filter)
