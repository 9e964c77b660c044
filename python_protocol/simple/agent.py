"""Simple Routing on a node."""

from __future__ import annotations

from roambus.python_protocol.brokers.agent import SHARED_MESSAGES, BrokerAgent
from roambus.python_protocol.brokers.parameters import BrokerParameters
from roambus.python_protocol.messages.codec import MessageSet
from roambus.python_protocol.simple.broker import Broker
from roambus.python_protocol.simple.client import Client
from roambus.python_protocol.simple.messages import SIMPLE_MESSAGES


class Simple(BrokerAgent):
    """Simple Routing, for a system in which nothing moves, with any combination of roles on a node."""

    parameters_type = BrokerParameters
    messages = MessageSet((*SHARED_MESSAGES, *SIMPLE_MESSAGES))
    broker_type = Broker
    client_type = Client
