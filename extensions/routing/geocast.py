"""Geocast by GPSR: a notification goes to an area, and floods within it.

The attributes `x`, `y` and `radius` (m) of a notification give its area. GPSR carries it towards the centre; the first
node inside floods it, and every node inside repeats the first copy once. It is delivered to subscribers inside. An area
without nodes ends where GPSR finds that its centre is out of reach.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import dist

from roambus.extensions.routing.geographic import FARTHEST_M, UNKNOWN, Geographic, Point, Routed, centimetres, point
from roambus.python_protocol.agent import Recent, on
from roambus.python_protocol.events import Publish
from roambus.python_protocol.filters import Notification
from roambus.python_protocol.messages.fields import U32
from roambus.python_protocol.parts.unicast import one_hop_on
from roambus.python_protocol.roles import BROADCAST, NodeId
from roambus.python_protocol.simtime import SimTime
from roambus.python_protocol.trace_rows import DROP, ROUTE, node_list

AREA = ("x", "y", "radius")


class Geocasted(Routed, tag=0x6B, name="GEOCAST", notation="ttl={ttl} ..."):
    """A packet to all nodes within `radius` centimetres of `d`."""

    is_flooded: bool
    radius: U32


class Geocast(Geographic):
    """Geocast: GPSR to an area, and a flood within it."""

    oracle_subscribers = False

    def forget(self) -> None:
        """Start with nothing seen."""
        super().forget()
        self._flooded = Recent(self.parameters.delivered_memory)

    @on(Publish)
    def publish(self, event: Publish, now: SimTime) -> None:
        """Send a notification to its area."""
        notification = event.notification
        self.note(ROUTE, notification_id=str(notification.id), detail=node_list(event.subscribers))
        area = area_of(notification)
        if area is None:
            self.note(DROP, notification_id=str(notification.id), detail="no area: it lacks x, y or radius")
            return
        x, y, radius = area
        if not 0 <= radius <= FARTHEST_M:
            detail = f"no area: a radius is from 0 to {FARTHEST_M} m"
            self.note(DROP, notification_id=str(notification.id), detail=detail)
            return
        d, size, ttl = point((x, y)), centimetres(radius), self.parameters.net_diameter
        self._take(Geocasted(0, ttl, self.node, BROADCAST, notification, UNKNOWN, d, None, False, size), None, now)

    @on(Geocasted)
    def receive_geocast(self, packet: Geocasted, sender: NodeId, now: SimTime) -> None:
        """Flood or deliver inside of the area; outside forward what is not flooded."""
        self.hear_position(sender, packet.position, now)
        self._take(one_hop_on(packet), sender, now)

    def _take(self, packet: Geocasted, sender: NodeId | None, now: SimTime) -> None:
        here = None if self.position is None else point(self.position)
        if here is not None and dist(here, packet.d) <= packet.radius:
            if self._flooded.add(packet.notification.id):
                self.deliver_once(packet.notification, packet.hop_count)
                self._flood(packet, here, now)
        elif packet.is_flooded:
            return
        elif packet.ttl <= 0:
            self.frames.drop(packet, "TTL exceeded")
        else:
            self.route(packet, sender, now)

    def _flood(self, packet: Geocasted, here: Point, now: SimTime) -> None:
        if packet.ttl > 0:
            self.frames.broadcast_later(packet.replaced(position=here, perimeter=None, is_flooded=True), now)


def area_of(notification: Notification) -> tuple[float, float, float] | None:
    """Return x, y and radius of a notification's area; None without one."""
    attributes: Mapping[str, object] = dict(notification.attributes)
    values = [attributes.get(name) for name in AREA]
    numbers = [float(value) for value in values if isinstance(value, int | float)]
    return (numbers[0], numbers[1], numbers[2]) if len(numbers) == len(AREA) else None
