"""How a broker of MFT-PubSub forwards, stores and replays notifications (003, algorithms 3.1 and 3.2).

- *A notification is passed on once for a subscriber*, for a link can repeat one that it had given up.
- Over the link layer, stored notifications are replayed one REP at a time, each when the link has delivered what was
  before it: a way that breaks again then has not cost much.
- Nothing is passed back to where it came from.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from roambus.python_protocol.actions import Action, Note, Send
from roambus.python_protocol.brokers import broker
from roambus.python_protocol.brokers.messages import Pub
from roambus.python_protocol.brokers.storage import Storage
from roambus.python_protocol.filters import Notification, NotificationId
from roambus.python_protocol.messages.codec import Message
from roambus.python_protocol.mft.messages import Rep
from roambus.python_protocol.mft.parameters import MftParameters
from roambus.python_protocol.mft.routing import RoutingTable
from roambus.python_protocol.notes import REPLAY
from roambus.python_protocol.roles import NodeId

Recipients = dict[NodeId | None, list[NodeId]]
"""The subscribers for whom something goes to each interface; None: those to whom no way is known."""


class Forwarding(broker.Broker):
    """What a broker does with notifications, given its routing table."""

    def __init__(self, node: NodeId, parameters: MftParameters) -> None:
        super().__init__(node, parameters)
        self.table = RoutingTable()
        self.storage = Storage(parameters.storage_limit)
        self._parameters = parameters
        self._handled: dict[NotificationId, Recipients] = {}

    def idle(self, interface: NodeId) -> list[Action]:
        """The link to an interface has nothing left to do: the next REP over it, if anything is stored."""
        for subscriber in self.storage.subscribers():
            if self._way(subscriber) == interface:
                return self._send_queued(subscriber, interface)
        return []

    # Handlers

    def _receive_pub(self, sender: NodeId, message: Pub) -> list[Action]:
        """Algorithm 3.1, lines 11 to 21."""
        notification = message.notification
        is_known = notification.id in self._handled
        handled = self._remember(notification.id)
        served = {subscriber for subscribers in handled.values() for subscriber in subscribers}
        matching = [(s, interface) for s, interface in self.table.matching(notification) if s not in served]
        recipients: Recipients = {}
        for subscriber, interface in matching:
            if interface != sender or sender not in self.neighbours:
                recipients.setdefault(interface, []).append(subscriber)
        actions = [] if is_known and not recipients else broker.note_route(notification, [s for s, _ in matching])
        for interface, subscribers in recipients.items():
            handled.setdefault(interface, []).extend(subscribers)
            actions += self._send_pub(message, interface, subscribers)
        return actions

    def _receive_rep(self, sender: NodeId, message: Rep) -> list[Action]:
        """Algorithm 3.2, lines 22 to 27."""
        subscriber = message.subscriber
        interface = self._way(subscriber)
        cannot_go_on = interface == sender or not self.reaches(interface)
        if interface is None or cannot_go_on or message.hops > self._parameters.max_hops:
            return [note for one in message.notifications for note in self.storage.put(subscriber, one)]
        return [Send(interface, replace(message, hops=self.radio_hops(message.hops, interface)))]

    # Senders

    def _send_pub(self, message: Pub, interface: NodeId | None, subscribers: list[NodeId]) -> list[Action]:
        """Algorithm 3.1, lines 17 to 21."""
        if interface is not None and self.reaches(interface):
            return [Send(interface, Pub(message.notification, self.radio_hops(message.hops, interface)))]
        return [note for one in subscribers for note in self.storage.put(one, message.notification)]

    def _send_queued(self, subscriber: NodeId, interface: NodeId | None) -> list[Action]:
        """Algorithm 3.2, lines 14 to 21: sendQueuedMessages(s, y); over the link layer the first REP only."""
        if interface is None or not self.reaches(interface):
            return []
        actions: list[Action] = []
        while notifications := tuple(self.storage.take(subscriber, self._parameters.replay_bytes)):
            actions += [Note(REPLAY, notification_id=str(one.id), peer=subscriber) for one in notifications]
            actions.append(Send(interface, Rep(subscriber, notifications, self.radio_hops(0, interface))))
            if self._parameters.link_layer:
                break
        return actions

    # Helpers

    def _store_undelivered(self, interface: NodeId, messages: Iterable[Message]) -> list[Action]:
        """What did not arrive at an interface goes another way, or is stored."""
        actions: list[Action] = []
        affected: dict[NodeId, None] = {}
        for message in messages:
            for subscriber, notification in self._undelivered(interface, message):
                actions += self.storage.put(subscriber, notification)
                affected[subscriber] = None
        for subscriber in affected:
            actions += self._send_queued(subscriber, self._way(subscriber))
        return actions

    def _undelivered(self, interface: NodeId, message: Message) -> Iterator[tuple[NodeId, Notification]]:
        """For whom a message that did not arrive at an interface carried what."""
        if isinstance(message, Rep):
            for notification in message.notifications:
                yield message.subscriber, notification
        elif isinstance(message, Pub):
            for subscriber in self._handled.get(message.notification.id, {}).get(interface, ()):
                yield subscriber, message.notification

    def _way(self, subscriber: NodeId) -> NodeId | None:
        """Where replays go; see `replay_always`."""
        return self.table.way(subscriber) if self._parameters.replay_always else self.table.next_hop(subscriber)

    def _remember(self, identifier: NotificationId) -> Recipients:
        handled = self._handled.setdefault(identifier, {})
        if len(self._handled) > self._parameters.remembered:
            del self._handled[next(iter(self._handled))]
        return handled
