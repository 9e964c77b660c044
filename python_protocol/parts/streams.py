"""The streams from a node to its neighbours: queues, sessions, time-outs and give-ups, which both link layers share.

A direction between two neighbours is numbered within a session. Sessions are drawn at random at the start of a node and
counted up after each give-up, so that nobody takes a new stream for the one before.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from functools import cache
from random import Random
from typing import Generic, TypeVar

from roambus.python_protocol.actions import Action, CancelTimer, Note
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.notes import DROP
from roambus.python_protocol.parts.delay import DelayEstimate
from roambus.python_protocol.parts.link_parameters import LinkParameters
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime

_SESSIONS = 1 << 16


@dataclass(frozen=True, slots=True)
class LinkTimer:
    """The key of the link layer's only timer for a neighbour."""

    neighbour: NodeId


@cache
def link_timer(neighbour: NodeId) -> LinkTimer:
    """That key. There is one object for each neighbour, because nearly every frame sets its timer."""
    return LinkTimer(neighbour)


@dataclass(frozen=True, slots=True)
class LinkBroken:
    """`neighbour` was given up. `messages`, oldest first, were not acknowledged; the first may have arrived."""

    neighbour: NodeId
    messages: tuple[Message, ...]


@dataclass(slots=True)
class Outbound:
    """The stream to one neighbour."""

    session: int
    sequence: int = 0
    """The number of the first message in the queue."""
    retries: int = 0
    queue: deque[Message] = field(default_factory=deque)


Stream = TypeVar("Stream", bound=Outbound)
"""What a link layer keeps of a stream."""


class Streams(Generic[Stream]):
    """All streams of one node, to whatever neighbours it sends to."""

    def __init__(
        self, kind: type[Stream], parameters: LinkParameters, random: Random, answer_delay: SimTime = 0
    ) -> None:
        """An acknowledgement comes at most `answer_delay` later than the frames on the air would have it."""
        self._kind = kind
        self._limits = parameters
        self._random = random
        self._next_session = random.randrange(_SESSIONS)
        self._outbound: dict[NodeId, Stream] = {}
        self._shortest_pause = parameters.link_time_out_min + answer_delay
        # RFC 6298, section 2.2: a first delay of R makes a time-out of R + 4 R / 2.
        first = parameters.link_time_out + answer_delay
        self._delay = DelayEstimate(first / 3, first / 6)

    def is_full(self, neighbour: NodeId) -> bool:
        """Whether `send` would drop a message; an agent that would rather keep it asks first."""
        outbound = self._outbound.get(neighbour)
        return outbound is not None and len(outbound.queue) >= self._limits.link_queue_limit

    def is_idle(self, neighbour: NodeId) -> bool:
        """Whether nothing is under way to a neighbour: more can go to it without having to wait."""
        outbound = self._outbound.get(neighbour)
        return outbound is None or not outbound.queue

    def reset(self, neighbour: NodeId) -> tuple[list[Action], list[LinkBroken]]:
        """Gives a neighbour up at once, because the agent knows that it has gone: at most one LinkBroken.

        What was received from it stays known, so that its retransmissions are still recognised.
        """
        outbound = self._outbound.get(neighbour)
        if outbound is None or not outbound.queue:
            return [], []
        return [CancelTimer(link_timer(neighbour))], [self._give_up(neighbour, outbound)]

    def _queue(self, neighbour: NodeId, message: Message) -> Stream | None:
        """Puts a message behind others; None if there are too many."""
        if self.is_full(neighbour):
            return None
        outbound = self._outbound.get(neighbour)
        if outbound is None:
            outbound = self._begin_stream(neighbour)
        outbound.queue.append(message)
        return outbound

    def _begin_stream(self, neighbour: NodeId) -> Stream:
        """A stream in a new session, in place of the one that there was."""
        session = self._next_session
        self._next_session = (session + 1) % _SESSIONS
        stream = self._outbound[neighbour] = self._kind(session)
        return stream

    def _give_up(self, neighbour: NodeId, outbound: Stream) -> LinkBroken:
        self._begin_stream(neighbour)
        return LinkBroken(neighbour, tuple(outbound.queue))

    def _pause(self, retries: int) -> SimTime:
        """The time after which what is under way is sent again."""
        pause = max(self._delay.bound(), self._shortest_pause) * (1 << retries)
        stretch = 1 + self._limits.link_jitter * self._random.random()
        return round(min(pause, self._limits.link_time_out_max) * stretch)


def dropped(neighbour: NodeId, message: Message) -> list[Action]:
    """Notes in the trace that a queue was full."""
    return [Note(DROP, message_type=message.message_type, peer=neighbour, detail="link queue full")]
