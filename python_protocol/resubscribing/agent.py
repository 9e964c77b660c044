"""Subscribing anew, on a node."""

from __future__ import annotations

from roambus.python_protocol.brokers.agent import SHARED_MESSAGES, BrokerAgent
from roambus.python_protocol.brokers.messages import Pub, Sub, Uns
from roambus.python_protocol.brokers.parameters import BrokerParameters
from roambus.python_protocol.messages.codec import MessageSet
from roambus.python_protocol.resubscribing.broker import Broker
from roambus.python_protocol.resubscribing.client import Client


class Resubscribing(BrokerAgent):
    """The baseline that floods subscriptions anew at each migration, with any combination of roles on a node."""

    parameters_type = BrokerParameters
    messages = MessageSet((*SHARED_MESSAGES, Sub, Uns, Pub))
    broker_type = Broker
    client_type = Client
