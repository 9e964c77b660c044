"""A client of MFT-PubSub (003, section 4.3).

A subscriber numbers its messages; that number is the timestamp t. When it comes to a broker, another one or the same
after a break, it sends a MIG, and mends what the FILTERS in answer shows to be wrong: so it matters little which of its
messages were lost. Only before its very first message is there nothing to migrate, and it just subscribes.
"""

from __future__ import annotations

from roambus.python_protocol.actions import Action, Send
from roambus.python_protocol.brokers import client
from roambus.python_protocol.brokers.messages import Filters, Pub
from roambus.python_protocol.filters import Filter
from roambus.python_protocol.messages.codec import Message
from roambus.python_protocol.mft.messages import Mig, Rep, Sub, Uns
from roambus.python_protocol.mft.parameters import MftParameters
from roambus.python_protocol.roles import NodeId


class Client(client.Client):
    """See `brokers.client.Client`."""

    def __init__(self, node: NodeId, parameters: MftParameters) -> None:
        super().__init__(node, parameters)
        self._timestamp = 0

    def receive(self, message: Message) -> list[Action]:
        """See `brokers.client.Client`."""
        if isinstance(message, Filters):
            return self._mend(message)
        if isinstance(message, Pub):
            return self._deliver(message.notification, message.hops)
        if isinstance(message, Rep):
            return [action for one in message.notifications for action in self._deliver(one, message.hops)]
        return []

    def _greet(self, broker: NodeId, last: NodeId | None) -> list[Action]:
        if self._timestamp and last is not None:
            return [Send(broker, Mig(self.node, last, self._tick(), 0))]
        return self._subscribe_all()

    def _subscription(self, wanted: Filter) -> Message:
        return Sub(wanted, self.node, self._tick(), 0)

    def _unsubscription(self, unwanted: Filter) -> Message:
        return Uns(unwanted, self.node, self._tick(), 0)

    def _tick(self) -> int:
        self._timestamp += 1
        return self._timestamp
