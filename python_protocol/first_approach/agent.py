"""The first approach on a node."""

from __future__ import annotations

from roambus.python_protocol.brokers.agent import BrokerAgent
from roambus.python_protocol.first_approach.broker import Broker
from roambus.python_protocol.first_approach.client import Client
from roambus.python_protocol.first_approach.parameters import FirstApproachParameters


class FirstApproach(BrokerAgent):
    """The first approach to mobile publish/subscribe, with any combination of roles on a node."""

    parameters: FirstApproachParameters
    broker_type = Broker
    client_type = Client
