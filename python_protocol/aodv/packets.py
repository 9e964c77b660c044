"""Data packets along the routes that there are (RFC 3561, sections 6.2 and 6.11)."""

from __future__ import annotations

from roambus.python_protocol.aodv.messages import DataPacket
from roambus.python_protocol.aodv.routing_table import Route
from roambus.python_protocol.aodv.state import State
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime


class Packets:
    """Sends packets along routes; those without a route are the discovery's business."""

    def __init__(self, state: State) -> None:
        self._state = state

    def send(self, packet: DataPacket, route: Route, now: SimTime) -> None:
        """Passes `packet` to the next hop, and keeps the routes that it uses alive.

        Section 6.2: those to the destination, to the next hop and back to the originator.
        """
        out = self._state.out
        if out.is_full(route.next_hop):
            out.drop(packet, "link queue full")
            return
        self._keep_alive((packet.destination, route.next_hop, packet.originator), now)
        out.unicast(route.next_hop, packet, now)

    def hop(self, packet: DataPacket, sender: NodeId, now: SimTime) -> DataPacket:
        """`packet` after the hop from `sender`: one hop more, one to live less. The way back is kept alive."""
        self._keep_alive((sender, packet.originator), now)
        hop_count = min(packet.hop_count + 1, 255)
        return DataPacket(packet.ttl - 1, hop_count, packet.originator, packet.destination, packet.notification)

    def flush(self, route: Route, now: SimTime) -> None:
        """Sends everything that waited for `route`, oldest first."""
        for packet in self._state.queue.take(route.destination):
            self.send(packet, route, now)

    def queue(self, packet: DataPacket, now: SimTime) -> None:
        """Lets `packet` wait for a route."""
        dropped = self._state.queue.add(packet, now)
        if dropped is not None:
            self._state.out.drop(dropped, "request queue full")

    def give_up(self, destination: NodeId) -> None:
        """Section 6.3: no route was found, what waits for it is dropped."""
        for packet in self._state.queue.take(destination):
            self._state.out.drop(packet, "no route")

    def _keep_alive(self, nodes: tuple[NodeId, ...], now: SimTime) -> None:
        state = self._state
        state.used_at = now
        until = now + state.parameters.active_route_timeout
        for node in nodes:
            state.table.extend(node, until, now)
