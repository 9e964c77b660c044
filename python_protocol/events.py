"""The events of an agent: from the radio, its timers, the scenario and the application.

The two most frequent kinds are not frozen, because freezing makes construction four times as slow. Events of one
instant come in the host's order, the same in each run. As on a real radio, no event reports arrivals elsewhere,
positions or ranges.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from roambus.python_protocol.filters import Filter, Notification
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.roles import BROADCAST, NodeId

TimerKey = Hashable
"""The name of a timer: a string, a tuple such as ("retransmit", 7), or an object of a class of keys."""


@dataclass(frozen=True, slots=True)
class Started:
    """The node has booted: the first event of every agent."""


@dataclass(slots=True)  # not frozen, so that it is made quickly
class Received:
    """A frame to this node, or to all, has arrived from a neighbour."""

    sender: NodeId
    message: Message
    rssi_dbm: float
    lqi_db: float


@dataclass(slots=True)  # not frozen, so that it is made quickly
class TimerFired:
    """A timer of this agent has run out; it is no longer set."""

    key: TimerKey


QUEUE_FULL, BUFFER_FULL = "MAC queue full", "radio buffer full"
"""The reasons of a node's own MAC that has no room at present."""
NO_LINK = "no link"
"""The reason for a frame over ideal links whose link is absent or broke."""
NO_ACKNOWLEDGEMENT, CHANNEL_ACCESS_FAILURE = "no acknowledgement", "channel access failure"
"""An acknowledging MAC's reasons to give up a unicast."""
LINK_BREAKS = frozenset((NO_LINK, NO_ACKNOWLEDGEMENT, CHANNEL_ACCESS_FAILURE))
"""The reasons that mean a broken link to a protocol without a link layer."""
NOT_SENT = "an earlier fragment failed"
"""The reason for the rest of a message in fragments."""


@dataclass(frozen=True, slots=True)
class SendFailed:
    """A frame of this node was not sent or not acknowledged; `reason` says why."""

    destination: NodeId
    message: Message
    reason: str

    @property
    def is_break(self) -> bool:
        """Whether a link to a neighbour is broken."""
        return self.reason in LINK_BREAKS and self.destination != BROADCAST

    @property
    def lacks_room(self) -> bool:
        """Whether the MAC refused the frame for lack of room, which it will have again."""
        return self.reason in (QUEUE_FULL, BUFFER_FULL)


@dataclass(frozen=True, slots=True)
class Sent:
    """The MAC is done with a frame of this node: it was acknowledged, or has left on a MAC without acknowledgements.

    Reported to agents that handle it, by the back-ends whose MACs report it: docs/reference/refusals.md.
    """

    destination: NodeId
    message: Message


@dataclass(frozen=True, slots=True)
class Overheard:
    """A unicast frame between two others that this node's radio has received.

    Reported to agents that ask for it (`Agent.needs_overheard`), by the back-ends that can: docs/reference/refusals.md.
    """

    sender: NodeId
    destination: NodeId
    message: Message
    rssi_dbm: float
    lqi_db: float


@dataclass(frozen=True, slots=True)
class Stopped:
    """The node is frozen: it neither receives nor sends until it recovers, but keeps its state.

    Timers and commands due meanwhile come right after `Recovered`.
    """


@dataclass(frozen=True, slots=True)
class Crashed:
    """The node has failed: timers are cancelled, and state outside stable storage is lost."""


@dataclass(frozen=True, slots=True)
class Recovered:
    """The node is back after a stop or crash."""


@dataclass(frozen=True, slots=True)
class Rewired:
    """The scenario gives the tree of brokers: the node's parent and children from now on.

    `brokers` are the `children` that are brokers. Agents with a tree of their own ignore it.
    """

    parent: NodeId | None
    children: tuple[NodeId, ...]
    brokers: frozenset[NodeId]


@dataclass(frozen=True, slots=True)
class Subscribe:
    """The application wants every notification that the filter matches."""

    filter: Filter


@dataclass(frozen=True, slots=True)
class Unsubscribe:
    """The application no longer wants notifications of the filter."""

    filter: Filter


@dataclass(frozen=True, slots=True)
class Publish:
    """The application publishes; `subscribers` are the nodes whose filters match, as the scenario knows them.

    Only an agent that unicasts addresses them (the thesis, section 4.5.2), and says so by `Agent.oracle_subscribers`.
    """

    notification: Notification
    subscribers: tuple[NodeId, ...] = ()
    places: tuple[tuple[float, float], ...] = ()
    """Where each subscriber is (m), for an agent with `oracle_positions`."""


@dataclass(frozen=True, slots=True)
class Detach:
    """The application leaves its broker on purpose, and will come back."""


@dataclass(frozen=True, slots=True)
class Attach:
    """The application comes back, to whatever broker is near."""


@dataclass(frozen=True, slots=True)
class Arrived:
    """The node has reached the place (m) of its last `GoTo`, and rests there."""

    x: float
    y: float


Event = (
    Started
    | Received
    | TimerFired
    | SendFailed
    | Sent
    | Overheard
    | Stopped
    | Crashed
    | Recovered
    | Rewired
    | Subscribe
    | Unsubscribe
    | Publish
    | Detach
    | Attach
    | Arrived
)
"""Any event for `Agent.handle`."""
