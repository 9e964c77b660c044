"""A client of Phoenix, as algorithm 2.3 of the thesis expects it (section 2.4).

When a subscriber comes to a broker, another one or the same after a break, it sends a MIG with the timestamp of the
last notification that it received from the broker before; the timestamp is 0 if there was none.
"""

from __future__ import annotations

from roambus.python_protocol.brokers.faithful_client import FaithfulClient
from roambus.python_protocol.brokers.messages import Sub, Uns
from roambus.python_protocol.brokers.parameters import BrokerParameters
from roambus.python_protocol.filters import Filter, Notification
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.phoenix.messages import NEVER, Mig, Pub, Rep
from roambus.python_protocol.process import on
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime


class Client(FaithfulClient):
    """s_i and p_i of one node."""

    said_again = (Sub, Uns)
    publication_type = Pub

    def __init__(self, node: NodeId, parameters: BrokerParameters) -> None:
        """At first the client has subscribed to nothing, and received nothing."""
        super().__init__(node, parameters)
        self._is_subscriber = False
        self._last = NEVER

    @on(Pub, Rep)
    def receive(self, message: Pub | Rep, broker: NodeId, now: SimTime) -> None:
        """A notification has arrived, on its own way or replayed."""
        self._last = max(self._last, message.stamp)
        self._deliver(message.notification, message.hops)

    def _greet(self, broker: NodeId, last: NodeId | None) -> None:
        unsaid, commands = self._take_unsaid(), self._take_commands()
        if not self._is_subscriber or last is None:
            self._subscribe_all()
            return
        self._migrate(broker, last)
        for message in unsaid:
            self.send(broker, message)
        self._say_late(commands)

    def _migrate(self, broker: NodeId, last: NodeId) -> None:
        self.send(broker, Mig(self.node, last, self._last))
        self._last = NEVER

    def _subscription(self, wanted: Filter) -> Message:
        self._is_subscriber = True
        return Sub(self.node, wanted)

    def _unsubscription(self, unwanted: Filter) -> Message:
        return Uns(self.node, unwanted)

    def _publication(self, notification: Notification, hops: int) -> Pub:
        return Pub(NEVER, hops, (), notification)
