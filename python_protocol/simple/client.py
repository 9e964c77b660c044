"""A client of Simple Routing, bound to its broker for ever (003, section 2.3).

If it finds itself at another one all the same, it subscribes there anew (000, section 3.2): what it has subscribed to
before stays in the system, and leads nowhere.
"""

from __future__ import annotations

from roambus.python_protocol.actions import Action
from roambus.python_protocol.brokers.faithful_client import FaithfulClient
from roambus.python_protocol.brokers.messages import Pub
from roambus.python_protocol.filters import Filter
from roambus.python_protocol.messages.codec import Message
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simple.messages import Sub, Uns


class Client(FaithfulClient):
    """See `brokers.client.Client`."""

    said_again = (Sub, Uns)

    def receive(self, message: Message) -> list[Action]:
        """See `brokers.client.Client`."""
        return self._deliver(message.notification, message.hops) if isinstance(message, Pub) else []

    def _greet(self, broker: NodeId, last: NodeId | None) -> list[Action]:
        unsaid = self._say_again(broker)
        return unsaid if broker == last else self._subscribe_all()

    def _subscription(self, wanted: Filter) -> Message:
        return Sub(wanted)

    def _unsubscription(self, unwanted: Filter) -> Message:
        return Uns(unwanted)
