"""How AODV's messages leave the node: broadcast, over the link layer or bare, at once or after a jitter.

It also collects the actions of one event, so that the other parts need not pass lists around.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from random import Random

from python_protocol.actions import Action, CancelTimer, Deliver, Note, Send, SetTimer
from python_protocol.aodv.messages import DataPacket
from python_protocol.aodv.parameters import AodvParameters
from python_protocol.codec import Message
from python_protocol.filters import Notification
from python_protocol.jitter import Jitter, JitterTimer
from python_protocol.link import Link, LinkAck, LinkBroken, LinkData, LinkTimer
from python_protocol.notes import DROP
from python_protocol.roles import BROADCAST, NodeId
from python_protocol.simtime import SimTime


class Transmitter:
    """The sending side of one node."""

    def __init__(self, parameters: AodvParameters, random: Random) -> None:
        self.last_broadcast: SimTime | None = None
        self._link = Link(parameters, random) if parameters.link_layer else None
        self._jitter = Jitter(parameters.broadcast_jitter, random)
        self.pending: list[Action] = []
        """The actions since the last `take`; always the same list."""

    def take(self) -> Sequence[Action]:
        """The actions since the last call."""
        actions = self.pending.copy()
        self.pending.clear()
        return actions

    def broadcast(self, message: Message, now: SimTime) -> None:
        """Sends to every neighbour, at once."""
        self.last_broadcast = now
        self.pending.append(Send(BROADCAST, message))

    def unicast(self, neighbour: NodeId, message: Message, now: SimTime) -> None:
        """Sends to one neighbour, at once."""
        if self._link is None:
            self.pending.append(Send(neighbour, message))
        else:
            self.pending += self._link.send(neighbour, message, now)

    def is_full(self, neighbour: NodeId) -> bool:
        """Whether the link layer could not take another message for `neighbour`."""
        return self._link is not None and self._link.is_full(neighbour)

    def postpone(self, destination: NodeId, message: Message) -> None:
        """Sends after a jitter: other nodes may answer the same frame."""
        self.pending.append(self._jitter.postpone(Send(destination, message)))

    def postponed(self, key: JitterTimer, now: SimTime) -> None:
        """The time of a postponed message has come."""
        send = self._jitter.timer(key)
        if send is None:
            return
        if send.destination == BROADCAST:
            self.broadcast(send.message, now)
        else:
            self.unicast(send.destination, send.message, now)

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
