"""The link layer: reliable, in-order, duplicate-free unicast to a neighbour over frames that can be lost.

Stop and wait, as in IEEE 802.15.4, with growing, jittered pauses. Frames to a node must not overtake each other, which
a MAC with one queue guarantees.

- A direction has a session, random at first, counted up after each give-up. Numbers have no gaps; a receiver joins an
  unknown one anywhere.
- The time-out follows the delays of all links, mostly in MAC queues, and doubles with each retransmission (RFC 6298,
  Karn).
- After a give-up the message may have arrived; re-routed, it can arrive twice.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from functools import cache
from random import Random

from roambus.python_protocol.actions import Action, CancelTimer, Note, Send, SetTimer
from roambus.python_protocol.messages.fields import U8, U16, Names
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.settings import Parameters, parameter
from roambus.python_protocol.simtime import MILLISECOND, SECOND, SimTime
from roambus.python_protocol.trace_rows import DROP


class LinkParameters(Parameters):
    """Parameters of an agent that uses the link layer."""

    link_time_out: SimTime = parameter(
        100 * MILLISECOND,
        unit="s",
        source="reasoned: 4 ms on the air, and CSMA back-offs of at most 16 and 32 ms for each of the two frames",
        above=0,
        doc="pause before the first retransmission, until delays have been measured",
    )
    link_time_out_min: SimTime = parameter(
        40 * MILLISECOND,
        unit="s",
        source="reasoned: 4 ms on the air, and one CSMA back-off of at most 16 ms for each of the two frames",
        above=0,
        doc="shortest pause before a retransmission",
    )
    link_time_out_max: SimTime = parameter(
        1 * SECOND,
        unit="s",
        source="reasoned: what has not arrived within a second will find its neighbour gone",
        above=0,
        doc="longest pause before a retransmission, without its jitter",
    )
    link_jitter: float = parameter(
        0.5,
        source="reasoned: two senders that collided draw from pauses several frames apart",
        at_least=0,
        doc="a pause is stretched by a factor drawn uniformly from 1 to 1 + jitter",
    )
    link_retry_limit: int = parameter(
        3,
        source="IEEE 802.15.4, macMaxFrameRetries",
        at_least=0,
        doc="retransmissions of a message before its neighbour is given up",
    )
    link_queue_limit: int = parameter(
        64,
        source="reasoned: twice the 32 frames of the MAC's queue",
        at_least=1,
        doc="messages that may wait for one neighbour",
    )


_SESSIONS = 1 << 16


_SEQUENCES = 1 << 8


_MEAN_GAIN, _DEVIATION_GAIN, _DEVIATIONS = 1 / 8, 1 / 4, 4


# What goes over the air, and what an agent sees of the link


class LinkData(Message, tag=0x40):
    """A message to one neighbour, four bytes longer; `sequence` counts from 0 in a `session`."""

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
"""Belong to the `messages` of an agent that uses the link layer."""


@dataclass(frozen=True, slots=True)
class LinkTimer:
    """The link layer's only timer key for a neighbour."""

    neighbour: NodeId


@cache
def link_timer(neighbour: NodeId) -> LinkTimer:
    """Return that key, one object a neighbour, because nearly every frame sets its timer."""
    return LinkTimer(neighbour)


@dataclass(frozen=True, slots=True)
class LinkBroken:
    """`neighbour` was given up with `messages` unacknowledged, oldest first; the first may have arrived."""

    neighbour: NodeId
    messages: tuple[Message, ...]


# The link layer


@dataclass(slots=True)
class Outbound:
    """The stream to one neighbour: the queue's first message is under way."""

    session: int
    sequence: int = 0
    """The number of that message."""
    retries: int = 0
    queue: deque[Message] = field(default_factory=deque)
    sent: SimTime = 0
    """When the message under way was first sent."""


class Link:
    """All links of one node."""

    def __init__(self, parameters: LinkParameters, random: Random) -> None:
        """Take the agent's `random`; a rebooting node makes a new Link."""
        self._limits = parameters
        self._random = random
        self._next_session = random.randrange(_SESSIONS)
        self._outbound: dict[NodeId, Outbound] = {}
        self._inbound: dict[NodeId, tuple[int, int]] = {}
        """Each neighbour's session, and the number of its last message."""
        # RFC 6298, section 2.2: a first delay of R makes a time-out of R + 4 R / 2.
        self._delay = DelayEstimate(parameters.link_time_out / 3, parameters.link_time_out / 6)

    def is_full(self, neighbour: NodeId) -> bool:
        """Whether `send` would drop a message."""
        outbound = self._outbound.get(neighbour)
        return outbound is not None and len(outbound.queue) >= self._limits.link_queue_limit

    def is_idle(self, neighbour: NodeId) -> bool:
        """Whether no message to a neighbour is in transit."""
        outbound = self._outbound.get(neighbour)
        return outbound is None or not outbound.queue

    def held(self) -> list[Message]:
        """The messages to all neighbours that are not acknowledged."""
        return [message for outbound in self._outbound.values() for message in outbound.queue]

    def send(self, neighbour: NodeId, message: Message, now: SimTime) -> list[Action]:
        """Send or queue `message`; a full queue drops it, with a row in the trace."""
        if self.is_full(neighbour):
            return [Note(DROP, message_type=message.message_type, peer=neighbour, detail="link queue full")]
        outbound = self._outbound.get(neighbour) or self._begin_stream(neighbour)
        outbound.queue.append(message)
        return self._begin(neighbour, outbound, now) if len(outbound.queue) == 1 else []

    def reset(self, neighbour: NodeId) -> tuple[list[Action], list[LinkBroken]]:
        """Give a lost neighbour up at once: at most one LinkBroken; its inbound session stays."""
        outbound = self._outbound.get(neighbour)
        if outbound is None or not outbound.queue:
            return [], []
        return [CancelTimer(link_timer(neighbour))], [self._give_up(neighbour, outbound)]

    def receive(self, sender: NodeId, message: Message, now: SimTime) -> tuple[list[Action], list[Message]]:
        """Take a frame: return actions, and messages in order; ignore other messages."""
        if isinstance(message, LinkAck):
            return self._receive_ack(sender, message, now), []
        return self._receive_data(sender, message) if isinstance(message, LinkData) else ([], [])

    def timer(self, key: LinkTimer) -> tuple[list[Action], list[LinkBroken]]:
        """Retransmit, or after the last time give up."""
        neighbour = key.neighbour
        outbound = self._outbound.get(neighbour)
        if outbound is None or not outbound.queue:
            return [], []
        if outbound.retries < self._limits.link_retry_limit:
            outbound.retries += 1
            return self._transmit(neighbour, outbound), []
        return [], [self._give_up(neighbour, outbound)]

    def _receive_data(self, sender: NodeId, data: LinkData) -> tuple[list[Action], list[Message]]:
        session, sequence = self._inbound.get(sender, (None, 0))
        is_next = session != data.session or data.sequence == (sequence + 1) % _SEQUENCES
        if is_next:
            self._inbound[sender] = data.session, data.sequence
        return [Send(sender, LinkAck(data.session, data.sequence))], [data.payload] if is_next else []

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

    def _begin_stream(self, neighbour: NodeId) -> Outbound:
        session = self._next_session
        self._next_session = (session + 1) % _SESSIONS
        stream = self._outbound[neighbour] = Outbound(session)
        return stream

    def _give_up(self, neighbour: NodeId, outbound: Outbound) -> LinkBroken:
        self._begin_stream(neighbour)
        return LinkBroken(neighbour, tuple(outbound.queue))

    def _begin(self, neighbour: NodeId, outbound: Outbound, now: SimTime) -> list[Action]:
        outbound.retries = 0
        outbound.sent = now
        return self._transmit(neighbour, outbound)

    def _transmit(self, neighbour: NodeId, outbound: Outbound) -> list[Action]:
        data = LinkData(outbound.session, outbound.sequence, outbound.queue[0])
        return [Send(neighbour, data), SetTimer(link_timer(neighbour), self._pause(outbound.retries))]

    def _pause(self, retries: int) -> SimTime:
        pause = max(self._delay.bound(), self._limits.link_time_out_min) * (1 << retries)
        stretch = 1 + self._limits.link_jitter * self._random.random()
        return round(min(pause, self._limits.link_time_out_max) * stretch)


# Delays and sequence numbers


class DelayEstimate:
    """Mean and mean deviation of a delay in ns, following its samples (RFC 6298, section 2.3)."""

    def __init__(self, mean: float, deviation: float) -> None:
        self._mean = mean
        self._deviation = deviation

    def sample(self, delay: SimTime) -> None:
        """Take a measured delay."""
        error = delay - self._mean
        self._mean += _MEAN_GAIN * error
        self._deviation += _DEVIATION_GAIN * (abs(error) - self._deviation)

    def bound(self) -> float:
        """Mean plus four deviations, hardly ever exceeded."""
        return self._mean + _DEVIATIONS * self._deviation


def is_newer(number: int, than: int, bits: int = 32) -> bool:
    """Whether `number` comes after `than`, both unsigned integers of `bits` bits."""
    return 0 < (number - than) % (1 << bits) < 1 << (bits - 1)


def newest(first: int, second: int, bits: int = 32) -> int:
    """The newer of two numbers; the first if neither is."""
    return second if is_newer(second, first, bits) else first


def following(number: int, bits: int = 32) -> int:
    """The next number; 0 after the largest."""
    return (number + 1) % (1 << bits)
