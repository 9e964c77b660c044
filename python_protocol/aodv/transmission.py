"""How AODV's messages leave a node: over the link layer or bare, at once or after a jitter, rate-limited.

Data, RREPs and unicast RERRs go over the link layer (`parts.link`), whose breaks are section 6.10's notification.
Broadcasts, and without `link_layer` all frames, go bare; then only hellos show breaks. There is no passive
acknowledgement: the MAC hands up no frames for others. Reactions to one frame wait for a jitter (RFC 5148). A RREQ over
its limit (section 6.3) waits; a RERR (6.11) is left out, because further data bring another (case ii).
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
    """The timer key of a postponed unicast."""

    number: int


class Transmission(Process):
    """The frames of one node."""

    def __init__(self, parameters: AodvParameters, random: Random, of: Process) -> None:
        """Begin new sessions of the link layer, also after a reboot."""
        super().__init__(of)
        self._link = Link(parameters, random) if parameters.link_layer else None
        self._jitter = Jitter(parameters.broadcast_jitter, random)
        self._broadcasts: list[SimTime] = []
        """Times of broadcasts, also future, since last asked."""
        self._postponed: dict[int, tuple[NodeId, Message]] = {}
        """Postponed unicasts, by number."""
        self._number = 0

    def broadcast(self, message: Message, now: SimTime) -> None:
        """Send to every neighbour, at once."""
        self._broadcasts.append(now)
        self.send(BROADCAST, message)

    def broadcast_later(self, message: Message, now: SimTime) -> None:
        """Broadcast after a jitter, because others may answer the same frame."""
        delay = self._jitter.delay()
        self._broadcasts.append(now + delay)
        self.send(BROADCAST, message, delay)

    def has_broadcast(self, since: SimTime, now: SimTime) -> bool:
        """Whether this node broadcast after `since`, up to now; both grow from call to call."""
        has = any(since < time <= now for time in self._broadcasts)
        self._broadcasts = [time for time in self._broadcasts if time > now]
        return has

    def unicast(self, neighbour: NodeId, message: Message, now: SimTime) -> None:
        """Send to one neighbour, at once."""
        if self._link is None:
            self.send(neighbour, message)
        else:
            self.perform(self._link.send(neighbour, message, now))

    def unicast_later(self, neighbour: NodeId, message: Message) -> None:
        """Unicast after a jitter, because others may answer the same frame."""
        self._number += 1
        self._postponed[self._number] = neighbour, message
        self.set_timer(UnicastTimer(self._number), self._jitter.delay())

    def send_postponed(self, key: UnicastTimer, now: SimTime) -> None:
        """Send a postponed message."""
        if key.number in self._postponed:
            self.unicast(*self._postponed.pop(key.number), now)

    def receive(self, frame: LinkData | LinkAck, sender: NodeId, now: SimTime) -> Iterable[Message]:
        """Take a frame of the link layer; return its messages in order."""
        if self._link is None:
            return ()
        actions, messages = self._link.receive(sender, frame, now)
        self.perform(actions)
        return messages

    def is_full(self, neighbour: NodeId) -> bool:
        """Whether `neighbour` has a full link queue."""
        return self._link is not None and self._link.is_full(neighbour)

    def retransmit(self, key: LinkTimer) -> list[LinkBroken]:
        """Send unacknowledged messages again; return links given up."""
        if self._link is None:
            return []
        actions, broken = self._link.timer(key)
        self.perform(actions)
        return broken

    def give_up(self, neighbour: NodeId) -> list[Message]:
        """End the link to a lost neighbour; return its waiting messages."""
        if self._link is None:
            return []
        actions, broken = self._link.reset(neighbour)
        self.perform(actions)
        return [message for link in broken for message in link.messages]

    def drop(self, packet: DataPacket, reason: str) -> None:
        """Note that a packet is given up."""
        self.note(
            DROP,
            message_type=packet.message_type,
            notification_id=str(packet.notification.id),
            peer=packet.destination,
            detail=reason,
        )


class RateLimit:
    """Grants at most `per_second` times in any one-second window.

    Whole-second windows, as in ns-3, let twice the limit pass around a second's end.
    """

    def __init__(self, per_second: int) -> None:
        self._times: deque[SimTime] = deque(maxlen=per_second)

    def reserve(self, now: SimTime) -> SimTime:
        """Reserve and return the earliest free time."""
        full = len(self._times) == self._times.maxlen
        time = max(now, self._times[0] + SECOND) if full else now
        self._times.append(time)
        return time

    def allows(self, now: SimTime) -> bool:
        """Take the present time if free; return whether it was."""
        if len(self._times) == self._times.maxlen and self._times[0] + SECOND > now:
            return False
        self._times.append(now)
        return True
