"""Notifications by broadcast, with implicit acknowledgements (the parameter `spreads`).

Algorithm 3.1 sends a copy to each interface behind which somebody wants the notification, and the link layer
acknowledges each. Here one broadcast is for all of them, and whoever hears it may use it:

- A broker that hears a notification for the first time spreads it once, if a neighbour in the tree is on the way to
  somebody who wants it and has not told that it has it. It waits first: `spread_delay` at most if a neighbour in the
  tree sent it, else `spread_patience`, and if it hears `spread_copies` meanwhile it sends nothing.
- Each frame of a node carries a digest of the newest notifications that it has (`parts.digest`). It is the
  acknowledgement: a node that passes a notification on has told that it has it, and leaves tell with their heartbeats.
- An interface whose digest lacks what a broker has, and what somebody there wants, is sent it again, again by
  broadcast. So clients are sent nothing of what they have heard from anybody.
- What a broker has it keeps until it is too old for digests. What it then forgets while there has been no way to
  somebody who wants it, since it came, it stores for that subscriber, and replays it as ever.

Whatever turns or breaks meanwhile, two neighbours in the tree come to have the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from random import Random

from roambus.python_protocol.brokers.messages import Pub
from roambus.python_protocol.filters import NotificationId
from roambus.python_protocol.mft.beats import BeatingBroker
from roambus.python_protocol.mft.broker import Broker
from roambus.python_protocol.mft.messages import Ask, Bsub, Sub
from roambus.python_protocol.mft.parameters import MftParameters
from roambus.python_protocol.parts.digest import Digest, Held, holds, lacks
from roambus.python_protocol.process import on, on_timer
from roambus.python_protocol.roles import BROADCAST, NodeId
from roambus.python_protocol.simtime import SimTime


@dataclass(frozen=True, slots=True)
class SpreadTimer:
    """The key of the timer after which a broker spreads a notification."""

    notification: NotificationId


@dataclass(slots=True)
class _Kept:
    """A notification, as it is to be sent on."""

    pub: Pub
    wanted: frozenset[NodeId]
    """The subscribers that wanted it when it came, or as soon as a subscription may take to come here."""
    number: int
    """Which one it is of all that have come."""
    came: SimTime
    on_air: SimTime
    """When it was heard or sent last."""
    copies: int = 1
    """How often it was heard."""
    is_waiting: bool = False
    """Whether its timer is set."""
    is_asked_for: bool = False
    """Whether an interface has told that it lacks it."""


class SpreadingBroker(Broker):
    """What a broker does with notifications that it broadcasts."""

    def __init__(self, node: NodeId, parameters: MftParameters, random: Random) -> None:
        """At first it has nothing; `random` is the agent's."""
        super().__init__(node, parameters)
        self._random = random
        self.digest = Digest(parameters.digest_publishers)
        self._kept: dict[NotificationId, _Kept] = {}
        self._told: dict[NodeId, tuple[Held, ...]] = {}
        """What each interface has told that it has."""
        self._count = 0
        """Notifications that have come."""
        self._unreached: dict[NodeId, int] = {}
        """Since how many notifications there has been no way to a subscriber."""

    # What is heard

    @on(Pub)
    def publish(self, pub: Pub, z: NodeId, now: SimTime) -> None:
        """A notification has come from anybody."""
        identifier = pub.notification.id
        kept = self._kept.get(identifier)
        if kept is not None:
            kept.copies += 1
            kept.on_air = now
        elif not holds(self.digest.tell(), identifier):
            kept = self._keep(pub, now)
            self._serve_own_client(pub)
            self._spread_within(
                kept, self._parameters.spread_delay if self.reaches(z) else self._parameters.spread_patience
            )

    @on(Sub)
    def subscribe(self, sub: Sub, z: NodeId, now: SimTime) -> None:
        """A subscriber subscribes."""
        super().subscribe(sub, z, now)
        self._want(sub.subscriber, now)

    @on(Bsub)
    def take_subscriptions(self, bsub: Bsub, z: NodeId, now: SimTime) -> None:
        """A broker tells all subscriptions of a subscriber."""
        super().take_subscriptions(bsub, z, now)
        self._want(bsub.subscriber, now)

    def _want(self, subscriber: NodeId, now: SimTime) -> None:
        """A subscription that comes late is for what came meanwhile, too."""
        route = self.table.get(subscriber)
        for kept in self._kept.values():
            is_meanwhile = now - kept.came <= self._parameters.subscription_delay
            notification = kept.pub.notification
            if is_meanwhile and subscriber not in kept.wanted and route is not None and route.matches(notification):
                kept.wanted |= {subscriber}
                self.note_route(notification, [subscriber])
                if route.next_hop == self.node:
                    self.send(self.node, kept.pub)

    def learn(self, sender: NodeId, held: Iterable[Held], now: SimTime) -> None:
        """An interface tells what it has; what it lacks is sent again, unless it was on the air just now."""
        if not self.reaches(sender):
            return
        told = self._told[sender] = tuple(held)
        for kept in self._kept.values():
            is_late = now - kept.on_air > self._parameters.spread_patience
            if is_late and not kept.is_waiting and self._lacks(sender, told, kept):
                kept.is_asked_for = True
                self._spread_within(kept, self._parameters.spread_delay)

    @on(Ask)
    def answer(self, ask: Ask, z: NodeId, now: SimTime) -> None:
        """A subscriber that no broker hears well asks: what is here is sent, unless somebody else sends it first."""
        for kept in self._kept.values():
            is_late = now - kept.on_air > self._parameters.spread_patience
            if is_late and not kept.is_waiting and ask.asks_for(kept.pub.notification):
                kept.is_asked_for = True
                self._spread_within(kept, self._parameters.spread_patience)

    def gone(self, interface: NodeId, *, moved: bool) -> None:
        """A neighbour or client is out of reach."""
        super().gone(interface, moved=moved)
        self._told.pop(interface, None)

    # What is sent

    @on_timer(SpreadTimer)
    def spread(self, key: SpreadTimer, now: SimTime) -> None:
        """Sends a notification, if still nobody else has sent it to those who lack it."""
        kept = self._kept.get(key.notification)
        if kept is None:
            return
        kept.is_waiting = False
        if kept.is_asked_for or self._has_to_spread(kept):
            kept.is_asked_for, kept.on_air = False, now
            self.send(BROADCAST, kept.pub)

    def _has_to_spread(self, kept: _Kept) -> bool:
        """Whether a neighbour who wants a notification may lack it, and few others around have sent it."""
        if kept.copies >= self._parameters.spread_copies:
            return False
        identifier = kept.pub.notification.id
        silent = [one for one in self.neighbours if not holds(self._told.get(one, ()), identifier)]
        return any(way in silent for _, way in self._still_wanted(kept))

    def _lacks(self, interface: NodeId, told: tuple[Held, ...], kept: _Kept) -> bool:
        """Whether a notification is wanted at an interface, and is not there as far as that has told."""
        identifier = kept.pub.notification.id
        if not lacks(told, identifier, self._parameters.digest_publishers):
            return False
        return any(way == interface for _, way in self._still_wanted(kept))

    def _still_wanted(self, kept: _Kept) -> Iterator[tuple[NodeId, NodeId | None]]:
        """The subscribers that wanted a notification when it came and do so now, and the ways to them."""
        matching = self.table.matching(kept.pub.notification)
        return ((subscriber, way) for subscriber, way in matching if subscriber in kept.wanted)

    def _spread_within(self, kept: _Kept, longest: SimTime) -> None:
        kept.is_waiting = True
        self.set_timer(SpreadTimer(kept.pub.notification.id), self._random.randrange(longest + 1))

    # What is kept

    def _keep(self, pub: Pub, now: SimTime) -> _Kept:
        notification = pub.notification
        wanted = [subscriber for subscriber, _ in self.table.matching(notification)]
        self.note_route(notification, wanted)
        onward = replace(pub, hops=self.radio_hops(pub.hops, BROADCAST))
        kept = self._kept[notification.id] = _Kept(onward, frozenset(wanted), self._count, now, now)
        self._count += 1
        self.digest.add(notification.id)
        self._forget_old()
        self._look_for([subscriber for subscriber, _ in self.table])
        return kept

    def _serve_own_client(self, pub: Pub) -> None:
        if any(interface == self.node for _, interface in self.table.matching(pub.notification)):
            self.send(self.node, pub)

    def _forget_old(self) -> None:
        """Forgets what is too old for digests, and stores it for those whom nothing has reached since it came."""
        digest = self.digest.tell()
        for identifier in [one for one in self._kept if not holds(digest, one)]:
            kept = self._kept.pop(identifier)
            for subscriber, _ in self._still_wanted(kept):
                if self._unreached.get(subscriber, self._count) <= kept.number:
                    self._store(subscriber, kept.pub.notification)

    def kept_for_unreached(self) -> Iterator[tuple[NodeId, NotificationId]]:
        """The subscribers who want something that is kept, and to whom there is no way now."""
        for identifier, kept in self._kept.items():
            for subscriber, way in self._still_wanted(kept):
                if not self.reaches(way):
                    yield subscriber, identifier

    def _look_for(self, subscribers: list[NodeId]) -> None:
        """Notes since which notification there has been no way to each subscriber."""
        for subscriber in subscribers:
            if self.reaches(self.table.way(subscriber)):
                self._unreached.pop(subscriber, None)
            else:
                self._unreached.setdefault(subscriber, self._count)


class BeatingSpreadingBroker(SpreadingBroker, BeatingBroker):
    """b_i, which broadcasts notifications, and migrates by heartbeats."""
