"""Data packets that arrive (RFC 3561, sections 6.2, 6.11 and 6.13): at their end, passed on, or refused."""

from __future__ import annotations

from roambus.python_protocol.aodv.discovery import Discovery
from roambus.python_protocol.aodv.messages import DataPacket
from roambus.python_protocol.process import on, on_timer
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime

REBOOT_TIMER = "reboot"


class Forwarding(Discovery):
    """Passes data on along the routes that there are; what arrives for this node goes to `arrived`."""

    @on(DataPacket)  # section 6.2, and section 6.11, case ii
    def receive_packet(self, packet: DataPacket, sender: NodeId, now: SimTime) -> None:
        """Delivers data for this node, and forwards other data; the way back to its originator is kept alive."""
        self.neighbours.hear(sender, now)
        self.keep_alive((sender, packet.originator), now)
        packet = _one_hop_on(packet)
        if packet.destination == self.node:
            self.arrived(packet)
        elif packet.ttl <= 0:
            self.drop(packet, "TTL exceeded")
        else:
            self._forward(packet, sender, now)

    @on_timer(REBOOT_TIMER)  # section 6.13
    def end_silence(self, _: object, now: SimTime) -> None:
        """Searches what was asked for while the node kept silent."""
        self.silent_until = now
        for destination in self.queue.destinations():
            self.search(destination, now)

    def arrived(self, packet: DataPacket) -> None:
        """A packet for this node is here, and its hop count is complete."""

    def keep_silent(self, now: SimTime) -> None:
        """Waits for DELETE_PERIOD until nobody routes over this node any more (section 6.13)."""
        wait = self.parameters.delete_period
        self.silent_until = now + wait
        self.set_timer(REBOOT_TIMER, wait)

    def _forward(self, packet: DataPacket, sender: NodeId, now: SimTime) -> None:
        if self.is_silent(now):
            # Section 6.13: somebody still routes over this node, along a route that it has forgotten.
            self._refuse_packet(packet, sender, now)
            self.keep_silent(now)
        elif self.is_repairing(packet.destination) or self.table.active(packet.destination, now):
            self.carry(packet, now)
        else:
            self._refuse_packet(packet, sender, now)

    def _refuse_packet(self, packet: DataPacket, sender: NodeId, now: SimTime) -> None:
        self.drop(packet, "no route")
        self.refuse(packet.destination, sender, now)


def _one_hop_on(packet: DataPacket) -> DataPacket:
    hop_count = min(packet.hop_count + 1, 255)
    return DataPacket(hop_count, packet.ttl - 1, packet.originator, packet.destination, packet.notification)
