"""GPSR (Karp and Kung, MobiCom 2000): geographic forwarding to nodes.

The paper leaves open how a source learns its destination's position; in its simulations an oracle does it
(`positions`). Here a source floods a request, unless it has heard the position in a request, a reply, a packet or a
beacon. One request asks for all positions that packets wait for. A node that knows some of them replies by GPSR, and
passes the request on for the others. A position travels with its age, and counts as new no longer than that allows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from roambus.extensions.routing.geographic import (
    UNKNOWN,
    Geographic,
    GeographicParameters,
    Known,
    Perimeter,
    Point,
    Routed,
    point,
)
from roambus.python_protocol.agent import Recent, on, on_timer
from roambus.python_protocol.events import Publish, Recovered
from roambus.python_protocol.filters import Notification
from roambus.python_protocol.messages.fields import U8, U16
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.parts.link import following
from roambus.python_protocol.parts.unicast import DataPacket, PacketQueue, one_hop_on
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.settings import parameter
from roambus.python_protocol.simtime import MILLISECOND, SECOND, SimTime

LOCATION_TIMER = "location"
REQUESTED, ORACLE = "requested", "oracle"
MOST_TARGETS, MOST_LOCATED = 43, 4
"""In one request and one reply, so that they fit the 102 bytes that IEEE 802.15.4 leaves them in a frame."""
_BITS = 16
_AGE_UNIT = 10 * MILLISECOND


class GpsrParameters(GeographicParameters):
    """Parameters of GPSR; raises ValueError for impossible values."""

    positions: str = parameter(
        REQUESTED,
        source="Karp and Kung (2000), section 3.1: an oracle",
        choices=(REQUESTED, ORACLE),
        doc="how a source learns where its destination is: by requests, or from the scenario, as it publishes",
    )
    location_timeout: SimTime = parameter(
        10 * SECOND,
        unit="s",
        source="reasoned: within it a pedestrian goes half a radio range",
        above=0,
        at_most=600 * SECOND,
        doc="how long a position is used",
    )
    request_timeout: SimTime = parameter(
        SECOND,
        unit="s",
        source="reasoned: two floods",
        above=0,
        doc="wait for a position before it is asked again; it doubles each time",
    )
    request_gap: SimTime = parameter(
        250 * MILLISECOND,
        unit="s",
        source="reasoned: a flood",
        at_least=0,
        doc="shortest time between two requests of a node; one asks for all positions that are missing",
    )
    request_retries: int = parameter(2, source="RFC 3561, section 10", at_least=0, doc="more requests for a position")
    cached_replies: bool = parameter(
        True, source="RFC 4728, section 8.2.3, for its kind", doc="a node answers for others whose positions it knows"
    )
    queue_limit: int = parameter(
        64, unit="packets", source="ns-2 and ns-3 AODV", at_least=1, doc="packets that wait for positions"
    )
    queue_timeout: SimTime = parameter(
        30 * SECOND, unit="s", source="ns-2 and ns-3 AODV", above=0, doc="longest wait of a packet for a position"
    )


class GpsrPacket(Routed, tag=0x67, name="PACKET", notation="ttl={ttl} ..."):
    """A packet to a node, which was at `d` by `age` times 10 ms before."""

    age: U16


class LocationRequest(Message, tag=0x69, name="LOCREQ", notation="ttl={ttl} ..."):
    """A flooded request for the positions of `targets`; the answers go to that of `source`."""

    ttl: U8
    source: NodeId
    number: U16
    position: Point
    targets: tuple[NodeId, ...]


class Located(NamedTuple):
    """Where a node was, `age` times 10 ms before."""

    node: NodeId
    place: Point
    age: U16


class LocationReply(Message, tag=0x6A, name="LOCREP", notation="ttl={ttl} ..."):
    """Positions on their way to `destination` at `d`."""

    hop_count: U8
    ttl: U8
    originator: NodeId
    destination: NodeId
    position: Point
    d: Point
    perimeter: Perimeter | None
    located: tuple[Located, ...]


@dataclass(slots=True)
class Wanted:
    """A position that packets wait for."""

    requests: int
    due: SimTime
    """When it is asked for again, or given up."""


class Gpsr(Geographic):
    """GPSR: each node forwards to the neighbour nearest to the destination, and around voids on a planar graph."""

    parameters: GpsrParameters
    oracle_positions = True

    def forget(self) -> None:
        """Start without neighbours and positions; a random number keeps neighbours from taking new requests for old."""
        super().forget()
        self.located: dict[NodeId, Known] = {}
        self.queue = PacketQueue(self.parameters.queue_limit, self.parameters.queue_timeout)
        self._wanted: dict[NodeId, Wanted] = {}
        self._next: SimTime = 0
        """No request before."""
        self._seen = Recent(self.parameters.delivered_memory)
        self._number = self.random.getrandbits(_BITS)

    def held(self) -> list[DataPacket]:
        """The waiting packets, also those for positions."""
        return [*super().held(), *self.queue]

    @on(Recovered)
    def recover(self, event: Recovered, now: SimTime) -> None:
        """Go on with beacons and requests after a freeze."""
        self.start(event, now)
        self._schedule(now)

    # Packets

    @on(Publish)
    def publish(self, event: Publish, now: SimTime) -> None:
        """Send a packet to each subscriber, with its position from an oracle if the parameters have one."""
        if self.parameters.positions == ORACLE:
            for subscriber, place in zip(event.subscribers, event.places, strict=True):
                self._learn(subscriber, Known(point(place).place, now), now)
        super().publish(event, now)

    def packet(self, subscriber: NodeId, notification: Notification) -> DataPacket:
        """Make a packet whose positions are open."""
        ttl = self.parameters.net_diameter
        return GpsrPacket(0, ttl, self.node, subscriber, notification, UNKNOWN, UNKNOWN, None, 0)

    def carry(self, packet: DataPacket, now: SimTime) -> None:
        """Send an own packet to its destination's position, or search that."""
        known = self._known(packet.destination, now)
        if known is not None:
            self.route(packet.replaced(d=point(known.place), age=_age(known, now)), None, now)
            return
        self._sweep(now)
        if dropped := self.queue.add(packet, now):
            self.frames.drop(dropped, "queue full")
        if packet.destination not in self._wanted:
            self._wanted[packet.destination] = Wanted(0, now)
            self._schedule(now)

    @on(GpsrPacket)
    def receive_packet(self, packet: GpsrPacket, sender: NodeId, now: SimTime) -> None:  # type: ignore[override]  # its own
        """Learn the positions in the packet, and deliver or forward it."""
        self.hear_position(sender, packet.position, now)
        self._learn(packet.destination, Known(packet.d.place, now - packet.age * _AGE_UNIT), now)
        super().receive_packet(packet, sender, now)

    def forward(self, packet: DataPacket, sender: NodeId, now: SimTime) -> None:
        """Forward by position."""
        self.route(packet, sender, now)

    def give_up(self, message: Any, reason: str, now: SimTime) -> None:
        """Drop a message without a next hop; a packet may wait at its source, unless it has come round."""
        if isinstance(message, DataPacket) and reason != "unreachable":
            self.lack_way(message, reason, now)
        else:
            super().give_up(message, reason, now)

    def has_way(self, destination: NodeId, now: SimTime) -> bool:
        """Whether there is a next hop to a known position, or that is to be asked for."""
        known = self._known(destination, now)
        waiting = next(packet for packet in self.waiting if packet.destination == destination)
        return known is None or not isinstance(self.choose(waiting.replaced(d=point(known.place)), None, now), str)

    # Positions that are known

    def _known(self, node: NodeId, now: SimTime) -> Known | None:
        known = self.located.get(node)
        return None if known is None or now - known.since >= self.parameters.location_timeout else known

    def hear_position(self, sender: NodeId, position: Point, now: SimTime) -> None:
        """Take a neighbour's position, for packets to it as well."""
        super().hear_position(sender, position, now)
        if position != UNKNOWN:
            self._learn(sender, Known(position.place, now), now)

    def _learn(self, node: NodeId, known: Known, now: SimTime) -> None:
        """Keep the newest position, and send the packets that have waited for it."""
        old = self.located.get(node)
        if node == self.node or (old is not None and old.since >= known.since):
            return
        self.located[node] = known
        if self._known(node, now) is not None and self._wanted.pop(node, None) is not None:
            self._sweep(now)
            for packet in self.queue.take(node):
                self.carry(packet, now)

    # Requests

    def _sweep(self, now: SimTime) -> None:
        for packet in self.queue.sweep(now):
            self.frames.drop(packet, "no position in time")

    def _schedule(self, now: SimTime) -> None:
        if self._wanted:
            due = max(min(wanted.due for wanted in self._wanted.values()), self._next, now)
            self.set_timer(LOCATION_TIMER, due - now)

    @on_timer(LOCATION_TIMER)
    def ask(self, _: object, now: SimTime) -> None:
        """Ask for all positions that are missing, and give up those without an answer."""
        self._sweep(now)
        due = [target for target, wanted in self._wanted.items() if wanted.due <= now]
        self._give_targets_up(due)
        if asked := [target for target in due if target in self._wanted]:
            self._request(tuple(asked[:MOST_TARGETS]), now)
        self._schedule(now)

    def _give_targets_up(self, targets: Iterable[NodeId]) -> None:
        for target in targets:
            if self._wanted[target].requests > self.parameters.request_retries:
                del self._wanted[target]
                for packet in self.queue.take(target):
                    self.frames.drop(packet, "position unknown")

    def _request(self, targets: tuple[NodeId, ...], now: SimTime) -> None:
        for target in targets:
            wanted = self._wanted[target]
            wanted.due = now + (self.parameters.request_timeout << wanted.requests)
            wanted.requests += 1
        self._next = now + self.parameters.request_gap
        if self.position is None:
            return
        self._number = following(self._number, _BITS)
        here, ttl = point(self.position), self.parameters.net_diameter
        self.frames.broadcast(LocationRequest(ttl, self.node, self._number, here, targets), now)

    @on(LocationRequest)
    def receive_request(self, request: LocationRequest, sender: NodeId, now: SimTime) -> None:
        """Learn the source's position, answer for known targets, and pass the request on for the others."""
        if request.source == self.node or not self._seen.add((request.source, request.number)):
            return
        self._learn(request.source, Known(request.position.place, now), now)
        targets = sorted(request.targets, key=lambda target: target != self.node)
        found = [located for target in targets for located in self._located(target, now)][:MOST_LOCATED]
        left = tuple(sorted({*request.targets} - {located.node for located in found}))
        if found and self.position is not None:
            here, ttl = point(self.position), self.parameters.net_diameter
            reply = LocationReply(0, ttl, self.node, request.source, here, request.position, None, tuple(found))
            self.route(reply, None, now, later=True)
        if left and request.ttl > 1:
            self.frames.broadcast_later(request.replaced(ttl=request.ttl - 1, targets=left), now)

    def _located(self, target: NodeId, now: SimTime) -> list[Located]:
        """Return the position of a target, if this node may answer for it."""
        if target == self.node:
            return [] if self.position is None else [Located(target, point(self.position), 0)]
        known = self._known(target, now) if self.parameters.cached_replies else None
        return [] if known is None else [Located(target, point(known.place), _age(known, now))]

    @on(LocationReply)
    def receive_location(self, reply: LocationReply, sender: NodeId, now: SimTime) -> None:
        """Learn the positions, and pass the reply on."""
        self.hear_position(sender, reply.position, now)
        for located in reply.located:
            self._learn(located.node, Known(located.place.place, now - located.age * _AGE_UNIT), now)
        if reply.destination != self.node and reply.ttl > 1:
            self.route(one_hop_on(reply), sender, now)


def _age(known: Known, now: SimTime) -> int:
    """Return a position's age in a message, rounded up."""
    return -((known.since - now) // _AGE_UNIT)
