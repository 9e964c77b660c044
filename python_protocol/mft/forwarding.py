"""How a broker of MFT-PubSub forwards, stores and replays notifications (the thesis, algorithms 3.1 and 3.2).

A notification is passed on once for each subscriber, because a link can repeat one that it gave up. Where the link says
when it is idle, REPs go one at a time, so that a way that breaks again costs little.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from roambus.python_protocol.agent import on
from roambus.python_protocol.brokers.broker import Broker, Pub, Storage
from roambus.python_protocol.filters import Notification, NotificationId
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.mft.messages import MftParameters, Rep, RoutingTable
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime
from roambus.python_protocol.trace_rows import DROP, REPLAY

Recipients = dict[NodeId | None, list[NodeId]]
"""The subscribers for each interface; under None those without a known way."""


class Forwarding(Broker):
    """A broker's notifications, given its routing table."""

    def __init__(self, node: NodeId, parameters: MftParameters) -> None:
        """Begin with nothing stored."""
        super().__init__(node, parameters)
        self.table = RoutingTable()
        self.storage = Storage(parameters.storage_limit)
        self._parameters = parameters
        self._handled: dict[NotificationId, Recipients] = {}

    def idle(self, interface: NodeId) -> None:
        """Send the next REP over an idle link."""
        for subscriber in self.storage.subscribers():
            if self._way(subscriber) == interface:
                self._send_queued(subscriber, interface)
                return

    # Handlers

    @on(Pub)  # algorithm 3.1, lines 11 to 21
    def publish(self, pub: Pub, z: NodeId, now: SimTime) -> None:
        """Send a notification to each interface with a matching subscriber, or store it."""
        notification = pub.notification
        is_known = notification.id in self._handled
        handled = self._remember(notification.id)
        matching = list(self._unserved(notification, handled))
        recipients: Recipients = {}
        for subscriber, interface in matching:
            if interface != z or z not in self.neighbours:
                recipients.setdefault(interface, []).append(subscriber)
        if recipients or not is_known:
            self.note_route(notification, [subscriber for subscriber, _ in matching])
        for interface, subscribers in recipients.items():
            handled.setdefault(interface, []).extend(subscribers)
        self._pass_on(pub, recipients)

    @on(Rep)  # algorithm 3.2, lines 22 to 27
    def replay(self, rep: Rep, z: NodeId, now: SimTime) -> None:
        """Pass another broker's stored notifications towards the subscriber, or store them."""
        interface = self._way(rep.subscriber)
        cannot_go_on = interface == z or not self.reaches(interface)
        if interface is None or cannot_go_on or rep.hops > self._parameters.max_hops:
            for notification in rep.notifications:
                self._store(rep.subscriber, notification)
        else:
            self.send(interface, rep.replaced(hops=self.radio_hops(rep.hops, interface)))

    # Senders

    def _pass_on(self, pub: Pub, recipients: Recipients) -> None:
        """Send to each interface (algorithm 3.1, lines 17 to 21); store for absent ones."""
        for interface, subscribers in recipients.items():
            if interface is not None and self.reaches(interface):
                self.send(interface, pub.replaced(hops=self.radio_hops(pub.hops, interface)))
            else:
                for subscriber in subscribers:
                    self._store(subscriber, pub.notification)

    def _send_queued(self, subscriber: NodeId, interface: NodeId | None) -> None:
        """Carry out algorithm 3.2, lines 14 to 21, sendQueuedMessages(s, y); one REP a time if paced."""
        if interface is None or not self.reaches(interface):
            return
        while notifications := tuple(self.storage.take(subscriber, self._parameters.replay_bytes)):
            for notification in notifications:
                self.note(REPLAY, notification_id=str(notification.id), peer=subscriber)
            self.send(interface, Rep(subscriber, self.radio_hops(0, interface), notifications))
            if self.is_paced:
                return

    # Helpers

    def lose(self, interface: NodeId, message: Message, reason: str) -> None:
        """Note the loss for each subscriber that the message was for."""
        for subscriber, notification in self._undelivered(interface, message):
            self.note(DROP, notification_id=str(notification.id), peer=subscriber, detail=reason)

    def _store(self, subscriber: NodeId, notification: Notification) -> None:
        self.perform(self.storage.put(subscriber, notification))

    def _unserved(self, notification: Notification, handled: Recipients) -> Iterator[tuple[NodeId, NodeId | None]]:
        """Return the (s, y) of matching entries (f, y, s), without served subscribers."""
        served = {subscriber for subscribers in handled.values() for subscriber in subscribers}
        return ((s, y) for s, y in self.table.matching(notification) if s not in served)

    def _store_undelivered(self, interface: NodeId, messages: Iterable[Message]) -> None:
        """Send undelivered notifications another way, or store them."""
        affected: dict[NodeId, None] = {}
        for message in messages:
            for subscriber, notification in self._undelivered(interface, message):
                self._store(subscriber, notification)
                affected[subscriber] = None
        for subscriber in affected:
            self._send_queued(subscriber, self._way(subscriber))

    def _undelivered(self, interface: NodeId, message: Message) -> Iterator[tuple[NodeId, Notification]]:
        """The subscribers and notifications of an undelivered message."""
        if isinstance(message, Rep):
            for notification in message.notifications:
                yield message.subscriber, notification
        elif isinstance(message, Pub):
            for subscriber in self._handled.get(message.notification.id, {}).get(interface, ()):
                yield subscriber, message.notification

    def _way(self, subscriber: NodeId) -> NodeId | None:
        """Return the next hop of replays, by `replay_always` also for a subscriber without filters.

        It may be about to correct them, and drops the rest.
        """
        return self.table.way(subscriber) if self._parameters.replay_always else self.table.next_hop(subscriber)

    def _remember(self, identifier: NotificationId) -> Recipients:
        handled = self._handled.setdefault(identifier, {})
        if len(self._handled) > self._parameters.remembered:
            del self._handled[next(iter(self._handled))]
        return handled
