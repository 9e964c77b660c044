"""Heartbeats that migrate: the places of subscribers go up the tree with every round (the parameter `beats_migrate`).

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

from roambus.python_protocol.mft.broker import Broker
from roambus.python_protocol.mft.interests import sum_of
from roambus.python_protocol.mft.messages import Beat, Below, Bmig, Bquery, Bsub, Known, Mig, Sub, Uns
from roambus.python_protocol.mft.parameters import MftParameters
from roambus.python_protocol.mft.routing import Route
from roambus.python_protocol.mft.timestamps import at_hops
from roambus.python_protocol.parts.election import Heartbeat
from roambus.python_protocol.process import on
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime


class BeatingBroker(Broker):
    """b_i, whose heartbeats are its BMIGs."""

    def __init__(self, node: NodeId, parameters: MftParameters) -> None:
        """At first nobody has told anything."""
        super().__init__(node, parameters)
        self._differed: dict[NodeId, tuple[int, int]] = {}
        """The sums of an interface and of this broker when they differed last."""

    # Algorithm 4.1

    @on(Sub)  # lines 1 to 6
    def subscribe(self, sub: Sub, z: NodeId, now: SimTime) -> None:
        """A subscriber subscribes."""
        if not self._asks_instead(sub, z):
            super().subscribe(sub, z, now)

    @on(Uns)  # lines 7 to 12
    def unsubscribe(self, uns: Uns, z: NodeId, now: SimTime) -> None:
        """A subscriber unsubscribes."""
        if not self._asks_instead(uns, z):
            super().unsubscribe(uns, z, now)

    def _asks_instead(self, message: Sub | Uns, z: NodeId) -> bool:
        """Asks a neighbour for everything, if a message of the subscriber before this one has not come here.

        A BMIG comes some time after a link: what the subscriber said before may still be unknown.
        """
        own = self.table.timestamp(message.subscriber)
        if z not in self.neighbours or message.timestamp <= own.counter + 1:
            return False
        self.send(z, Bquery(message.subscriber, own))
        return True

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
        """Nor are there ways of which they could tell a neighbour."""

    def _is_below(self, route: Route) -> bool:
        return bool(route.filters) and route.next_hop != self._uplink and self.reaches(route.next_hop)

    def _sum(self) -> int:
        return sum_of((subscriber, route.filters) for subscriber, route in self.table)
