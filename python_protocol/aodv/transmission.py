"""How AODV's messages leave a node: over the link layer or bare, at once or after a jitter, and how many in a second.

- *Over the link layer.* What is for one neighbour, that is data, RREPs and unicast RERRs, goes over the shared link
  layer (`parts.link`), which acknowledges, repeats, and in the end tells that the link is broken: section 6.10 calls
  this link layer notification. Broadcasts go bare, because nobody could acknowledge them. With `link_layer` off all
  goes bare, and only hellos tell of broken links. The third way of section 6.10, passive acknowledgement, is left out:
  the MAC hands up no frames that are for others.
- *After a jitter.* Where several nodes may react to one frame, each waits for a random time, so that they do not all
  send at the same instant and collide (RFC 5148). A broadcast waits in the MAC, which takes a delay. A unicast waits
  here, and is given to the link layer only then: from there on the link's timer runs.
- *How many.* RREQs and RERRs each have a rate limit (sections 6.3 and 6.11). A RREQ over the limit waits for its turn;
  a RERR is left out, because whoever still sends data over the lost route is told then (case ii of section 6.11).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from random import Random

from roambus.python_protocol.agent import Jitter, Process
from roambus.python_protocol.aodv.messages import DataPacket
from roambus.python_protocol.aodv.parameters import AodvParameters
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.parts.link import Link, LinkAck, LinkBroken, LinkData, LinkTimer
from roambus.python_protocol.vocabulary import BROADCAST, DROP, SECOND, NodeId, SimTime


@dataclass(frozen=True, slots=True)
class UnicastTimer:
    """The key of the timer of one postponed unicast."""

    number: int


class Transmission(Process):
    """The frames of one node."""

    def __init__(self, parameters: AodvParameters, random: Random, of: Process) -> None:
        """A node that reboots makes a new one: with new sessions of the link layer, and nothing to send."""
        super().__init__(of)
        self._link = Link(parameters, random) if parameters.link_layer else None
        self._jitter = Jitter(parameters.broadcast_jitter, random)
        self._broadcasts: list[SimTime] = []
        """When this node broadcast, or will, since it was last asked."""
        self._postponed: dict[int, tuple[NodeId, Message]] = {}
        """Unicasts that wait for their time, by their numbers."""
        self._number = 0

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

    def send_postponed(self, key: UnicastTimer, now: SimTime) -> None:
        """Sends a postponed message, whose time has come."""
        if key.number in self._postponed:
            self.unicast(*self._postponed.pop(key.number), now)

    def receive(self, frame: LinkData | LinkAck, sender: NodeId, now: SimTime) -> Iterable[Message]:
        """Takes a frame of the neighbour's link layer; gives the messages that have come with it, in their order."""
        if self._link is None:
            return ()
        actions, messages = self._link.receive(sender, frame, now)
        self.perform(actions)
        return messages

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


class RateLimit:
    """No window of one second holds more than `per_second` of the times that were given out.

    The window slides. Windows that begin at whole seconds, as in ns-3, would let twice the limit pass around a second's
    end.
    """

    def __init__(self, per_second: int) -> None:
        self._times: deque[SimTime] = deque(maxlen=per_second)

    def reserve(self, now: SimTime) -> SimTime:
        """The earliest time, now or later, that is free; it is taken from now on."""
        full = len(self._times) == self._times.maxlen
        time = max(now, self._times[0] + SECOND) if full else now
        self._times.append(time)
        return time

    def allows(self, now: SimTime) -> bool:
        """Takes the present time if it is free; says whether it was."""
        if len(self._times) == self._times.maxlen and self._times[0] + SECOND > now:
            return False
        self._times.append(now)
        return True
