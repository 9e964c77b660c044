"""What every client of the family has: one broker at a time, filters, and what it could not publish yet (003, 2.2).

A publisher without a broker keeps what it publishes. Every copy of a notification that arrives is delivered, as in the
thesis; that further copies are rare is for the trace to show.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable

from roambus.python_protocol.actions import Action, Deliver, Note, Send
from roambus.python_protocol.brokers.messages import Filters, Pub
from roambus.python_protocol.brokers.parameters import BrokerParameters
from roambus.python_protocol.filters import Filter, Notification
from roambus.python_protocol.messages.codec import Message
from roambus.python_protocol.notes import DROP
from roambus.python_protocol.roles import NodeId


class Client(ABC):
    """s_i and p_i of one node."""

    def __init__(self, node: NodeId, parameters: BrokerParameters) -> None:
        """Detached at first."""
        self.node = node
        self.broker: NodeId | None = None
        self.filters: dict[Filter, None] = {}
        """The keys, in the order in which they came."""
        self._last_broker: NodeId | None = None
        self._limit = parameters.publisher_buffer
        self._unpublished: list[Notification] = []

    # Where it is

    def attach(self, broker: NodeId) -> list[Action]:
        """A broker is there; it is this client's from now on."""
        last, self._last_broker = self._last_broker, broker
        self.broker = broker
        return [*self._greet(broker, last), *self._flush()]

    def detach(self) -> None:
        """The broker is out of reach."""
        self.broker = None

    def link_broken(self, messages: Iterable[Message]) -> list[Action]:
        """Messages did not arrive: publishes them anew, in their order."""
        lost = [message.notification for message in messages if isinstance(message, Pub)]
        self._unpublished = sorted([*lost, *self._unpublished], key=lambda one: one.id.sequence)
        return self._flush() + self._drop_overflow()

    # Commands of the application

    def subscribe(self, wanted: Filter) -> list[Action]:
        """The application wants what `wanted` matches."""
        if wanted in self.filters:
            return []
        self.filters[wanted] = None
        return self._tell_broker(self._subscription, wanted)

    def unsubscribe(self, unwanted: Filter) -> list[Action]:
        """The application no longer wants what `unwanted` matches."""
        if unwanted not in self.filters:
            return []
        del self.filters[unwanted]
        return self._tell_broker(self._unsubscription, unwanted)

    def publish(self, notification: Notification) -> list[Action]:
        """The application publishes."""
        self._unpublished.append(notification)
        return self._flush() + self._drop_overflow()

    # Messages

    @abstractmethod
    def receive(self, message: Message) -> list[Action]:
        """A message has arrived from a broker."""

    def _deliver(self, notification: Notification, hops: int) -> list[Action]:
        if any(one.matches(notification) for one in self.filters):
            return [Deliver(notification, hops)]
        return [Note(DROP, notification_id=str(notification.id), detail="not subscribed")]

    def _mend(self, message: Filters) -> list[Action]:
        """Mends what the broker has wrong (003, section 3.2)."""
        missing = [one for one in self.filters if one not in message.filters]
        outdated = [one for one in message.filters if one not in self.filters]
        actions = [action for one in missing for action in self._tell_broker(self._subscription, one)]
        return actions + [action for one in outdated for action in self._tell_broker(self._unsubscription, one)]

    # Senders

    @abstractmethod
    def _greet(self, broker: NodeId, last: NodeId | None) -> list[Action]:
        """What the client of a new broker has to tell it; `last` is the broker before, the same one perhaps."""

    @abstractmethod
    def _subscription(self, wanted: Filter) -> Message:
        """The SUB for a filter."""

    @abstractmethod
    def _unsubscription(self, unwanted: Filter) -> Message:
        """The UNS for a filter."""

    def _publication(self, notification: Notification, hops: int) -> Pub:
        """The PUB for a notification."""
        return Pub(notification, hops)

    def _tell_broker(self, make: Callable[[Filter], Message], about: Filter) -> list[Action]:
        """Makes and sends a message about a filter; without a broker it is not even made."""
        return [] if self.broker is None else [Send(self.broker, make(about))]

    def _subscribe_all(self) -> list[Action]:
        return [action for one in self.filters for action in self._tell_broker(self._subscription, one)]

    def _flush(self) -> list[Action]:
        if self.broker is None:
            return []
        hops = int(self.broker != self.node)
        actions: list[Action] = [Send(self.broker, self._publication(one, hops)) for one in self._unpublished]
        self._unpublished.clear()
        return actions

    def _drop_overflow(self) -> list[Action]:
        """Keeps the newest."""
        dropped, self._unpublished = self._unpublished[: -self._limit], self._unpublished[-self._limit :]
        return [Note(DROP, notification_id=str(one.id), detail="publisher has no broker") for one in dropped]
