"""A client that subscribes again to everything at each broker to which it comes.

The paper on the first approach, section 3.2, names this as what it avoids. What the client ended while it had no
broker, or what a link did not carry, it says first.
"""

from __future__ import annotations

from roambus.python_protocol.brokers.faithful_client import FaithfulClient
from roambus.python_protocol.brokers.messages import Pub, Sub, Uns
from roambus.python_protocol.filters import Filter
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.process import on
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime


class Client(FaithfulClient):
    """s_i and p_i of one node."""

    said_again = (Sub, Uns)

    @on(Pub)
    def receive(self, pub: Pub, broker: NodeId, now: SimTime) -> None:
        """A notification has arrived."""
        self._deliver(pub.notification, pub.hops)

    def _greet(self, broker: NodeId, last: NodeId | None) -> None:
        self._say_again(broker)
        self._end_late()
        self._subscribe_all()

    def _subscription(self, wanted: Filter) -> Message:
        return Sub(self.node, wanted)

    def _unsubscription(self, unwanted: Filter) -> Message:
        return Uns(self.node, unwanted)
