"""MFT-PubSub on a node."""

from __future__ import annotations

from python_protocol.brokers.agent import SHARED_MESSAGES, BrokerAgent
from python_protocol.codec import MessageSet
from python_protocol.mft.broker import Broker
from python_protocol.mft.client import Client
from python_protocol.mft.messages import MFT_MESSAGES
from python_protocol.mft.parameters import MftParameters


class MftPubSub(BrokerAgent):
    """Mobile, fault tolerant publish/subscribe, with any combination of roles on a node."""

    parameters_type = MftParameters
    messages = MessageSet((*SHARED_MESSAGES, *MFT_MESSAGES))
    broker_type = Broker
    client_type = Client
