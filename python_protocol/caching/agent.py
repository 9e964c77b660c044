"""Caching for mobility, on a node."""

from __future__ import annotations

from collections.abc import Iterable

from roambus.python_protocol.actions import Action
from roambus.python_protocol.brokers.agent import SHARED_MESSAGES, BrokerAgent
from roambus.python_protocol.caching.broker import Broker
from roambus.python_protocol.caching.client import Client
from roambus.python_protocol.caching.messages import CACHING_MESSAGES
from roambus.python_protocol.caching.parameters import CachingParameters
from roambus.python_protocol.events import Attach, Detach, Event
from roambus.python_protocol.messages.codec import MessageSet
from roambus.python_protocol.simtime import SimTime


class Caching(BrokerAgent):
    """Caches at brokers and support for clients that move (001), with any combination of roles on a node."""

    parameters_type = CachingParameters
    messages = MessageSet((*SHARED_MESSAGES, *CACHING_MESSAGES))
    broker_type = Broker
    client_type = Client
    client: Client

    def handle(self, event: Event, now: SimTime) -> Iterable[Action]:
        """See `BrokerAgent`; here a client says that it leaves, and that it is back."""
        match event:
            case Detach():
                return self._from_client(self.client.leave(), now)
            case Attach():
                return self._from_client(self.client.come_back(), now)
        return super().handle(event, now)
