"""MFT-PubSub on a node: its broker and its client, put together as every protocol with brokers is."""

from __future__ import annotations

from roambus.python_protocol.brokers.agent import BrokerAgent
from roambus.python_protocol.brokers.broker import Filters
from roambus.python_protocol.mft.broker import Broker
from roambus.python_protocol.mft.client import Client
from roambus.python_protocol.mft.messages import Bmig, Bquery, Bsub, Mig, Sub, Uns
from roambus.python_protocol.mft.parameters import MftParameters


class MftPubSub(BrokerAgent):
    """A tree of brokers that move and fail. A node has any combination of roles."""

    parameters: MftParameters
    broker_type = Broker
    client_type = Client
    migration_messages = (Sub, Uns, Mig, Filters, Bmig, Bquery, Bsub)
