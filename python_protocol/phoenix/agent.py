"""Phoenix on a node."""

from __future__ import annotations

from python_protocol.brokers.agent import SHARED_MESSAGES, BrokerAgent
from python_protocol.codec import MessageSet
from python_protocol.phoenix.broker import Broker
from python_protocol.phoenix.client import Client
from python_protocol.phoenix.messages import PHOENIX_MESSAGES
from python_protocol.phoenix.numbered_broker import NumberedBroker
from python_protocol.phoenix.numbered_client import NumberedClient
from python_protocol.phoenix.parameters import PhoenixParameters


class Phoenix(BrokerAgent):
    """Phoenix, for clients that move about a static tree of brokers, with any combination of roles on a node."""

    parameters_type = PhoenixParameters
    messages = MessageSet((*SHARED_MESSAGES, *PHOENIX_MESSAGES))
    parameters: PhoenixParameters

    def _make_broker(self) -> Broker:
        return (NumberedBroker if self.parameters.number_migrations else Broker)(self.node, self.parameters)

    def _make_client(self) -> Client:
        return (NumberedClient if self.parameters.number_migrations else Client)(self.node, self.parameters)
