"""How AODV's messages leave the node, and how frames of the link layer arrive (RFC 3561, section 6.10).

A message goes out as a broadcast, or to one neighbour, then over the link layer or bare. It goes at once or, where
other nodes may react to the same frame at the same instant, after a jitter (RFC 5148).
"""

from __future__ import annotations

from dataclasses import dataclass

from roambus.python_protocol.aodv.messages import DataPacket
from roambus.python_protocol.aodv.router import Router
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.notes import DROP
from roambus.python_protocol.parts.jitter import Jitter
from roambus.python_protocol.parts.link import Link, LinkAck, LinkData
from roambus.python_protocol.parts.streams import LinkBroken, LinkTimer
from roambus.python_protocol.process import on, on_timer
from roambus.python_protocol.roles import BROADCAST, NodeId
from roambus.python_protocol.simtime import SimTime


@dataclass(frozen=True, slots=True)
class UnicastTimer:
    """The key of the timer of one postponed unicast."""

    number: int


class Transmission(Router):
    """The frames of one node."""

    def forget(self) -> None:
        """Starts with new sessions of the link layer, and nothing to send."""
        super().forget()
        self._link = Link(self.parameters, self.random) if self.parameters.link_layer else None
        self._jitter = Jitter(self.parameters.broadcast_jitter, self.random)
        self._broadcasts: list[SimTime] = []
        """When this node broadcast, or will, since it was last asked."""
        self._postponed: dict[int, tuple[NodeId, Message]] = {}
        """Unicasts that wait for their time, by their numbers: only then does the link layer take them."""
        self._number = 0

    @on(LinkData, LinkAck)
    def receive_frame(self, frame: LinkData | LinkAck, sender: NodeId, now: SimTime) -> None:
        """Hears the messages in a frame of the neighbour's link layer."""
        self.neighbours.hear(sender, now)
        if self._link is None:
            return
        actions, messages = self._link.receive(sender, frame, now)
        self.perform(actions)
        for message in messages:
            self.hear(message, sender, now)

    @on_timer(UnicastTimer)  # RFC 5148
    def send_postponed(self, key: UnicastTimer, now: SimTime) -> None:
        """Sends a postponed message, whose time has come."""
        if key.number in self._postponed:
            self.unicast(*self._postponed.pop(key.number), now)

    def broadcast(self, message: Message, now: SimTime) -> None:
        """Sends to every neighbour, at once."""
        self._broadcasts.append(now)
        self.send(BROADCAST, message)

    def broadcast_later(self, message: Message, now: SimTime) -> None:
        """Sends to every neighbour after a jitter, because other nodes may answer the same frame."""
        delay = self._jitter.delay()
        self._broadcasts.append(now + delay)
        self.send(BROADCAST, message, delay)

    def has_broadcast(self, since: SimTime, now: SimTime) -> bool:
        """Whether this node broadcast after `since`, up to now; both grow from call to call."""
        has = any(since < time <= now for time in self._broadcasts)
        self._broadcasts = [time for time in self._broadcasts if time > now]
        return has

    def unicast(self, neighbour: NodeId, message: Message, now: SimTime) -> None:
        """Sends to one neighbour, at once."""
        if self._link is None:
            self.send(neighbour, message)
        else:
            self.perform(self._link.send(neighbour, message, now))

    def unicast_later(self, neighbour: NodeId, message: Message) -> None:
        """Sends to one neighbour after a jitter, because other nodes may answer the same frame."""
        self._number += 1
        self._postponed[self._number] = neighbour, message
        self.set_timer(UnicastTimer(self._number), self._jitter.delay())

    def is_full(self, neighbour: NodeId) -> bool:
        """Whether the link layer could not take another message for `neighbour`."""
        return self._link is not None and self._link.is_full(neighbour)

    def retransmit(self, key: LinkTimer) -> list[LinkBroken]:
        """Lets the link layer send again what was not acknowledged; gives the links that it gives up."""
        if self._link is None:
            return []
        actions, broken = self._link.timer(key)
        self.perform(actions)
        return broken

    def give_up(self, neighbour: NodeId) -> list[Message]:
        """Ends the link to a neighbour that is lost; gives the messages that wait for it."""
        if self._link is None:
            return []
        actions, broken = self._link.reset(neighbour)
        self.perform(actions)
        return [message for link in broken for message in link.messages]

    def drop(self, packet: DataPacket, reason: str) -> None:
        """Notes that a packet is given up."""
        self.note(
            DROP,
            message_type=packet.message_type,
            notification_id=str(packet.notification.id),
            peer=packet.destination,
            detail=reason,
        )
