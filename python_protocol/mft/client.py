"""A client of MFT-PubSub: a subscriber, a publisher or both, at one broker at a time (003, sections 2.2 and 4.3).

A subscriber numbers its messages; that number is the timestamp t. When it comes to a broker, another one or the same
after a break, it sends a MIG, and mends what the FILTERS in answer shows to be wrong: so it matters little which of its
messages were lost. Only before its very first message is there nothing to migrate, and it just subscribes.

A publisher without a broker keeps what it publishes. Every copy of a notification that arrives is delivered, as in the
thesis; that further copies are rare is for the trace to show.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from python_protocol.actions import Action, Deliver, Note, Send
from python_protocol.codec import Message
from python_protocol.filters import Filter, Notification
from python_protocol.mft.messages import Filters, Mig, Pub, Rep, Sub, Uns
from python_protocol.mft.parameters import MftParameters
from python_protocol.notes import DROP
from python_protocol.roles import NodeId


class Client:
    """s_i and p_i of one node."""

    def __init__(self, node: NodeId, parameters: MftParameters) -> None:
        """Detached at first."""
        self.node = node
        self.broker: NodeId | None = None
        self._last_broker: NodeId | None = None
        self._filters: dict[Filter, None] = {}
        self._timestamp = 0
        self._limit = parameters.publisher_buffer
        self._unpublished: deque[Notification] = deque()

    # Where it is

    def attach(self, broker: NodeId) -> list[Action]:
        """A broker is there; it is this client's from now on."""
        last, self._last_broker = self._last_broker, broker
        self.broker = broker
        if self._timestamp and last is not None:
            return [Send(broker, Mig(self.node, last, self._tick(), 0)), *self._flush()]
        return [action for one in self._filters for action in self._subscribe(one)] + self._flush()

    def detach(self) -> None:
        """The broker is out of reach."""
        self.broker = None

    def link_broken(self, messages: Iterable[Message]) -> list[Action]:
        """Messages did not arrive: publishes them anew. What was lost of the others, the next FILTERS shows."""
        lost = [message.notification for message in messages if isinstance(message, Pub)]
        self._unpublished.extendleft(reversed(lost))
        return self._flush() + self._drop_overflow()

    # Commands of the application

    def subscribe(self, wanted: Filter) -> list[Action]:
        """The application wants what `wanted` matches."""
        if wanted in self._filters:
            return []
        self._filters[wanted] = None
        return self._subscribe(wanted)

    def unsubscribe(self, unwanted: Filter) -> list[Action]:
        """The application no longer wants what `unwanted` matches."""
        if unwanted not in self._filters:
            return []
        del self._filters[unwanted]
        return self._unsubscribe(unwanted)

    def publish(self, notification: Notification) -> list[Action]:
        """The application publishes."""
        self._unpublished.append(notification)
        return self._flush() + self._drop_overflow()

    # Messages

    def receive(self, message: Message) -> list[Action]:
        """A message has arrived from a broker."""
        if isinstance(message, Filters):
            return self._receive_filters(message)
        if isinstance(message, Pub):
            return self._deliver(message.notification, message.hops)
        if isinstance(message, Rep):
            return [action for one in message.notifications for action in self._deliver(one, message.hops)]
        return []

    def _receive_filters(self, message: Filters) -> list[Action]:
        missing = [one for one in self._filters if one not in message.filters]
        outdated = [one for one in message.filters if one not in self._filters]
        actions = [action for one in missing for action in self._subscribe(one)]
        return actions + [action for one in outdated for action in self._unsubscribe(one)]

    def _deliver(self, notification: Notification, hops: int) -> list[Action]:
        if any(one.matches(notification) for one in self._filters):
            return [Deliver(notification, hops)]
        return [Note(DROP, notification_id=str(notification.id), detail="not subscribed")]

    # Senders

    def _subscribe(self, wanted: Filter) -> list[Action]:
        if self.broker is None:
            return []
        return [Send(self.broker, Sub(wanted, self.node, self._tick(), 0))]

    def _unsubscribe(self, unwanted: Filter) -> list[Action]:
        if self.broker is None:
            return []
        return [Send(self.broker, Uns(unwanted, self.node, self._tick(), 0))]

    def _flush(self) -> list[Action]:
        if self.broker is None:
            return []
        hops = int(self.broker != self.node)
        actions: list[Action] = [Send(self.broker, Pub(one, hops)) for one in self._unpublished]
        self._unpublished.clear()
        return actions

    def _drop_overflow(self) -> list[Action]:
        """Keeps the newest."""
        actions: list[Action] = []
        while len(self._unpublished) > self._limit:
            dropped = self._unpublished.popleft()
            actions.append(Note(DROP, notification_id=str(dropped.id), detail="publisher has no broker"))
        return actions

    def _tick(self) -> int:
        self._timestamp += 1
        return self._timestamp
