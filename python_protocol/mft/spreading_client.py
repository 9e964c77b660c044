"""A client that broadcasts and hears broadcasts (the parameter `spreads`).

- Whoever sends it, a notification is delivered when it is heard first. The digest of what was heard goes out with the
  heartbeats, so that its broker can send what it lacks.
- What it publishes it broadcasts at once, for every broker that hears it, whether or not it has one of its own. It
  broadcasts it again until the digest of its broker has it.
"""

from __future__ import annotations

from collections.abc import Iterable

from roambus.python_protocol.filters import Notification, NotificationId
from roambus.python_protocol.mft.client import Client
from roambus.python_protocol.mft.parameters import MftParameters
from roambus.python_protocol.notes import DROP
from roambus.python_protocol.parts.digest import Digest, Held, exceeds, holds
from roambus.python_protocol.parts.recent import Recent
from roambus.python_protocol.roles import BROADCAST, NodeId
from roambus.python_protocol.simtime import SimTime


class SpreadingClient(Client):
    """s_i and p_i of one node."""

    def __init__(self, node: NodeId, parameters: MftParameters) -> None:
        """At first it has nothing, and nothing to publish."""
        super().__init__(node, parameters)
        self.digest = Digest(parameters.digest_publishers)
        self._received = Recent(parameters.remembered)
        self._unconfirmed: dict[NotificationId, tuple[Notification, SimTime | None]] = {}
        """What no digest of a broker has had yet, and when it was sent last."""

    def learn(self, sender: NodeId, held: Iterable[Held], now: SimTime) -> bool:
        """A node tells what it has; if it is the broker of this client, what it lacks is published again.

        Returns whether that broker has something that this client lacks and could be sent, if it told so.
        """
        if sender != self.broker:
            return False
        told = tuple(held)
        for identifier, (notification, sent) in list(self._unconfirmed.items()):
            if holds(told, identifier):
                del self._unconfirmed[identifier]
            elif sent is None or now - sent > self._parameters.spread_patience:
                self._spread(notification, now)
        return bool(self.filters) and any(exceeds(one, self.digest.tell()) for one in told)

    def publish(self, notification: Notification) -> None:
        """The application publishes; what is published before there is a broker for the first time waits for it."""
        if self.broker == self.node or self._last_broker is None:
            super().publish(notification)
            return
        self._spread(notification, None)
        for oldest in list(self._unconfirmed)[: -self._limit]:
            del self._unconfirmed[oldest]
            self.note(DROP, notification_id=str(oldest), detail="publisher has no broker")

    def _flush(self) -> None:
        """Publishes what has waited for the first broker; a broker on the same node needs no broadcast."""
        if self.broker is None or self.broker == self.node:
            super()._flush()
            return
        waiting, self._unpublished = self._unpublished, []
        for one in waiting:
            self._spread(one, None)

    def _spread(self, notification: Notification, now: SimTime | None) -> None:
        self._unconfirmed[notification.id] = notification, now
        self.send(BROADCAST, self._publication(notification, 1))

    def _deliver(self, notification: Notification, hops: int) -> None:
        """Most of what it hears is for others, and has not been dropped by anybody."""
        self.digest.add(notification.id)
        if self._received.add(notification.id) and any(one.matches(notification) for one in self.filters):
            self.deliver(notification, hops)
