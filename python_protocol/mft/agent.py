"""MFT-PubSub on a node."""

from __future__ import annotations

from roambus.python_protocol.brokers.agent import BrokerAgent
from roambus.python_protocol.mft.broker import Broker
from roambus.python_protocol.mft.client import Client
from roambus.python_protocol.mft.parameters import MftParameters


class MftPubSub(BrokerAgent):
    """Mobile, fault tolerant publish/subscribe, with any combination of roles on a node."""

    parameters: MftParameters
    broker_type = Broker
    client_type = Client
