"""A client of the broker family: its broker, its filters, and notifications that wait for a broker.

It is publisher and subscriber of a node (the thesis, section 2.2), and delivers every copy. A protocol names its
`subscription_types`, their fields before the filter (`_head`), the messages to a new broker (`_greet`), and handlers.
The client corrects FILTERS, the filters that a new broker knows (section 3.2).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any, ClassVar

from roambus.python_protocol.agent import Process
from roambus.python_protocol.brokers.broker import BrokerParameters, Filters, Pub, losses
from roambus.python_protocol.filters import Filter, Notification
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.trace_rows import DROP


class Client(Process):
    """s_i and p_i of one node; a protocol adds handlers of brokers' messages."""

    publication_type: ClassVar[type[Any]] = Pub
    """The PUB of the protocol."""
    subscription_types: ClassVar[tuple[type[Any], type[Any]]]
    """The protocol's SUB and UNS: the fields of `_head`, then the filter."""

    def __init__(self, node: NodeId, parameters: BrokerParameters) -> None:
        """A client is detached at first."""
        super().__init__()
        self.node = node
        self.broker: NodeId | None = None
        self.filters: dict[Filter, None] = {}
        """The filters are the keys, in order of arrival."""
        self._is_subscriber = False
        """Whether it has ever subscribed, and so can migrate (algorithms 2.3 and 3.2)."""
        self._last_broker: NodeId | None = None
        self._limit = parameters.publisher_buffer
        self._unpublished: list[Notification] = []

    # What the tree and the link report

    def attach(self, broker: NodeId) -> None:
        """Take this broker from now on."""
        last, self._last_broker = self._last_broker, broker
        self.broker = broker
        self._greet(broker, last)
        self._flush()

    def detach(self) -> None:
        """Lose the broker."""
        self.broker = None

    def link_broken(self, messages: Iterable[Message]) -> None:
        """Republish undelivered notifications, in order."""
        lost = [message.notification for message in messages if isinstance(message, self.publication_type)]
        self._unpublished = sorted([*lost, *self._unpublished], key=lambda notification: notification.id.sequence)
        self._flush()

    def lose(self, message: Message, reason: str) -> None:
        """Note the loss of a message that cannot be sent, such as one too long for a frame."""
        self.perform(losses(message, reason))

    # Commands of the application

    def subscribe(self, wanted: Filter) -> None:
        """Subscribe to notifications that `wanted` matches."""
        if wanted not in self.filters:
            self.filters[wanted] = None
            self._send_subscription(wanted, is_new=True)

    def unsubscribe(self, unwanted: Filter) -> None:
        """Unsubscribe from notifications that `unwanted` matches."""
        if unwanted in self.filters:
            del self.filters[unwanted]
            self._send_subscription(unwanted, is_new=False)

    def publish(self, notification: Notification) -> None:
        """Publish now, or once there is a broker."""
        self._unpublished.append(notification)
        self._flush()

    # Messages

    def _deliver(self, notification: Notification, hops: int) -> None:
        if any(wanted.matches(notification) for wanted in self.filters):
            self.deliver(notification, hops)
        else:
            self.note(DROP, notification_id=str(notification.id), detail="not subscribed")

    def _correct(self, message: Filters) -> None:
        """Correct the broker's filters, missing ones first (the thesis, section 3.2)."""
        for wanted in self.filters:
            if wanted not in message.filters:
                self._send_subscription(wanted, is_new=True)
        for wanted in message.filters:
            if wanted not in self.filters:
                self._send_subscription(wanted, is_new=False)

    # Senders

    @abstractmethod
    def _greet(self, broker: NodeId, last: NodeId | None) -> None:
        """Send the messages to a new broker; `last` is the one before, perhaps the same."""

    def _head(self) -> tuple[Any, ...]:
        """Return the fields before the filter of a SUB or UNS; a numbering protocol counts up here."""
        return (self.node,)

    def _subscription(self, about: Filter, *, is_new: bool) -> Message:
        """Return a filter's SUB or UNS."""
        self._is_subscriber |= is_new
        made: Message = self.subscription_types[0 if is_new else 1](*self._head(), about)
        return made

    def _publication(self, notification: Notification, hops: int) -> Message:
        return Pub(hops, notification)

    def _send_subscription(self, about: Filter, *, is_new: bool) -> None:
        """Send a SUB or UNS; without a broker use no number."""
        if self.broker is not None:
            self.send(self.broker, self._subscription(about, is_new=is_new))

    def _subscribe_all(self) -> None:
        for wanted in self.filters:
            self._send_subscription(wanted, is_new=True)

    def _flush(self) -> None:
        """Send waiting notifications; without a broker keep the newest."""
        if self.broker is None:
            dropped, self._unpublished = self._unpublished[: -self._limit], self._unpublished[-self._limit :]
            for notification in dropped:
                self.note(DROP, notification_id=str(notification.id), detail="publisher has no broker")
            return
        hops = int(self.broker != self.node)
        for notification in self._unpublished:
            self.send(self.broker, self._publication(notification, hops))
        self._unpublished.clear()
