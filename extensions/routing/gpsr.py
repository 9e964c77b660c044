"""GPSR (Karp and Kung, MobiCom 2000): geographic forwarding to nodes.

The paper leaves open how a source learns its destination's position; here it floods a request, which the destination
answers by GPSR.
"""

from __future__ import annotations

from dataclasses import dataclass

from roambus.extensions.routing.geographic import (
    Geographic,
    GeographicParameters,
    Known,
    Perimeter,
    Point,
    Routed,
    point,
)
from roambus.python_protocol.agent import Recent, on, on_timer
from roambus.python_protocol.events import Recovered
from roambus.python_protocol.filters import Notification
from roambus.python_protocol.messages.fields import U8, U16
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.parts.link import following
from roambus.python_protocol.parts.unicast import DataPacket, PacketQueue, one_hop_on
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.settings import parameter
from roambus.python_protocol.simtime import SECOND, SimTime

_BITS = 16


class GpsrParameters(GeographicParameters):
    """Parameters of GPSR; raises ValueError for impossible values."""

    location_timeout: SimTime = parameter(
        10 * SECOND,
        unit="s",
        source="reasoned: within it a pedestrian goes half a radio range",
        above=0,
        doc="how long a source uses a destination's position",
    )
    request_timeout: SimTime = parameter(
        SECOND, unit="s", source="reasoned: two floods", above=0, doc="wait for a position before it is asked again"
    )
    request_retries: int = parameter(2, source="RFC 3561, section 10", at_least=0, doc="more requests for a position")
    queue_limit: int = parameter(
        64, unit="packets", source="ns-2 and ns-3 AODV", at_least=1, doc="packets that wait for positions"
    )
    queue_timeout: SimTime = parameter(
        30 * SECOND, unit="s", source="ns-2 and ns-3 AODV", above=0, doc="longest wait of a packet for a position"
    )


class LocationRequest(Message, tag=0x69, name="LOCREQ", notation="ttl={ttl} ..."):
    """A flooded request for the position of `target`; the answer goes to that of `source`."""

    ttl: U8
    source: NodeId
    number: U16
    target: NodeId
    position: Point


class LocationReply(Message, tag=0x6A, name="LOCREP", notation="ttl={ttl} ..."):
    """The position of `originator`, on its way to `destination` at `d`."""

    hop_count: U8
    ttl: U8
    originator: NodeId
    destination: NodeId
    position: Point
    d: Point
    perimeter: Perimeter | None
    located: Point


@dataclass(frozen=True, slots=True)
class LocationTimer:
    """The timer key of a request for a node's position."""

    target: NodeId


class Gpsr(Geographic):
    """GPSR: each node forwards to the neighbour nearest to the destination, and around voids on a planar graph."""

    parameters: GpsrParameters

    def forget(self) -> None:
        """Start without neighbours and positions."""
        super().forget()
        self.located: dict[NodeId, Known] = {}
        self.queue = PacketQueue(self.parameters.queue_limit, self.parameters.queue_timeout)
        self._asked: dict[NodeId, int] = {}
        """The number of requests for each position that is searched."""
        self._seen = Recent(self.parameters.delivered_memory)
        self._number = 0

    def held(self) -> list[DataPacket]:
        """The waiting packets, also those for positions."""
        return [*super().held(), *self.queue]

    @on(Recovered)
    def recover(self, event: Recovered, now: SimTime) -> None:
        """Go on with beacons and requests after a freeze."""
        self.start(event, now)
        for target in self._asked:
            self.set_timer(LocationTimer(target), self.parameters.request_timeout)

    # Packets

    def packet(self, subscriber: NodeId, notification: Notification) -> DataPacket:
        """Make a packet whose positions are open."""
        nowhere = Point(0, 0)
        ttl = self.parameters.net_diameter
        return Routed(0, ttl, self.node, subscriber, notification, nowhere, nowhere, None)

    def carry(self, packet: DataPacket, now: SimTime) -> None:
        """Send an own packet to its destination's position, or search that."""
        known = self.located.get(packet.destination)
        if known is not None and known.until > now:
            self.route(packet.replaced(d=point(known.place)), None, now)
            return
        if dropped := self.queue.add(packet, now):
            self.frames.drop(dropped, "queue full")
        if packet.destination not in self._asked:
            self._asked[packet.destination] = 0
            self._ask(packet.destination, now)

    @on(Routed)
    def receive_packet(self, packet: Routed, sender: NodeId, now: SimTime) -> None:  # type: ignore[override]  # its own
        """Learn the sender's position, and deliver or forward the packet."""
        self.hear_position(sender, packet.position, now)
        super().receive_packet(packet, sender, now)

    def forward(self, packet: DataPacket, sender: NodeId, now: SimTime) -> None:
        """Forward by position."""
        self.route(packet, sender, now)

    # Positions of destinations

    def _ask(self, target: NodeId, now: SimTime) -> None:
        self._asked[target] += 1
        self._number = following(self._number, _BITS)
        if self.position is not None:
            request = LocationRequest(
                self.parameters.net_diameter, self.node, self._number, target, point(self.position)
            )
            self.frames.broadcast(request, now)
        self.set_timer(LocationTimer(target), self.parameters.request_timeout)

    @on_timer(LocationTimer)
    def ask_again(self, key: LocationTimer, now: SimTime) -> None:
        """Repeat a request without answer, or drop the packets that wait for it."""
        for packet in self.queue.sweep(now):
            self.frames.drop(packet, "no position in time")
        if self._asked.get(key.target, 0) > self.parameters.request_retries:
            del self._asked[key.target]
            for packet in self.queue.take(key.target):
                self.frames.drop(packet, "position unknown")
        elif key.target in self._asked:
            self._ask(key.target, now)

    @on(LocationRequest)
    def receive_request(self, request: LocationRequest, sender: NodeId, now: SimTime) -> None:
        """Answer as the target; others pass the first copy on."""
        if request.source == self.node or not self._seen.add((request.source, request.number)):
            return
        if request.target != self.node:
            if request.ttl > 1:
                self.frames.broadcast_later(request.replaced(ttl=request.ttl - 1), now)
        elif self.position is not None:
            here = point(self.position)
            ttl = self.parameters.net_diameter
            reply = LocationReply(0, ttl, self.node, request.source, here, request.position, None, here)
            self.route(reply, None, now)

    @on(LocationReply)
    def receive_location(self, reply: LocationReply, sender: NodeId, now: SimTime) -> None:
        """Take the position that was asked for, or forward it."""
        self.hear_position(sender, reply.position, now)
        if reply.destination != self.node:
            if reply.ttl > 1:
                self.route(one_hop_on(reply), sender, now)
            return
        self.located[reply.originator] = Known(reply.located.place, now + self.parameters.location_timeout)
        if self._asked.pop(reply.originator, None) is not None:
            self.cancel_timer(LocationTimer(reply.originator))
        for packet in self.queue.take(reply.originator):
            self.carry(packet, now)
