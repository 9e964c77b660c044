"""Phoenix on a node."""

from __future__ import annotations

from roambus.python_protocol.brokers.agent import BrokerAgent
from roambus.python_protocol.phoenix.broker import Broker
from roambus.python_protocol.phoenix.client import Client
from roambus.python_protocol.phoenix.numbered_broker import NumberedBroker
from roambus.python_protocol.phoenix.numbered_client import NumberedClient
from roambus.python_protocol.phoenix.parameters import PhoenixParameters


class Phoenix(BrokerAgent):
    """Phoenix, for clients that move about a static tree of brokers, with any combination of roles on a node."""

    parameters: PhoenixParameters
    broker_type = NumberedBroker
    client_type = NumberedClient

    def _make_broker(self) -> Broker:
        return (NumberedBroker if self.parameters.number_migrations else Broker)(self.node, self.parameters)

    def _make_client(self) -> Client:
        return (NumberedClient if self.parameters.number_migrations else Client)(self.node, self.parameters)
