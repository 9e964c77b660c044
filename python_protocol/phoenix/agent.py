"""Phoenix on a node."""

from __future__ import annotations

from python_protocol.brokers.agent import SHARED_MESSAGES, BrokerAgent
from python_protocol.codec import MessageSet
from python_protocol.phoenix.broker import Broker
from python_protocol.phoenix.client import Client
from python_protocol.phoenix.messages import PHOENIX_MESSAGES
from python_protocol.phoenix.parameters import PhoenixParameters


class Phoenix(BrokerAgent):
    """Phoenix, for clients that move about a static tree of brokers, with any combination of roles on a node."""

    parameters_type = PhoenixParameters
    messages = MessageSet((*SHARED_MESSAGES, *PHOENIX_MESSAGES))
    broker_type = Broker
    client_type = Client
