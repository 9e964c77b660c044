"""A client of Phoenix, as algorithm 2.3 of 003 expects it (section 2.4).

When a subscriber comes to a broker, another one or the same after a break, it sends a MIG with the timestamp of the
last notification that it received from the broker before; 0 if there was none.
"""

from __future__ import annotations

from roambus.python_protocol.actions import Action, Send
from roambus.python_protocol.brokers.faithful_client import FaithfulClient
from roambus.python_protocol.brokers.messages import Sub, Uns
from roambus.python_protocol.brokers.parameters import BrokerParameters
from roambus.python_protocol.filters import Filter, Notification
from roambus.python_protocol.messages.codec import Message
from roambus.python_protocol.phoenix.messages import NEVER, Mig, Pub, Rep
from roambus.python_protocol.roles import NodeId


class Client(FaithfulClient):
    """See `brokers.client.Client`."""

    said_again = (Sub, Uns)

    def __init__(self, node: NodeId, parameters: BrokerParameters) -> None:
        """See `brokers.client.Client`."""
        super().__init__(node, parameters)
        self._is_subscriber = False
        self._last = NEVER

    def receive(self, message: Message) -> list[Action]:
        """See `brokers.client.Client`."""
        if not isinstance(message, Pub | Rep):
            return []
        self._last = max(self._last, message.stamp)
        return self._deliver(message.notification, message.hops)

    def _greet(self, broker: NodeId, last: NodeId | None) -> list[Action]:
        unsaid = self._say_again(broker)
        if not self._is_subscriber or last is None:
            return self._subscribe_all()
        mig = Mig(self.node, last, self._last)
        self._last = NEVER
        return [Send(broker, mig), *unsaid]

    def _subscription(self, wanted: Filter) -> Message:
        self._is_subscriber = True
        return Sub(wanted, self.node)

    def _unsubscription(self, unwanted: Filter) -> Message:
        return Uns(unwanted, self.node)

    def _publication(self, notification: Notification, hops: int) -> Pub:
        return Pub(notification, hops, NEVER)
