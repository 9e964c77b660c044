"""The first approach on a node."""

from __future__ import annotations

from python_protocol.brokers.agent import SHARED_MESSAGES, BrokerAgent
from python_protocol.codec import MessageSet
from python_protocol.first_approach.broker import Broker
from python_protocol.first_approach.client import Client
from python_protocol.first_approach.messages import FIRST_APPROACH_MESSAGES
from python_protocol.first_approach.parameters import FirstApproachParameters


class FirstApproach(BrokerAgent):
    """The first approach to mobile publish/subscribe, with any combination of roles on a node."""

    parameters_type = FirstApproachParameters
    messages = MessageSet((*SHARED_MESSAGES, *FIRST_APPROACH_MESSAGES))
    broker_type = Broker
    client_type = Client
