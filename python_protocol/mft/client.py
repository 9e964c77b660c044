"""A client of MFT-PubSub (the thesis, section 4.3).

A subscriber numbers its messages; that number is the timestamp t. When it comes to a broker, another one or the same
after a break, it sends a MIG, and corrects what the FILTERS in answer shows to be wrong. So it matters little which of
its messages were lost. Only before its very first message is there nothing to migrate, and it just subscribes.

A `SpreadingClient` broadcasts and hears broadcasts (the parameter `spreads`):

- Whoever sends it, a notification is delivered when it is heard first. The digest of what was heard goes out with the
  heartbeats, so that its broker can send what it lacks.
- What it publishes it broadcasts at once, for every broker that hears it, whether or not it has one of its own. It
  broadcasts it again until the digest of its broker has it.
- What it lacks for long it asks for, and what others ask for and it has it sends them (`mft.forwarding`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from random import Random

from roambus.python_protocol.actions import DROP
from roambus.python_protocol.agent import Recent, on, on_timer
from roambus.python_protocol.brokers.broker import MAX_HOPS, Filters, Pub
from roambus.python_protocol.brokers.client import Client as FamilyClient
from roambus.python_protocol.filters import Filter, Notification, NotificationId
from roambus.python_protocol.mft.forwarding import Missing
from roambus.python_protocol.mft.messages import Ask, Beat, Below, Mig, Rep, Sub, Uns, sum_of
from roambus.python_protocol.mft.parameters import MftParameters
from roambus.python_protocol.mft.spreading import SpreadTimer
from roambus.python_protocol.parts.digest import Digest, Held, exceeds, holds
from roambus.python_protocol.parts.election import Heartbeat
from roambus.python_protocol.vocabulary import BROADCAST, NodeId, SimTime


class Client(FamilyClient):
    """s_i and p_i of one node."""

    subscription_types = (Sub, Uns)

    def __init__(self, node: NodeId, parameters: MftParameters) -> None:
        """The first message of the client will have the number 1."""
        super().__init__(node, parameters)
        self._parameters = parameters
        self._timestamp = 0
        self._place = 0
        """The number of its last migration."""

    @on(Filters)
    def correct_filters(self, message: Filters, broker: NodeId, now: SimTime) -> None:
        """The new broker has answered a MIG: the client tells it what it has wrong."""
        self._correct(message)

    @on(Pub)
    def receive(self, message: Pub, broker: NodeId, now: SimTime) -> None:
        """A notification has arrived on its own way."""
        self._deliver(message.notification, message.hops)

    @on(Rep)
    def receive_replayed(self, message: Rep, broker: NodeId, now: SimTime) -> None:
        """Notifications have arrived that a broker had stored."""
        for one in message.notifications:
            self._deliver(one, message.hops)

    def _greet(self, broker: NodeId, last: NodeId | None) -> None:
        if self._timestamp and last is not None:
            self._migrate(broker, last)
        else:
            self._subscribe_all()

    def _migrate(self, broker: NodeId, last: NodeId) -> None:
        """Tells a broker that this client has moved to it, or is back."""
        if broker == self.node or not self._parameters.beats_migrate:
            self.send(broker, Mig(self.node, last, self._tick(), 0))
        self._place += 1

    def make_beat(self, heartbeat: Heartbeat) -> Beat:
        """A heartbeat that tells where this client is, if it is a subscriber."""
        return Beat(
            heartbeat,
            sum_of([(self.node, self.filters)]),
            (Below(self.node, self._place),) if self._timestamp else (),
        )

    def _head(self) -> tuple[NodeId, int, int]:
        """A subscriber's own messages have gone no hop."""
        return self.node, self._tick(), 0

    def _tick(self) -> int:
        self._timestamp += 1
        return self._timestamp


@dataclass(slots=True)
class _Heard:
    """A notification that others may ask for."""

    pub: Pub
    on_air: SimTime
    """When it was heard or sent last."""
    is_waiting: bool = False
    """Whether it is to be sent."""


class SpreadingClient(Client):
    """s_i and p_i of one node."""

    def __init__(self, node: NodeId, parameters: MftParameters, random: Random) -> None:
        """At first it has nothing, and nothing to publish; `random` is the agent's."""
        super().__init__(node, parameters)
        self._random = random
        self.digest = Digest(parameters.digest_publishers)
        self._received = Recent(parameters.remembered)
        self._unconfirmed: dict[NotificationId, tuple[Notification, SimTime | None]] = {}
        """What no digest of a broker has had yet, and when it was sent last."""
        self._missing = Missing(parameters.ask_after, parameters.heartbeat_interval, parameters.digest_publishers)
        self._heard: dict[NotificationId, _Heard] = {}

    # What is told and asked for

    def learn(self, sender: NodeId, held: Iterable[Held], now: SimTime) -> bool:
        """A node tells what it has; if it is the broker of this client, what it lacks is published again.

        Returns whether that broker has something that this client lacks and could be sent, if it told so.
        """
        told = tuple(held)
        if self._parameters.ask_after and self.filters:
            self._ask(told, now)
        if sender != self.broker:
            return False
        for identifier, (notification, sent) in list(self._unconfirmed.items()):
            if holds(told, identifier):
                del self._unconfirmed[identifier]
            elif sent is None or now - sent > self._parameters.spread_patience:
                self._spread(notification, now)
        return bool(self.filters) and any(exceeds(one, self.digest.tell()) for one in told)

    def _ask(self, told: tuple[Held, ...], now: SimTime) -> None:
        """Asks whoever is around for what it has lacked for long."""
        self._missing.told(told, self.digest.tell(), now)
        if missing := self._missing.take_due(now):
            self.send(BROADCAST, Ask(tuple(self.filters), missing))

    @on(Ask)
    def answer(self, ask: Ask, sender: NodeId, now: SimTime) -> None:
        """A subscriber asks: what is here is sent to it, unless somebody else sends it first."""
        for identifier, heard in self._heard.items():
            is_late = now - heard.on_air > self._parameters.spread_patience
            if is_late and not heard.is_waiting and ask.asks_for(heard.pub.notification):
                heard.is_waiting = True
                self.set_timer(SpreadTimer(identifier), self._random.randrange(self._parameters.spread_patience + 1))

    @on_timer(SpreadTimer)
    def spread(self, key: SpreadTimer, now: SimTime) -> None:
        """Sends the requested notifications, if still no other node has."""
        heard = self._heard.get(key.notification)
        if heard is not None and heard.is_waiting:
            heard.is_waiting, heard.on_air = False, now
            self.send(BROADCAST, heard.pub)

    @on(Pub)
    def receive(self, message: Pub, broker: NodeId, now: SimTime) -> None:
        """A notification has arrived from anybody; others may ask for it."""
        super().receive(message, broker, now)
        if self._parameters.ask_after:
            self._keep(message, now)

    def _keep(self, pub: Pub, now: SimTime) -> None:
        """Keeps a notification until it is too old for digests; who hears it need not send it just now."""
        identifier = pub.notification.id
        known = self._heard.get(identifier)
        if known is not None:
            known.on_air, known.is_waiting = now, False
            return
        self._heard[identifier] = _Heard(pub.replaced(hops=min(pub.hops + 1, MAX_HOPS)), now)
        digest = self.digest.tell()
        for old in [one for one in self._heard if not holds(digest, one)]:
            del self._heard[old]

    def subscribe(self, wanted: Filter) -> None:
        """The application wants what `wanted` matches, from now on."""
        self._missing.begin()
        super().subscribe(wanted)

    # What is published and delivered

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
        self._missing.got(notification.id)
        if self._received.add(notification.id) and any(one.matches(notification) for one in self.filters):
            self.deliver(notification, hops)
