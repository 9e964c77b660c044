"""A client of the first approach (003, section 3.3).

When a subscriber comes to a broker, another one or the same after a break, it sends a MIG, and mends what the FILTERS
in answer shows to be wrong. Only before its very first SUB is there nothing to migrate, and it just subscribes.
"""

from __future__ import annotations

from roambus.python_protocol.actions import Action, Send
from roambus.python_protocol.brokers import client
from roambus.python_protocol.brokers.messages import Filters, Pub, Sub, Uns
from roambus.python_protocol.brokers.parameters import BrokerParameters
from roambus.python_protocol.filters import Filter
from roambus.python_protocol.first_approach.messages import Mig, Rep
from roambus.python_protocol.messages.codec import Message
from roambus.python_protocol.roles import NodeId


class Client(client.Client):
    """See `brokers.client.Client`."""

    def __init__(self, node: NodeId, parameters: BrokerParameters) -> None:
        """See `brokers.client.Client`."""
        super().__init__(node, parameters)
        self._is_subscriber = False

    def receive(self, message: Message) -> list[Action]:
        """See `brokers.client.Client`."""
        if isinstance(message, Filters):
            return self._mend(message)
        if isinstance(message, Pub | Rep):
            return self._deliver(message.notification, message.hops)
        return []

    def _greet(self, broker: NodeId, last: NodeId | None) -> list[Action]:
        if self._is_subscriber and last is not None:
            return [Send(broker, Mig(self.node, last))]
        return self._subscribe_all()

    def _subscription(self, wanted: Filter) -> Message:
        self._is_subscriber = True
        return Sub(wanted, self.node)

    def _unsubscription(self, unwanted: Filter) -> Message:
        return Uns(unwanted, self.node)
