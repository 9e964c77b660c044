"""Phoenix on a node."""

from __future__ import annotations

from roambus.python_protocol.brokers.agent import SHARED_MESSAGES, BrokerAgent
from roambus.python_protocol.messages.codec import MessageSet
from roambus.python_protocol.phoenix.broker import Broker
from roambus.python_protocol.phoenix.client import Client
from roambus.python_protocol.phoenix.messages import PHOENIX_MESSAGES
from roambus.python_protocol.phoenix.numbered_broker import NumberedBroker
from roambus.python_protocol.phoenix.numbered_client import NumberedClient
from roambus.python_protocol.phoenix.parameters import PhoenixParameters


class Phoenix(BrokerAgent):
    """Phoenix, for clients that move about a static tree of brokers, with any combination of roles on a node."""

    parameters_type = PhoenixParameters
    messages = MessageSet((*SHARED_MESSAGES, *PHOENIX_MESSAGES))
    parameters: PhoenixParameters

    def _make_broker(self) -> Broker:
        return (NumberedBroker if self.parameters.number_migrations else Broker)(self.node, self.parameters)

    def _make_client(self) -> Client:
        return (NumberedClient if self.parameters.number_migrations else Client)(self.node, self.parameters)
