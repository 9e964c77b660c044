"""Caching for mobility, on a node."""

from __future__ import annotations

from roambus.python_protocol.brokers.agent import BrokerAgent
from roambus.python_protocol.caching.broker import Broker
from roambus.python_protocol.caching.client import Client
from roambus.python_protocol.caching.parameters import CachingParameters
from roambus.python_protocol.events import Attach, Detach
from roambus.python_protocol.process import on
from roambus.python_protocol.simtime import SimTime


class Caching(BrokerAgent):
    """Caches at brokers and support for clients that move, with any combination of roles on a node."""

    parameters: CachingParameters
    broker_type = Broker
    client_type = Client
    client: Client

    @on(Detach)
    def detach(self, _: Detach, now: SimTime) -> None:
        """The application leaves its broker on purpose."""
        self.client.leave()
        self._carry_out_client(now)

    @on(Attach)
    def attach(self, _: Attach, now: SimTime) -> None:
        """The application is back."""
        self.client.come_back()
        self._carry_out_client(now)
