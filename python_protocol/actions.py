"""What an agent can do.

Actions are not frozen: that takes four times as long to make, and a run makes millions, each for its host alone.
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
    """Hands a message to the MAC, for one neighbour or BROADCAST; nothing tells whether it arrives.

    With `after`, a time by the node's own clock, it waits so long first; a crash meanwhile cancels it.
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
    """Gives a notification to the application. `hops` counts radio hops since it was published or last replayed."""

    notification: Notification
    hops: int = 0


@dataclass(slots=True)
class Note:
    """A row in the trace; the fields are columns of the trace's schema (see `roambus.bridge.trace.schema`)."""

    name: str
    message_type: str | None = None
    notification_id: str | None = None
    peer: NodeId | None = None
    bytes: int | None = None
    hops: int | None = None
    detail: str | None = None


Action = Send | SetTimer | CancelTimer | Deliver | Note
"""Anything that `Agent.handle` can return."""
