"""The first approach on a node."""

from __future__ import annotations

from roambus.python_protocol.brokers.agent import SHARED_MESSAGES, BrokerAgent
from roambus.python_protocol.first_approach.broker import Broker
from roambus.python_protocol.first_approach.client import Client
from roambus.python_protocol.first_approach.messages import FIRST_APPROACH_MESSAGES
from roambus.python_protocol.first_approach.parameters import FirstApproachParameters
from roambus.python_protocol.messages.codec import MessageSet


class FirstApproach(BrokerAgent):
    """The first approach to mobile publish/subscribe, with any combination of roles on a node."""

    parameters_type = FirstApproachParameters
    messages = MessageSet((*SHARED_MESSAGES, *FIRST_APPROACH_MESSAGES))
    broker_type = Broker
    client_type = Client
