"""The shared link layer: reliable, in-order, duplicate-free unicast to a neighbour over frames that can be lost.

The algorithms of the papers assume point-to-point FIFO links; the radio loses frames and acknowledges nothing.
This is the usual cure, kept small: one message at a time is under way to each neighbour (stop and wait, as between
two IEEE 802.11 or 802.15.4 stations), each is acknowledged, and retransmitted with growing, jittered pauses.

- A direction between two neighbours is numbered by a *session*, drawn at random at the start of a node and counted
  up after each give-up. Within a session no sequence number is ever missing, so a receiver takes the next number or
  drops a duplicate; a session that it does not know it takes up wherever that stands. A sender that gave up or
  rebooted comes with a new session, a receiver that rebooted knows none: nobody waits for a number that never comes.
- On a busy channel most of the time between a message and its acknowledgement passes in the queues of the two MACs, so
  a fixed time-out would fill the channel with copies of what still waits. The time-out follows the delays measured on
  all links of the node, and doubles with each retransmission (RFC 6298; what was retransmitted is no sample: Karn).
- An acknowledgement that is lost costs a retransmission, which is acknowledged again and handed up once. One that
  comes late names a message that is no longer under way, and is ignored.
- After a give-up it is unknown whether the message arrived: what the agent re-routes then can arrive twice.

The frames of one node to another must not overtake each other, which a MAC with one queue guarantees.

An agent owns one `Link`, gives it the `LinkData` and `LinkAck` that it receives and the timers whose key is a
`LinkTimer`, and performs the actions that come back.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from roambus.python_protocol.actions import Action, CancelTimer, Send, SetTimer
from roambus.python_protocol.messages.fields import U8, U16
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.messages.names import Names
from roambus.python_protocol.parts.link_parameters import LinkParameters
from roambus.python_protocol.parts.streams import LinkBroken, LinkTimer, Outbound, Streams, dropped, link_timer
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime

_SEQUENCES = 1 << 8


class LinkData(Message, tag=0x40):
    """A message to one neighbour, four bytes longer than its payload; `sequence` counts from 0 in a `session`."""

    session: U16
    sequence: U8
    payload: Message

    @property
    def message_type(self) -> str:  # type: ignore[override]  # what the trace is to tell is what the frame carries
        """The type of the payload."""
        return self.payload.message_type

    def describe(self, names: Names) -> str:
        """The payload, then session and sequence: "PUB e1 hops=2 frame=4711.0"."""
        return f"{self.payload.describe(names)} frame={self.session}.{self.sequence}"


class LinkAck(Message, tag=0x41, name="ACK", notation="frame={session}.{sequence}"):
    """The message `sequence` of `session` has arrived; four bytes."""

    session: U16
    sequence: U8


LINK_MESSAGES: tuple[type[Message], ...] = (LinkData, LinkAck)
"""To add to the `messages` of an agent that uses the link layer."""


@dataclass(slots=True)
class _Outbound(Outbound):
    """The way to one neighbour: the first message of the queue is under way."""

    sent: SimTime = 0
    """When the message under way was first transmitted."""


@dataclass(slots=True)
class _Inbound:
    """The way from one neighbour: the last message handed up."""

    session: int
    sequence: int


class Link(Streams[_Outbound]):
    """All links of one node, to whatever neighbours it sends to or hears."""

    def __init__(self, parameters: LinkParameters, random: Random) -> None:
        """`random` is the agent's; a node that reboots makes a new Link."""
        super().__init__(_Outbound, parameters, random)
        self._inbound: dict[NodeId, _Inbound] = {}

    def send(self, neighbour: NodeId, message: Message, now: SimTime) -> list[Action]:
        """Sends `message`, or queues it behind others; if the queue is full it is dropped, and noted in the trace."""
        outbound = self._queue(neighbour, message)
        if outbound is None:
            return dropped(neighbour, message)
        return self._begin(neighbour, outbound, now) if len(outbound.queue) == 1 else []

    def receive(self, sender: NodeId, message: Message, now: SimTime) -> tuple[list[Action], list[Message]]:
        """Takes a frame of a neighbour's link layer: actions, and the messages to hand up, in order.

        What is no such frame is ignored.
        """
        if isinstance(message, LinkAck):
            return self._receive_ack(sender, message, now), []
        return self._receive_data(sender, message) if isinstance(message, LinkData) else ([], [])

    def timer(self, key: LinkTimer) -> tuple[list[Action], list[LinkBroken]]:
        """A timer of ours ran out: a retransmission, or after the last one a neighbour given up."""
        neighbour = key.neighbour
        outbound = self._outbound.get(neighbour)
        if outbound is None or not outbound.queue:
            return [], []
        if outbound.retries < self._limits.link_retry_limit:
            outbound.retries += 1
            return self._transmit(neighbour, outbound), []
        return [], [self._give_up(neighbour, outbound)]

    def _receive_data(self, sender: NodeId, data: LinkData) -> tuple[list[Action], list[Message]]:
        acknowledge: list[Action] = [Send(sender, LinkAck(data.session, data.sequence))]
        inbound = self._inbound.get(sender)
        if inbound is None or inbound.session != data.session:
            self._inbound[sender] = _Inbound(data.session, data.sequence)
            return acknowledge, [data.payload]
        if data.sequence != (inbound.sequence + 1) % _SEQUENCES:
            return acknowledge, []
        inbound.sequence = data.sequence
        return acknowledge, [data.payload]

    def _receive_ack(self, sender: NodeId, ack: LinkAck, now: SimTime) -> list[Action]:
        outbound = self._outbound.get(sender)
        if outbound is None or not outbound.queue:
            return []
        if (ack.session, ack.sequence) != (outbound.session, outbound.sequence):
            return []
        if outbound.retries == 0:
            self._delay.sample(now - outbound.sent)
        outbound.queue.popleft()
        outbound.sequence = (outbound.sequence + 1) % _SEQUENCES
        return self._begin(sender, outbound, now) if outbound.queue else [CancelTimer(link_timer(sender))]

    def _begin(self, neighbour: NodeId, outbound: _Outbound, now: SimTime) -> list[Action]:
        """The first message of the queue is next."""
        outbound.retries = 0
        outbound.sent = now
        return self._transmit(neighbour, outbound)

    def _transmit(self, neighbour: NodeId, outbound: _Outbound) -> list[Action]:
        data = LinkData(outbound.session, outbound.sequence, outbound.queue[0])
        return [Send(neighbour, data), SetTimer(link_timer(neighbour), self._pause(outbound.retries))]
