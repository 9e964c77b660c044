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

*Why everybody who overhears spreads*: to a broker that overhears a notification its parent is on the way to all who are
not below it, and has not told yet that it has it. To have only those send it up who heard it from below saves a quarter
of the PUBs and was tried (C32, frames of 127 bytes, a seed each): of what is wanted by all at 8 m/s 0.86 came within a
second in place of 0.97. Links of the tree lose so much that the copies beside it are what is in time.

Heartbeats that migrate: the places of subscribers go up the tree with every round (the parameter `beats_migrate`).

On a radio the messages of a migration get lost, are acknowledged and sent again, and where nodes move fast the next
migration comes before they are through. Here a client tells its place in each heartbeat instead of a MIG (algorithm
4.1), and a broker in each heartbeat the set C of algorithm 4.2, the subscribers below it, instead of a BMIG. Nothing of
this is acknowledged: what is lost is said again a round later. So places and subscriptions come apart:

- A client numbers its migrations. A subscriber that a child tells with a number that is not older than the one known
  is below that child, unless this broker is the subscriber's own and the numbers are equal (`home_decides`).
- A subscriber that is not told any more, or whose child is gone, is no longer below: the way to it is the way to the
  leader, as for all of the set O.
- The timestamps T are those of subscriptions alone. Heartbeats carry a sum of all subscriptions. If that of the parent
  stays another one for a whole round, the broker sends a BMIG with all that it knows in O, and both compare it as
  algorithms 4.3 and 4.4 do. If that of a client does, it is sent FILTERS.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from random import Random

from roambus.python_protocol.agent import on, on_timer
from roambus.python_protocol.brokers.broker import Pub
from roambus.python_protocol.filters import NotificationId
from roambus.python_protocol.mft.broker import Broker
from roambus.python_protocol.mft.messages import (
    Ask,
    Beat,
    Below,
    Bmig,
    Bsub,
    Known,
    Mig,
    Route,
    Sub,
    Uns,
    at_hops,
    sum_of,
)
from roambus.python_protocol.mft.parameters import MftParameters
from roambus.python_protocol.parts.digest import Digest, Held, holds, lacks
from roambus.python_protocol.parts.election import Heartbeat
from roambus.python_protocol.vocabulary import BROADCAST, NodeId, SimTime


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
            if any(interface == self.node for _, interface in self.table.matching(pub.notification)):
                self.send(self.node, pub)
            self._spread_within(
                kept, self._parameters.spread_delay if self.reaches(z) else self._parameters.spread_patience
            )

    @on(Sub)
    def subscribe(self, sub: Sub, z: NodeId, now: SimTime) -> None:
        """As without spreading; the subscription also covers recent notifications (`subscription_delay`)."""
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
            if self._is_silent(kept, now) and self._lacks(sender, told, kept):
                self._spread_within(kept, self._parameters.spread_delay, is_asked_for=True)

    @on(Ask)
    def answer(self, ask: Ask, z: NodeId, now: SimTime) -> None:
        """A subscriber that no broker hears well asks: what is here is sent, unless somebody else sends it first."""
        for kept in self._kept.values():
            if self._is_silent(kept, now) and ask.asks_for(kept.pub.notification):
                self._spread_within(kept, self._parameters.spread_patience, is_asked_for=True)

    def _is_silent(self, kept: _Kept, now: SimTime) -> bool:
        """Whether a notification has not been on the air just now, and is not about to be."""
        return now - kept.on_air > self._parameters.spread_patience and not kept.is_waiting

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
        identifier = kept.pub.notification.id
        silent = [one for one in self.neighbours if not holds(self._told.get(one, ()), identifier)]
        is_wanted = any(way in silent for _, way in self._still_wanted(kept))
        return is_wanted and kept.copies < self._parameters.spread_copies

    def _lacks(self, interface: NodeId, told: tuple[Held, ...], kept: _Kept) -> bool:
        """Whether a notification is wanted at an interface, and is not there as far as that has told."""
        is_lacked = lacks(told, kept.pub.notification.id, self._parameters.digest_publishers)
        return is_lacked and any(way == interface for _, way in self._still_wanted(kept))

    def _still_wanted(self, kept: _Kept) -> Iterator[tuple[NodeId, NodeId | None]]:
        """The subscribers that wanted a notification when it came and do so now, and the ways to them."""
        matching = self.table.matching(kept.pub.notification)
        return ((subscriber, way) for subscriber, way in matching if subscriber in kept.wanted)

    def _spread_within(self, kept: _Kept, longest: SimTime, *, is_asked_for: bool = False) -> None:
        kept.is_waiting, kept.is_asked_for = True, kept.is_asked_for or is_asked_for
        self.set_timer(SpreadTimer(kept.pub.notification.id), self._random.randrange(longest + 1))

    # What is kept

    def _keep(self, pub: Pub, now: SimTime) -> _Kept:
        notification = pub.notification
        wanted = [subscriber for subscriber, _ in self.table.matching(notification)]
        self.note_route(notification, wanted)
        onward = pub.replaced(hops=self.radio_hops(pub.hops, BROADCAST))
        kept = self._kept[notification.id] = _Kept(onward, frozenset(wanted), self._count, now, now)
        self._count += 1
        self.digest.add(notification.id)
        self._forget_old()
        self._look_for([subscriber for subscriber, _ in self.table])
        return kept

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


class BeatingBroker(Broker):
    """b_i, whose heartbeats are its BMIGs."""

    def __init__(self, node: NodeId, parameters: MftParameters) -> None:
        """At first nobody has told anything."""
        super().__init__(node, parameters)
        self._differed: dict[NodeId, tuple[int, int]] = {}
        """The sums of an interface and of this broker when they differed last."""

    # Algorithm 4.2

    def make_beat(self, heartbeat: Heartbeat) -> Beat:
        """A heartbeat with the set C."""
        below = (Below(s, route.place) for s, route in self.table if self._is_below(route))
        return Beat(heartbeat, self._sum(), tuple(below))

    def migrate(self, parent: NodeId) -> None:
        """The way to the leader now begins at `parent`: everybody who is not below is there."""
        above = [(s, route) for s, route in self.table if not self._is_below(route)]
        self._uplink = parent
        self.meet(parent)
        for subscriber, route in above:
            self._lead(subscriber, route, parent)

    def gone(self, interface: NodeId, *, moved: bool) -> None:
        """A neighbour or client is out of reach: nobody is below it any more."""
        super().gone(interface, moved=moved)
        self._differed.pop(interface, None)
        for subscriber, route in self.table:
            if route.next_hop == interface:
                self._lose(subscriber, route)

    # Algorithm 4.3

    def take_beat(self, z: NodeId, beat: Beat) -> None:
        """A node of the tree has beaten: a child tells who is below it, the parent only what it knows."""
        if beat.heartbeat.parent == self.node:
            self._take_child(z, beat)
        elif z == self._uplink and z in self.neighbours and self._differs(z, beat.about, self._sum()):
            known = (Known(s, route.timestamp.counter, route.timestamp.hops) for s, route in self.table)
            self.send(z, Bmig(0, (), tuple(known)))

    def _take_child(self, z: NodeId, beat: Beat) -> None:
        told = {below.subscriber for below in beat.below}
        for below in beat.below:
            self._take_place(z, below)
        for subscriber, route in self.table:
            if route.next_hop == z and subscriber not in told:
                self._lose(subscriber, route)
        if z in self.clients and self._differs(z, beat.about, sum_of([(z, self.table.filters(z))])):
            self._send_filters(z)

    def _take_place(self, z: NodeId, below: Below) -> None:
        """A child tells of a subscriber below it."""
        subscriber, route = below.subscriber, self.table.get(below.subscriber)
        if route is None or below.place < route.place:
            return
        is_home = route.next_hop in {subscriber, self.node} and self.reaches(route.next_hop)
        if below.place == route.place and is_home and z != subscriber:
            return
        route.place = below.place
        self._lead(subscriber, route, z)

    def _lead(self, subscriber: NodeId, route: Route, z: NodeId) -> None:
        """The way to a subscriber begins at z."""
        if route.next_hop != z:
            route.next_hop = z
            self._send_queued(subscriber, z)

    def _lose(self, subscriber: NodeId, route: Route) -> None:
        """A subscriber is no longer below: it is where the leader is, as far as this broker knows."""
        route.next_hop = None
        if self._uplink in self.neighbours:
            self._lead(subscriber, route, self._uplink)

    def _differs(self, z: NodeId, theirs: int, own: int) -> bool:
        """Whether an interface knows something else, and both know what they did at its last heartbeat."""
        before = self._differed.pop(z, None)
        if theirs == own:
            return False
        if before == (theirs, own):
            return True
        self._differed[z] = (theirs, own)
        return False

    @on(Bmig)  # lines 19 to 26
    def migrate_broker(self, bmig: Bmig, b_j: NodeId, now: SimTime) -> None:
        """A neighbour tells all that it knows of subscriptions."""
        for known in bmig.others:
            self._compare(b_j, known)
        mentioned = {known.subscriber for known in bmig.others}
        for subscriber in [s for s, route in self.table if route.filters and s not in mentioned]:
            self._send_subscriptions(subscriber, b_j)

    # Algorithm 4.4

    @on(Bsub)  # lines 1 to 9
    def take_subscriptions(self, bsub: Bsub, z: NodeId, now: SimTime) -> None:
        """A broker tells all subscriptions of a subscriber, which replace what is known if they are newer."""
        route = self.table.get(bsub.subscriber)
        if bsub.known.counter > self.table.timestamp(bsub.subscriber).counter:
            timestamp = at_hops(bsub.known.counter, bsub.known.hops + bsub.hops + 1)
            old = None if route is None else route.next_hop
            route = self.table.update(bsub.subscriber, z if old is None else old, timestamp)
            route.filters = dict.fromkeys(bsub.filters)
            self._flood_news(bsub, z)
        elif bsub.known.counter < self.table.timestamp(bsub.subscriber).counter:
            self._send_subscriptions(bsub.subscriber, z)

    # Helpers

    def _forget_way(self, subscriber: NodeId, interface: NodeId) -> None:
        """Subscriptions say nothing of ways here."""

    def _misled(self, z: NodeId, message: Sub | Uns | Mig) -> NodeId | None:
        """None: with spreading there are no ways that a message could show to a neighbour."""

    def _is_below(self, route: Route) -> bool:
        return bool(route.filters) and route.next_hop != self._uplink and self.reaches(route.next_hop)

    def _sum(self) -> int:
        return sum_of((subscriber, route.filters) for subscriber, route in self.table)


class BeatingSpreadingBroker(SpreadingBroker, BeatingBroker):
    """b_i, which broadcasts notifications, and migrates by heartbeats."""
