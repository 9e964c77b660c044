"""Simple Routing on a node."""

from __future__ import annotations

from python_protocol.brokers.agent import SHARED_MESSAGES, BrokerAgent
from python_protocol.brokers.parameters import BrokerParameters
from python_protocol.codec import MessageSet
from python_protocol.simple.broker import Broker
from python_protocol.simple.client import Client
from python_protocol.simple.messages import SIMPLE_MESSAGES


class Simple(BrokerAgent):
    """Simple Routing, for a system in which nothing moves, with any combination of roles on a node."""

    parameters_type = BrokerParameters
    messages = MessageSet((*SHARED_MESSAGES, *SIMPLE_MESSAGES))
    broker_type = Broker
    client_type = Client
