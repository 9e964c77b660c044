"""Publish/subscribe over unicast routing: what every routing protocol here shares (the thesis, section 4.5.2).

A publisher sends a packet to each subscriber that the scenario names. Packets go hop by hop, over the link layer
(`parts.link`) or bare; a protocol says where (`carry`), and learns of broken links (`lose_link`). There is no passive
acknowledgement. Reactions to one broadcast wait for a jitter (RFC 5148).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import takewhile
from random import Random
from typing import Any, TypeVar

from roambus.python_protocol.agent import Brokerless, Jitter, Process, Recent, on, on_timer
from roambus.python_protocol.events import Crashed, Publish, SendFailed
from roambus.python_protocol.filters import Notification
from roambus.python_protocol.messages.fields import U8
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.parts.link import Link, LinkAck, LinkBroken, LinkData, LinkParameters, LinkTimer
from roambus.python_protocol.roles import BROADCAST, NodeId
from roambus.python_protocol.settings import parameter
from roambus.python_protocol.simtime import MILLISECOND, SECOND, SimTime
from roambus.python_protocol.trace_rows import CRASH, DROP, ROUTE, node_list

WAIT_TIMER = "wait"
_LOOK = 500 * MILLISECOND
"""The time between two looks for a way of packets that wait at their source."""
MOST_HOPS = 255
"""The largest TTL and hop count: each has eight bits."""


class UnicastParameters(LinkParameters):
    """Parameters of every unicast routing protocol."""

    link_layer: bool = parameter(
        True,
        source="RFC 3561, section 6.10: link layer notification",
        doc="use the shared link layer for unicasts; false: the MAC's acknowledgements, or the protocol's own means",
    )
    link_feedback: bool = parameter(
        True,
        source="RFC 3561, section 6.10; RFC 3626, section 13",
        doc="a unicast that the link layer or the MAC gives up breaks its link; false: it is lost, and silence alone "
        "breaks links",
    )
    wait_at: str = parameter(
        "protocol",
        source="as each protocol says; source: Broch et al. (1998), section 3.5, in the send buffer of DSR",
        choices=("protocol", "source"),
        doc="where packets without a way wait; source: at their source alone, alike for all protocols",
    )
    source_buffer: int = parameter(
        64, unit="packets", source="Broch et al. (1998), table 2", at_least=1, doc="packets that wait at their source"
    )
    source_wait: SimTime = parameter(
        30 * SECOND, unit="s", source="RFC 4728, section 9", above=0, doc="longest wait of a packet at its source"
    )
    net_diameter: int = parameter(
        35,
        unit="hops",
        source="RFC 3561, section 10",
        at_least=1,
        at_most=MOST_HOPS,
        doc="largest number of hops between two nodes",
    )
    broadcast_jitter: SimTime = parameter(
        10 * MILLISECOND,
        unit="s",
        source="RFC 5148, section 5.4, for its kind; ns-3 AODV for its size",
        at_least=0,
        doc="longest wait before a message that answers a broadcast",
    )
    delivered_memory: int = parameter(
        1024, source="reasoned: minutes of traffic", at_least=1, doc="notifications recognised as delivered before"
    )


class DataPacket(Message, tag=0x16, name="PACKET", notation="ttl={ttl} ..."):
    """A notification for one subscriber, after `hop_count` hops; the header stands for that of IP."""

    hop_count: U8
    ttl: U8
    originator: NodeId
    destination: NodeId
    notification: Notification


Passed = TypeVar("Passed", bound=Any)
"""Messages with `hop_count` and `ttl`, forwarded hop by hop."""


def hops_after(message: Any) -> int:
    """The message's hops on arrival, in eight bits."""
    hops: int = min(message.hop_count + 1, MOST_HOPS)
    return hops


def one_hop_on(message: Passed, **changes: Any) -> Passed:
    """Return the next node's message: one hop more, one less to live, and the changes."""
    onward: Passed = message.replaced(hop_count=hops_after(message), ttl=message.ttl - 1, **changes)
    return onward


# Frames


@dataclass(frozen=True, slots=True)
class UnicastTimer:
    """The timer key of a postponed unicast."""

    number: int


class Frames(Process):
    """The frames of one node: broadcasts, and unicasts over the link layer if there is one."""

    def __init__(self, parameters: UnicastParameters, random: Random, of: Process) -> None:
        """Begin new sessions of the link layer, also after a reboot."""
        super().__init__(of)
        self._link = Link(parameters, random) if parameters.link_layer else None
        self._jitter = Jitter(parameters.broadcast_jitter, random)
        self._postponed: dict[int, tuple[NodeId, Message]] = {}
        """Postponed unicasts, by number."""
        self._number = 0

    def broadcast(self, message: Message, now: SimTime) -> None:
        """Send to every neighbour, at once."""
        self.send(BROADCAST, message)

    def broadcast_later(self, message: Message, now: SimTime) -> None:
        """Broadcast after a jitter, because others may answer the same frame."""
        self.send(BROADCAST, message, self._jitter.delay())

    def unicast(self, neighbour: NodeId, message: Message, now: SimTime) -> None:
        """Send to one neighbour, at once."""
        if self._link is None:
            self.send(neighbour, message)
        else:
            self.perform(self._link.send(neighbour, message, now))

    def unicast_later(self, neighbour: NodeId, message: Message, delay: SimTime | None = None) -> int:
        """Unicast after a delay, or a jitter, because others may answer the same frame; return its number."""
        self._number += 1
        self._postponed[self._number] = neighbour, message
        self.set_timer(UnicastTimer(self._number), self._jitter.delay() if delay is None else delay)
        return self._number

    def withdraw(self, number: int) -> None:
        """Leave out a postponed unicast, if it has not been sent."""
        self._postponed.pop(number, None)

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

    def held(self) -> list[DataPacket]:
        """The packets that are postponed, or not acknowledged over the link layer."""
        messages = [message for _, message in self._postponed.values()]
        messages += [] if self._link is None else self._link.held()
        return [message for message in messages if isinstance(message, DataPacket)]

    def drop(self, packet: DataPacket, reason: str) -> None:
        """Note that a packet is given up."""
        self.note(
            DROP,
            message_type=packet.message_type,
            notification_id=str(packet.notification.id),
            peer=packet.destination,
            detail=reason,
        )


class PacketQueue:
    """Packets that wait for a route, first in, first out, each at most `timeout` ns; a full queue drops the oldest."""

    def __init__(self, limit: int, timeout: SimTime) -> None:
        self._limit = limit
        self._timeout = timeout
        self._waiting: deque[tuple[SimTime, DataPacket]] = deque()

    def __len__(self) -> int:
        return len(self._waiting)

    def __iter__(self) -> Iterator[DataPacket]:
        """Iterate over the packets, oldest first."""
        return (packet for _, packet in self._waiting)

    def add(self, packet: DataPacket, now: SimTime) -> DataPacket | None:
        """Queue `packet`; return the oldest one if it had to make room."""
        dropped = self._waiting.popleft()[1] if len(self._waiting) >= self._limit else None
        self._waiting.append((now + self._timeout, packet))
        return dropped

    def take(self, destination: NodeId) -> list[DataPacket]:
        """Take out the packets for `destination`, oldest first."""
        taken = [packet for _, packet in self._waiting if packet.destination == destination]
        self._waiting = deque(entry for entry in self._waiting if entry[1].destination != destination)
        return taken

    def sweep(self, now: SimTime) -> list[DataPacket]:
        """Take out packets that waited too long."""
        over = list(takewhile(lambda entry: entry[0] <= now, self._waiting))
        return [self._waiting.popleft()[1] for _ in over]

    def destinations(self) -> list[NodeId]:
        """The waiting packets' destinations, in order of first packets."""
        return list(dict.fromkeys(packet.destination for _, packet in self._waiting))

    def count(self, destination: NodeId) -> int:
        """The number of packets for one destination."""
        return sum(packet.destination == destination for _, packet in self._waiting)


# The agent


class Router(Brokerless):
    """Base of unicast routing protocols: publications, deliveries, and frames of the link layer."""

    parameters: UnicastParameters
    oracle_subscribers = True

    def forget(self) -> None:
        """Start without links, and with nothing delivered."""
        self.frames = self.make_frames()
        self._delivered = Recent(self.parameters.delivered_memory)
        self.waiting = PacketQueue(self.parameters.source_buffer, self.parameters.source_wait)

    def make_frames(self) -> Any:
        """Make what sends frames."""
        return Frames(self.parameters, self.random, of=self)

    @on(Crashed)
    def crash(self, _: Crashed, __: SimTime) -> None:
        """Lose everything outside stable storage, with a row for each packet."""
        for packet in self.held():
            self.frames.drop(packet, CRASH)
        self.forget()

    # What a protocol does

    def held(self) -> list[DataPacket]:
        """Return the packets that wait on this node; a protocol adds those of its own queues."""
        return [*self.frames.held(), *self.waiting]

    def unsent(self) -> Iterable[tuple[Notification, NodeId]]:
        """Return the notifications in these packets, with their destinations."""
        return [(packet.notification, packet.destination) for packet in self.held()]

    def has_way(self, destination: NodeId, now: SimTime) -> bool:
        """Whether an own packet could leave; for protocols that call `lack_way`."""
        raise NotImplementedError

    def carry(self, packet: DataPacket, now: SimTime) -> None:
        """Send a packet towards its destination, hold it, or drop it."""
        raise NotImplementedError

    def forward(self, packet: DataPacket, sender: NodeId, now: SimTime) -> None:
        """Send another node's packet onward."""
        self.carry(packet, now)

    def hear_frame(self, sender: NodeId, now: SimTime) -> None:
        """Take a frame of the link layer as a sign of life."""

    def lose_link(self, neighbour: NodeId, undelivered: Iterable[Message], now: SimTime) -> None:
        """Take the break of a link, with the messages that it has not carried."""

    # Frames

    @on(LinkData, LinkAck)
    def receive_frame(self, frame: LinkData | LinkAck, sender: NodeId, now: SimTime) -> None:
        """Hear the messages in a link layer frame."""
        self.hear_frame(sender, now)
        # What the link layer carries is handled as if it had come by itself. Several come at once where one was
        # missing.
        for message in self.frames.receive(frame, sender, now):
            self._handle_message(message, sender, now)

    @on_timer(UnicastTimer)
    def send_postponed(self, key: UnicastTimer, now: SimTime) -> None:
        """Send a unicast whose jitter is over."""
        self.frames.send_postponed(key, now)

    @on_timer(LinkTimer)
    def retry_link(self, key: LinkTimer, now: SimTime) -> None:
        """Retransmit over a link, or lose the link."""
        for broken in self.frames.retransmit(key):
            self._hear_of_break(broken.neighbour, broken.messages, now)

    @on(SendFailed)
    def send_failed(self, event: SendFailed, now: SimTime) -> None:
        """Lose the link of a bare frame, as ideal links and acknowledging MACs report it, or drop the frame."""
        if self.parameters.link_layer:  # it retransmits the frame, and notices a break if that does not help either
            return
        if event.is_break:
            self._hear_of_break(event.destination, [event.message], now)
        elif isinstance(event.message, DataPacket):
            self.frames.drop(event.message, event.reason)

    def _hear_of_break(self, neighbour: NodeId, undelivered: Iterable[Message], now: SimTime) -> None:
        """Lose the link, or, deaf to such reports, the messages alone."""
        if self.parameters.link_feedback:
            self.lose_link(neighbour, undelivered, now)
            return
        for message in undelivered:
            if isinstance(message, DataPacket):
                self.frames.drop(message, "not acknowledged")

    # Packets

    def receive_packet(self, packet: DataPacket, sender: NodeId, now: SimTime) -> None:
        """Deliver a packet, forward it, or drop it; a protocol makes it the handler of its packets."""
        # The TTL is counted down as it arrives, as IP does; a packet for this node is delivered with any TTL.
        packet = one_hop_on(packet)
        if packet.destination == self.node:
            self.deliver_once(packet.notification, packet.hop_count)
        elif packet.ttl <= 0:
            self.frames.drop(packet, "TTL exceeded")
        else:
            self.forward(packet, sender, now)

    def pass_on(self, packet: DataPacket, neighbour: NodeId, now: SimTime) -> bool:
        """Unicast a packet to the next hop, or drop it for a full queue; return whether it went."""
        if self.frames.is_full(neighbour):
            self.frames.drop(packet, "link queue full")
            return False
        self.frames.unicast(neighbour, packet, now)
        return True

    def lack_way(self, packet: DataPacket, reason: str, now: SimTime) -> None:
        """Drop a packet that has no way, or hold an own one if packets wait at their source."""
        if self.parameters.wait_at != "source" or packet.originator != self.node:
            self.frames.drop(packet, reason)
            return
        if dropped := self.waiting.add(packet, now):
            self.frames.drop(dropped, "source buffer full")
        self.set_timer(WAIT_TIMER, _LOOK)

    @on_timer(WAIT_TIMER)
    def look_for_ways(self, _: object, now: SimTime) -> None:
        """Send waiting packets that have a way, and drop those that have waited too long."""
        for packet in self.waiting.sweep(now):
            self.frames.drop(packet, "no route in time")
        for destination in self.waiting.destinations():
            if self.has_way(destination, now):
                for packet in self.waiting.take(destination):
                    self.carry(packet, now)
        if len(self.waiting):
            self.set_timer(WAIT_TIMER, _LOOK)

    def deliver_once(self, notification: Notification, hops: int) -> None:
        """Deliver what is wanted; a packet whose acknowledgement was lost may arrive twice."""
        is_wanted = self.subscriptions.match(notification)
        if is_wanted and self._delivered.add(notification.id):
            self.deliver(notification, hops)

    # Publish/subscribe

    @on(Publish)
    def publish(self, event: Publish, now: SimTime) -> None:
        """Send the notification to each subscriber, in a packet of its own.

        The scenario names them, an oracle; publish/subscribe has to send subscriptions (the thesis, section 4.5.2).
        """
        notification = event.notification
        self.note(ROUTE, notification_id=str(notification.id), detail=node_list(event.subscribers))
        for subscriber in event.subscribers:
            if subscriber == self.node:
                self.deliver_once(notification, 0)
            else:
                self.carry(self.packet(subscriber, notification), now)

    def packet(self, subscriber: NodeId, notification: Notification) -> DataPacket:
        """Make the packet for one subscriber."""
        return DataPacket(0, self.parameters.net_diameter, self.node, subscriber, notification)
