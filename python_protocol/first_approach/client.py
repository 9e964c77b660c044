"""A client of the first approach (the thesis, section 3.3).

When a subscriber comes to a broker, another one or the same after a break, it sends a MIG, and mends what the FILTERS
in answer shows to be wrong. Only before its very first SUB is there nothing to migrate, and it just subscribes.
"""

from __future__ import annotations

from roambus.python_protocol.brokers.client import Client as FamilyClient
from roambus.python_protocol.brokers.messages import Filters, Pub, Sub, Uns
from roambus.python_protocol.brokers.parameters import BrokerParameters
from roambus.python_protocol.filters import Filter
from roambus.python_protocol.first_approach.messages import Mig, Rep
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.process import on
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime


class Client(FamilyClient):
    """s_i and p_i of one node."""

    def __init__(self, node: NodeId, parameters: BrokerParameters) -> None:
        """The client has never subscribed."""
        super().__init__(node, parameters)
        self._is_subscriber = False

    @on(Filters)
    def mend(self, message: Filters, broker: NodeId, now: SimTime) -> None:
        """The new broker has answered a MIG: the client tells it what it has wrong."""
        self._mend(message)

    @on(Pub, Rep)
    def receive(self, message: Pub | Rep, broker: NodeId, now: SimTime) -> None:
        """A notification has arrived, on its own way or out of a broker's storage."""
        self._deliver(message.notification, message.hops)

    def _greet(self, broker: NodeId, last: NodeId | None) -> None:
        if self._is_subscriber and last is not None:
            self.send(broker, Mig(self.node, last))
        else:
            self._subscribe_all()

    def _subscription(self, wanted: Filter) -> Message:
        self._is_subscriber = True
        return Sub(self.node, wanted)

    def _unsubscription(self, unwanted: Filter) -> Message:
        return Uns(self.node, unwanted)
