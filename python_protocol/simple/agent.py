"""Simple Routing on a node."""

from __future__ import annotations

from roambus.python_protocol.brokers.agent import BrokerAgent
from roambus.python_protocol.simple.broker import Broker
from roambus.python_protocol.simple.client import Client


class Simple(BrokerAgent):
    """Simple Routing, for a system in which nothing moves, with any combination of roles on a node."""

    broker_type = Broker
    client_type = Client
