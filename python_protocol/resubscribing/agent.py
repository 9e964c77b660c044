"""Subscribing anew, on a node."""

from __future__ import annotations

from roambus.python_protocol.brokers.agent import BrokerAgent
from roambus.python_protocol.resubscribing.broker import Broker
from roambus.python_protocol.resubscribing.client import Client


class Resubscribing(BrokerAgent):
    """The baseline that floods subscriptions anew at each migration, with any combination of roles on a node."""

    broker_type = Broker
    client_type = Client
