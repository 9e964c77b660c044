"""Managed flooding: a broadcast with a hop limit, whose repeaters wait, and are silent when they hear another.

A node that receives a packet for the first time delivers it to its own subscribers, and waits before it repeats the
packet (`contention`). A client that hears another copy meanwhile gives up. A router repeats in any case, and sooner. A
repeater is a router without an application. The agent keeps waiting packets itself, because a MAC gives back no frame
but one that it cannot send. If it finds the channel busy, and says so, the packet waits anew, and can be silenced.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import NamedTuple

from roambus.extensions.lora.messages import CLIENT, REPEATER, MeshParameters, Packet
from roambus.python_protocol.agent import Brokerless, Recent, on, on_timer
from roambus.python_protocol.events import CHANNEL_ACCESS_FAILURE, Publish, Received, SendFailed
from roambus.python_protocol.filters import NotificationId
from roambus.python_protocol.messages.message import MessageSet
from roambus.python_protocol.roles import BROADCAST, NodeId, Role
from roambus.python_protocol.simtime import SimTime
from roambus.python_protocol.trace_rows import DROP, ROUTE, node_list


@dataclass(frozen=True, slots=True)
class RepeatTimer:
    """The timer key of a packet that waits to be repeated."""

    notification: NotificationId


class Waiting(NamedTuple):
    """A packet to send, and the SNR (dB) with which it came; None for the node's own."""

    packet: Packet
    snr_db: float | None


class ManagedFlooding(Brokerless):
    """Repeats a packet after a wait, unless another node does so first."""

    parameters: MeshParameters
    messages = MessageSet([Packet])

    def __init__(self, node: NodeId, roles: Role, parameters: MeshParameters, random: Random) -> None:
        """Raise ValueError for a repeater with an application."""
        if parameters.role == REPEATER and roles & (Role.PUBLISHER | Role.SUBSCRIBER):
            raise ValueError(
                f"node {node} is a repeater, which neither publishes nor subscribes: "
                f'write SN.node[{node}].Application.roles = "broker"'
            )
        self._window = parameters.window
        super().__init__(node, roles, parameters, random)

    def forget(self) -> None:
        """Start with nothing seen, and nothing to repeat."""
        self._seen = Recent(self.parameters.memory)
        self._waiting: dict[NotificationId, Waiting] = {}
        self._at_mac: dict[NotificationId, Waiting] = {}
        """Packets that the MAC has got, and may give back; the newest of them."""

    @on(Publish)
    def publish(self, event: Publish, _: SimTime) -> None:
        """Send a notification with the whole hop limit."""
        notification, start = event.notification, self.parameters.hop_start
        self._seen.add(notification.id)
        self.note(ROUTE, notification_id=str(notification.id), detail=node_list(event.subscribers))
        if self.subscriptions.match(notification):
            self.deliver(notification, 0)
        self._hand_over(Waiting(Packet(start, start, notification), None))

    @on(Received)
    def receive(self, event: Received, _: SimTime) -> None:
        """Deliver a new packet and consider to repeat it; a further copy silences a client."""
        packet = event.message
        if not isinstance(packet, Packet):
            return
        if self._seen.add(packet.notification.id):
            self._hear_first(packet, event.lqi_db)
        elif self.parameters.role == CLIENT:
            self.hear_again(packet)

    def _hear_first(self, packet: Packet, snr_db: float) -> None:
        if self.subscriptions.match(packet.notification):
            self.deliver(packet.notification, packet.hop_start - packet.hop_limit + 1)
        if packet.hop_limit > 0:
            self._wait_to_send(Waiting(packet.replaced(hop_limit=packet.hop_limit - 1), snr_db))

    def hear_again(self, packet: Packet) -> None:
        """Give up a packet that waits here, or that the MAC may yet give back."""
        identifier = packet.notification.id
        self._at_mac.pop(identifier, None)
        if self._waiting.pop(identifier, None) is not None:
            self.cancel_timer(RepeatTimer(identifier))

    def _wait_to_send(self, waiting: Waiting) -> None:
        identifier = waiting.packet.notification.id
        if len(self._waiting) >= self.parameters.waiting:
            self.note(DROP, message_type=Packet.message_type, notification_id=str(identifier), detail="too many wait")
            return
        self._waiting[identifier] = waiting
        self.set_timer(RepeatTimer(identifier), self.wait(waiting.snr_db))

    def wait(self, snr_db: float | None) -> SimTime:
        """Draw the wait, in ns, of a packet that has come with this SNR; of an own one from the least window."""
        if snr_db is None:
            slots = self.random.randrange(2**self.parameters.cw_min)
        elif self.parameters.role != CLIENT:
            slots = self._window.router_slots(snr_db, self.random)
        else:
            head_start = self._window.routers_end if self.parameters.routers_first else 0
            slots = head_start + self._window.client_slots(snr_db, self.random)
        return slots * self.parameters.slot

    @on_timer(RepeatTimer)
    def repeat(self, key: RepeatTimer, _: SimTime) -> None:
        """Send a packet that has waited."""
        if (waiting := self._waiting.pop(key.notification, None)) is not None:
            self._hand_over(waiting)

    def _hand_over(self, waiting: Waiting) -> None:
        """Hand a packet to the MAC, and keep it for the case that the channel is busy.

        The MAC does not say that it has sent a packet. So the bound is that of known packets, far above a MAC's queue.
        """
        if len(self._at_mac) >= self.parameters.memory:
            del self._at_mac[next(iter(self._at_mac))]
        self._at_mac[waiting.packet.notification.id] = waiting
        self.send(BROADCAST, waiting.packet)

    @on(SendFailed)
    def wait_again(self, failed: SendFailed, _: SimTime) -> None:
        """Wait anew with a packet whose channel was busy, unless another node was heard to repeat it."""
        if failed.reason != CHANNEL_ACCESS_FAILURE or not isinstance(failed.message, Packet):
            return
        if (waiting := self._at_mac.pop(failed.message.notification.id, None)) is not None:
            self._wait_to_send(waiting)
