"""What an agent can do: a class for each kind of action.

An agent does nothing itself. It returns actions, and the host of the run carries them out in their order. Actions are
not frozen, because a frozen object takes four times as long to make, and a run makes millions, each for its host alone.
"""

from __future__ import annotations

from dataclasses import dataclass

from roambus.python_protocol.events import TimerKey
from roambus.python_protocol.filters import Notification
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime


@dataclass(slots=True)
class Send:
    """Hands a message to the MAC, for one neighbour or BROADCAST; nobody says whether it arrives.

    The message waits first for the time `after` by the node's own clock, and a crash meanwhile cancels it.
    """

    destination: NodeId
    message: Message
    after: SimTime = 0


@dataclass(slots=True)
class SetTimer:
    """Asks for `TimerFired(key)` after a time by the node's own clock; a timer of that key already set is replaced."""

    key: TimerKey
    after: SimTime


@dataclass(slots=True)
class CancelTimer:
    """Forgets a timer; nothing happens if it is not set."""

    key: TimerKey


@dataclass(slots=True)
class Deliver:
    """Gives a notification to the application; `hops` counts radio hops since it was published or last replayed."""

    notification: Notification
    hops: int = 0


@dataclass(slots=True)
class Note:
    """Writes a row into the trace, whose columns `roambus.bridge.trace.schema` explains."""

    name: str
    message_type: str | None = None
    notification_id: str | None = None
    peer: NodeId | None = None
    bytes: int | None = None
    hops: int | None = None
    detail: str | None = None


Action = Send | SetTimer | CancelTimer | Deliver | Note
"""Anything that `Agent.handle` can return."""
