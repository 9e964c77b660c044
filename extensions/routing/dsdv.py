"""DSDV (Perkins and Bhagwat, SIGCOMM 1994): distance vectors with the destinations' sequence numbers.

A newer sequence number wins; of equal ones the smaller metric. Destinations count even numbers; a broken link makes the
next odd one, with an infinite metric. Full dumps are periodic; incremental ones carry changes since the last full dump.
A full one replaces an incremental one of more than a frame. A route with another metric waits for twice its average
settling time before it is announced. Packets take it at once, and updates carry the last settled one. News of breaks
and new destinations do not wait. Constants that the paper leaves open are those of Broch et al.
(MobiCom 1998, table 1).
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from roambus.python_protocol.agent import Listing, by_first_column, on, on_timer
from roambus.python_protocol.events import Recovered, Started
from roambus.python_protocol.messages.fields import U8, U32, Names
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.parts.link import is_newer
from roambus.python_protocol.parts.unicast import DataPacket, PacketQueue, Router, UnicastParameters
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.settings import parameter
from roambus.python_protocol.simtime import SECOND, SimTime

PERIODIC_TIMER, TRIGGERED_TIMER = "periodic", "triggered"
INFINITE = 255
"""The metric of a broken route."""
MOST_ENTRIES = 14
"""Routes in one update of a frame, in which IEEE 802.15.4 leaves 102 bytes: the paper's network protocol data unit."""
_BROCH = "Broch et al. (1998), table 1"


class DsdvParameters(UnicastParameters):
    """Parameters of DSDV; raises ValueError for impossible values."""

    update_interval: SimTime = parameter(15 * SECOND, unit="s", source=_BROCH, above=0, doc="between two full dumps")
    update_jitter: SimTime = parameter(
        SECOND,
        unit="s",
        source="RFC 5148, section 5.2, for its kind",
        at_least=0,
        doc="a full dump is early by at most this",
    )
    missed_updates: int = parameter(
        3, source=_BROCH, at_least=1, doc="full dumps of a neighbour that are missed before its link is broken"
    )
    settling_time: SimTime = parameter(
        6 * SECOND, unit="s", source=_BROCH, at_least=0, doc="average settling time of a new destination"
    )
    settling_weight: float = parameter(
        0.875, source=_BROCH, at_least=0, at_most=1, doc="weight of the average against the last settling time"
    )
    aggregation_time: SimTime = parameter(
        SECOND, unit="s", source=_BROCH, at_least=0, doc="wait before a triggered update, for more news"
    )
    sequence_triggers: bool = parameter(
        True,
        source="Broch et al. (1998), section 3.1: DSDV-SQ, which delivers more",
        doc="a new sequence number alone triggers an update; false: only a new metric does",
    )
    packets_each: int = parameter(5, source=_BROCH, at_least=0, doc="packets that wait for one destination")
    queue_timeout: SimTime = parameter(
        30 * SECOND, unit="s", source="ns-3 DSDV", above=0, doc="longest wait of a packet for a route"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.update_jitter > self.update_interval:
            raise ValueError("parameter update_jitter: it must be at most update_interval")


class Advertised(NamedTuple):
    """A route in an update."""

    destination: NodeId
    metric: U8
    sequence: U32

    @property
    def is_broken(self) -> bool:
        """Whether there is no way."""
        return self.metric >= INFINITE


class Update(Message, tag=0x60, name="UPDATE"):
    """A full or incremental dump, or a part; the sender's own entry is the first."""

    full: bool
    entries: tuple[Advertised, ...]


@dataclass(slots=True)
class Route:
    """An entry of the forwarding table, with the damping of its announcements."""

    destination: NodeId
    next_hop: NodeId
    metric: int
    sequence: int
    average: float
    """Average settling time in ns."""
    heard: SimTime
    """When this sequence number first came."""
    settled: SimTime
    """When its best metric came."""
    due: SimTime | None
    """When it may be announced; None if nothing is new."""
    settled_one: Advertised | None = None
    """The route in updates."""
    is_changed: bool = field(init=False)
    """Whether the last full dump had another; the first `settle` sets it."""

    def settle(self) -> None:
        """Put this route into updates."""
        self.settled_one = Advertised(self.destination, self.metric, self.sequence)
        self.is_changed, self.due = True, None

    @property
    def is_broken(self) -> bool:
        """Whether there is no way."""
        return self.metric >= INFINITE


class Dsdv(Router):
    """DSDV: every node knows a route to all others, by sequence numbers free of loops."""

    parameters: DsdvParameters

    def forget(self) -> None:
        """Start with an empty table and sequence number 0."""
        super().forget()
        self.routes: dict[NodeId, Route] = {}
        self.sequence = 0
        self.queue = PacketQueue(sys.maxsize, self.parameters.queue_timeout)
        self._updated: dict[NodeId, SimTime] = {}
        """When each neighbour's last update came."""
        self._update_at: SimTime | None = None

    def held(self) -> list[DataPacket]:
        """The waiting packets, also those for routes."""
        return [*super().held(), *self.queue]

    # Updates that leave

    @on(Started, Recovered)
    def start(self, _: Started | Recovered, now: SimTime) -> None:
        """Begin the dumps; a recovered node has lost its timers."""
        self._update_at = None
        self.set_timer(PERIODIC_TIMER, self.random.randint(0, self.parameters.update_interval))
        self._schedule(now)

    @on_timer(PERIODIC_TIMER)
    def dump(self, _: object, now: SimTime) -> None:
        """Break the links of silent neighbours, and send a full dump."""
        limit = self.parameters.missed_updates * self.parameters.update_interval
        for neighbour in [neighbour for neighbour, heard in self._updated.items() if heard + limit <= now]:
            self.lose_link(neighbour, self.frames.give_up(neighbour), now)
        self._sweep(now)
        self._dump_all(now)
        self._schedule(now)
        self.set_timer(
            PERIODIC_TIMER, self.parameters.update_interval - self.random.randint(0, self.parameters.update_jitter)
        )

    @on_timer(TRIGGERED_TIMER)
    def announce(self, _: object, now: SimTime) -> None:
        """Send the changes that need not settle any more."""
        self._update_at = None
        self._settle(now)
        changed = [route for route in self._known() if route.is_changed]
        if len(changed) >= MOST_ENTRIES:
            self._dump_all(now)
        else:
            self._send(changed, now, full=False)
        self._schedule(now)

    def _known(self) -> list[Route]:
        return sorted(self.routes.values(), key=lambda route: route.destination)

    def _settle(self, now: SimTime) -> None:
        for route in self.routes.values():
            if route.due is not None and route.due <= now:
                route.settle()

    def _dump_all(self, now: SimTime) -> None:
        self.sequence += 2
        self._settle(now)
        known = self._known()
        size = MOST_ENTRIES - 1
        for part in [known[start : start + size] for start in range(0, len(known), size)] or [known]:
            self._send(part, now, full=True)
        for route in known:
            route.is_changed = False

    def _send(self, routes: Iterable[Route], now: SimTime, *, full: bool) -> None:
        entries = [Advertised(self.node, 0, self.sequence)]
        entries += [route.settled_one for route in routes if route.settled_one is not None]
        self.frames.broadcast_later(Update(full, tuple(entries)), now)

    def _schedule(self, now: SimTime) -> None:
        """Set the timer of the next news; without any it would fire for nothing."""
        due = min((route.due for route in self.routes.values() if route.due is not None), default=None)
        if due is None:
            if self._update_at is not None:
                self._update_at = None
                self.cancel_timer(TRIGGERED_TIMER)
            return
        at = max(due, now + self.parameters.aggregation_time)
        if self._update_at is None or not due <= self._update_at <= at:
            self._update_at = at
            self.set_timer(TRIGGERED_TIMER, at - now)

    # Updates that arrive

    @on(Update)
    def receive_update(self, update: Update, sender: NodeId, now: SimTime) -> None:
        """Take better routes, schedule their announcement, and send packets that waited for them."""
        self._updated[sender] = now
        for entry in update.entries:
            if entry.destination == self.node:
                self._defend(entry, now)
            else:
                self._consider(entry, sender, now)
        self._schedule(now)

    def _defend(self, entry: Advertised, now: SimTime) -> None:
        """Outbid a number of this node's that it has not given: of a break, or from before a crash."""
        if is_newer(entry.sequence, self.sequence):
            self.sequence = entry.sequence + entry.sequence % 2
            self._dump_all(now)

    def _consider(self, entry: Advertised, sender: NodeId, now: SimTime) -> None:
        metric = min(entry.metric + 1, INFINITE)
        old = self.routes.get(entry.destination)
        if old is None:
            if metric < INFINITE:
                self._install(entry, sender, metric, now)
        elif is_newer(entry.sequence, old.sequence):
            self._renew(old, entry, sender, metric, now)
        elif entry.sequence == old.sequence and metric < old.metric:
            old.next_hop, old.metric, old.settled = sender, metric, now
            old.due = now if old.due is None else old.due
        elif metric >= INFINITE and not old.is_broken:
            old.due = now  # the sender lacks a route that this node has

    def _install(self, entry: Advertised, sender: NodeId, metric: int, now: SimTime) -> None:
        average = self.parameters.settling_time
        self.routes[entry.destination] = Route(
            entry.destination, sender, metric, entry.sequence, average, now, now, due=now
        )
        self._release(entry.destination, now)

    def _renew(self, route: Route, entry: Advertised, sender: NodeId, metric: int, now: SimTime) -> None:
        if entry.sequence % 2 == 0 and not route.is_broken:  # the old number's best route is known now
            weight, last = self.parameters.settling_weight, route.settled - route.heard
            route.average = weight * route.average + (1 - weight) * last
        was = route.metric
        route.next_hop, route.metric, route.sequence = sender, metric, entry.sequence
        route.heard = route.settled = now
        self._damp(route, now, keeps=metric == was)
        if not route.is_broken:
            self._release(route.destination, now)

    def _damp(self, route: Route, now: SimTime, *, keeps: bool) -> None:
        """Set the wait of a route with a newer number; `keeps`: it came with the metric of the last number."""
        told = route.settled_one
        if told is None or told.is_broken != route.is_broken:
            route.due = now
        elif route.metric != told.metric:
            if route.due is None or not keeps:
                route.due = now + round(2 * route.average)
        elif self.parameters.sequence_triggers and not route.is_broken:
            route.due = now
        else:  # no news to trigger an update, but the next one carries the number
            route.settle()

    def lose_link(self, neighbour: NodeId, undelivered: Iterable[Message], now: SimTime) -> None:
        """Give routes over the neighbour an infinite metric and the next odd number, and announce them."""
        self._updated.pop(neighbour, None)
        for route in self.routes.values():
            if route.next_hop == neighbour and not route.is_broken:
                route.metric, route.sequence, route.due = INFINITE, route.sequence + 1, now
        self._schedule(now)
        for message in undelivered:
            if isinstance(message, DataPacket):
                self.carry(message, now)

    # Packets

    @on(DataPacket)
    def receive_packet(self, packet: DataPacket, sender: NodeId, now: SimTime) -> None:
        """Deliver a packet, or forward it by the table."""
        super().receive_packet(packet, sender, now)

    def carry(self, packet: DataPacket, now: SimTime) -> None:
        """Send a packet to the next hop, or let it wait for a route."""
        if (route := self._way(packet.destination)) is not None:
            self.pass_on(packet, route.next_hop, now)
        elif self.parameters.wait_at == "source":
            self.lack_way(packet, "no route", now)
        else:
            self._wait(packet, now)

    def _wait(self, packet: DataPacket, now: SimTime) -> None:
        self._sweep(now)
        if self.queue.count(packet.destination) < self.parameters.packets_each:
            self.queue.add(packet, now)
        else:
            self.frames.drop(packet, "no route")

    def has_way(self, destination: NodeId, now: SimTime) -> bool:
        """Whether there is a route that is not broken."""
        return self._way(destination) is not None

    def _way(self, destination: NodeId) -> Route | None:
        route = self.routes.get(destination)
        return None if route is None or route.is_broken else route

    def _sweep(self, now: SimTime) -> None:
        for packet in self.queue.sweep(now):
            self.frames.drop(packet, "no route in time")

    def _release(self, destination: NodeId, now: SimTime) -> None:
        self._sweep(now)
        for packet in self.queue.take(destination):
            self.carry(packet, now)

    # What is looked at

    def ways(self, _: SimTime) -> Mapping[NodeId, tuple[NodeId, ...]]:
        """The next hop to each destination that can be reached."""
        return {route.destination: (route.next_hop,) for route in self.routes.values() if not route.is_broken}

    def listings(self, names: Names) -> Mapping[str, Listing]:
        """The forwarding table, with the columns of the paper's table 1."""
        return {"table": by_first_column(("Destination", "NextHop", "Metric", "Sequence number"), self._rows(names))}

    def _rows(self, names: Names) -> Iterator[tuple[str, ...]]:
        for route in self._known():
            metric = "infinite" if route.is_broken else str(route.metric)
            yield names.node(route.destination), names.node(route.next_hop), metric, str(route.sequence)
