"""How AODV's messages leave the node: broadcast, over the link layer or bare, at once or after a jitter.

It also collects the actions of one event, so that the other parts need not pass lists around.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from random import Random

from roambus.python_protocol.actions import Action, CancelTimer, Deliver, Note, Send, SetTimer
from roambus.python_protocol.aodv.messages import DataPacket
from roambus.python_protocol.aodv.parameters import AodvParameters
from roambus.python_protocol.filters import Notification
from roambus.python_protocol.messages.codec import Message
from roambus.python_protocol.notes import DROP
from roambus.python_protocol.parts.jitter import Jitter
from roambus.python_protocol.parts.link import Link, LinkAck, LinkBroken, LinkData, LinkTimer
from roambus.python_protocol.roles import BROADCAST, NodeId
from roambus.python_protocol.simtime import SimTime


@dataclass(frozen=True, slots=True)
class UnicastTimer:
    """The key of the timer of one postponed unicast."""

    number: int


class Transmitter:
    """The sending side of one node."""

    def __init__(self, parameters: AodvParameters, random: Random) -> None:
        self._link = Link(parameters, random) if parameters.link_layer else None
        self._jitter = Jitter(parameters.broadcast_jitter, random)
        self._broadcasts: list[SimTime] = []
        """When this node broadcast, or will, since it was last asked."""
        self._postponed: dict[int, tuple[NodeId, Message]] = {}
        """Unicasts that wait for their time, by their numbers: only then does the link layer take them."""
        self._number = 0
        self.pending: list[Action] = []
        """The actions since the last `take`; always the same list."""

    def take(self) -> Sequence[Action]:
        """The actions since the last call."""
        actions = self.pending.copy()
        self.pending.clear()
        return actions

    def broadcast(self, message: Message, now: SimTime) -> None:
        """Sends to every neighbour, at once."""
        self._broadcasts.append(now)
        self.pending.append(Send(BROADCAST, message))

    def broadcast_later(self, message: Message, now: SimTime) -> None:
        """Sends to every neighbour after a jitter: other nodes may answer the same frame."""
        delay = self._jitter.delay()
        self._broadcasts.append(now + delay)
        self.pending.append(Send(BROADCAST, message, delay))

    def has_broadcast(self, since: SimTime, now: SimTime) -> bool:
        """Whether this node broadcast after `since`, up to now; both grow from call to call."""
        has = any(since < time <= now for time in self._broadcasts)
        self._broadcasts = [time for time in self._broadcasts if time > now]
        return has

    def unicast(self, neighbour: NodeId, message: Message, now: SimTime) -> None:
        """Sends to one neighbour, at once."""
        if self._link is None:
            self.pending.append(Send(neighbour, message))
        else:
            self.pending += self._link.send(neighbour, message, now)

    def is_full(self, neighbour: NodeId) -> bool:
        """Whether the link layer could not take another message for `neighbour`."""
        return self._link is not None and self._link.is_full(neighbour)

    def unicast_later(self, neighbour: NodeId, message: Message) -> None:
        """Sends to one neighbour after a jitter: other nodes may answer the same frame."""
        self._number += 1
        self._postponed[self._number] = neighbour, message
        self.set_timer(UnicastTimer(self._number), self._jitter.delay())

    def postponed(self, key: UnicastTimer, now: SimTime) -> None:
        """The time of a postponed message has come."""
        if key.number in self._postponed:
            self.unicast(*self._postponed.pop(key.number), now)

    def receive(self, sender: NodeId, frame: LinkData | LinkAck, now: SimTime) -> list[Message]:
        """A frame of the neighbour's link layer: the messages in it."""
        if self._link is None:
            return []
        actions, messages = self._link.receive(sender, frame, now)
        self.pending += actions
        return messages

    def link_timer(self, key: LinkTimer) -> list[LinkBroken]:
        """A timer of the link layer: the links given up."""
        if self._link is None:
            return []
        actions, broken = self._link.timer(key)
        self.pending += actions
        return broken

    def give_up(self, neighbour: NodeId) -> list[Message]:
        """The neighbour is lost: the messages that wait for it."""
        if self._link is None:
            return []
        actions, broken = self._link.reset(neighbour)
        self.pending += actions
        return [message for link in broken for message in link.messages]

    def set_timer(self, key: Hashable, after: SimTime) -> None:
        """See `SetTimer`."""
        self.pending.append(SetTimer(key, after))

    def cancel_timer(self, key: Hashable) -> None:
        """See `CancelTimer`."""
        self.pending.append(CancelTimer(key))

    def deliver(self, notification: Notification, hops: int) -> None:
        """See `Deliver`."""
        self.pending.append(Deliver(notification, hops))

    def note(self, note: Note) -> None:
        """A row in the trace."""
        self.pending.append(note)

    def drop(self, packet: DataPacket, reason: str) -> None:
        """Notes that a packet is given up."""
        self.note(Note(DROP, packet.message_type, str(packet.notification.id), packet.destination, detail=reason))
