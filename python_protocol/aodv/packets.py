"""Data packets along the routes that there are, and those that wait for one (RFC 3561, sections 6.2 and 6.3)."""

from __future__ import annotations

from roambus.python_protocol.aodv.messages import DataPacket
from roambus.python_protocol.aodv.routing_table import Route
from roambus.python_protocol.aodv.transmission import Transmission
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime


class Packets(Transmission):
    """Sends packets along routes; discovery finds the routes that are missing."""

    def send_packet(self, packet: DataPacket, route: Route, now: SimTime) -> None:
        """Passes `packet` to the next hop, and keeps the routes alive that it uses.

        By section 6.2 these are the routes to the destination, to the next hop and back to the originator.
        """
        if self.is_full(route.next_hop):
            self.drop(packet, "link queue full")
            return
        self.keep_alive((packet.destination, route.next_hop, packet.originator), now)
        self.unicast(route.next_hop, packet, now)

    def send_queued(self, route: Route, now: SimTime) -> None:
        """Sends everything that waited for `route`, oldest first."""
        for packet in self.queue.take(route.destination):
            self.send_packet(packet, route, now)

    def enqueue(self, packet: DataPacket, now: SimTime) -> None:
        """Lets `packet` wait for a route (section 6.3)."""
        dropped = self.queue.add(packet, now)
        if dropped is not None:
            self.drop(dropped, "request queue full")

    def drop_queued(self, destination: NodeId) -> None:
        """Drops what waits for a route that was not found (section 6.3)."""
        for packet in self.queue.take(destination):
            self.drop(packet, "no route")

    def keep_alive(self, nodes: tuple[NodeId, ...], now: SimTime) -> None:
        """Renews the routes to nodes between which data goes now (section 6.2)."""
        self.used_at = now
        until = now + self.parameters.active_route_timeout
        for node in nodes:
            self.table.extend(node, until, now)
