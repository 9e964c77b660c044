"""A client that subscribes again to everything at each broker to which it comes (000, section 3.2).

What it ended while it had no broker, or what a link did not carry, it says first.
"""

from __future__ import annotations

from roambus.python_protocol.actions import Action
from roambus.python_protocol.brokers.faithful_client import FaithfulClient
from roambus.python_protocol.brokers.messages import Pub, Sub, Uns
from roambus.python_protocol.filters import Filter
from roambus.python_protocol.messages.codec import Message
from roambus.python_protocol.roles import NodeId


class Client(FaithfulClient):
    """See `brokers.client.Client`."""

    said_again = (Sub, Uns)

    def receive(self, message: Message) -> list[Action]:
        """See `brokers.client.Client`."""
        return self._deliver(message.notification, message.hops) if isinstance(message, Pub) else []

    def unsubscribe(self, unwanted: Filter) -> list[Action]:
        """See `brokers.client.Client`; without a broker it is said to the next one."""
        if self.broker is None and unwanted in self.filters:
            self._unsaid.append(self._unsubscription(unwanted))
        return super().unsubscribe(unwanted)

    def _greet(self, broker: NodeId, last: NodeId | None) -> list[Action]:  # noqa: ARG002  # the same at every broker
        return [*self._say_again(broker), *self._subscribe_all()]

    def _subscription(self, wanted: Filter) -> Message:
        return Sub(wanted, self.node)

    def _unsubscription(self, unwanted: Filter) -> Message:
        return Uns(unwanted, self.node)
