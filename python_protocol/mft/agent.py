"""MFT-PubSub on a node: its client (the thesis, section 4.3), and the agent of broker and client.

A subscriber's message number is the timestamp t. At a broker, new or after a break, the client sends a MIG and corrects
the FILTERS of the answer, so lost messages matter little.
"""

from __future__ import annotations

from roambus.python_protocol.agent import on
from roambus.python_protocol.brokers.agent import BrokerAgent
from roambus.python_protocol.brokers.broker import Filters, Pub
from roambus.python_protocol.brokers.client import Client as FamilyClient
from roambus.python_protocol.mft.broker import Broker
from roambus.python_protocol.mft.messages import Bmig, Bquery, Bsub, MftParameters, Mig, Rep, Sub, Uns
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime


class Client(FamilyClient):
    """s_i and p_i of one node."""

    subscription_types = (Sub, Uns)

    def __init__(self, node: NodeId, parameters: MftParameters) -> None:
        """Begin with message number 1."""
        super().__init__(node, parameters)
        self._timestamp = 0

    @on(Filters)
    def correct_filters(self, message: Filters, broker: NodeId, now: SimTime) -> None:
        """Correct the new broker's errors, as its answer to a MIG shows them."""
        self._correct(message)

    @on(Pub)
    def receive(self, message: Pub, broker: NodeId, now: SimTime) -> None:
        """Take a notification on its own way."""
        self._deliver(message.notification, message.hops)

    @on(Rep)
    def receive_replayed(self, message: Rep, broker: NodeId, now: SimTime) -> None:
        """Take notifications that a broker had stored."""
        for notification in message.notifications:
            self._deliver(notification, message.hops)

    def _greet(self, broker: NodeId, last: NodeId | None) -> None:
        if self._timestamp and last is not None:
            self.send(broker, Mig(self.node, last, self._tick(), 0))
        else:
            self._subscribe_all()

    def _head(self) -> tuple[NodeId, int, int]:
        """A subscriber's own messages have gone no hop."""
        return self.node, self._tick(), 0

    def _tick(self) -> int:
        self._timestamp += 1
        return self._timestamp


# The client


class MftPubSub(BrokerAgent):
    """A tree of brokers that move and fail. A node has any combination of roles."""

    parameters: MftParameters
    broker_type = Broker
    client_type = Client
    migration_messages = (Sub, Uns, Mig, Filters, Bmig, Bquery, Bsub)
