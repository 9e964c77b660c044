"""What a node finds when it is no longer frozen, and in which order it looks at it (002, section 6.3)."""

from __future__ import annotations

from collections.abc import Iterable

from roambus.python_protocol.events import Event, Received
from roambus.python_protocol.replicated.failure_messages import AreYouAlive, IAmLeader, Leader
from roambus.python_protocol.replicated.messages import Event as EventMessage
from roambus.python_protocol.replicated.messages import Update

WAKE = "wake"
"""The key of the timer that runs out, at once, when all that has waited has come."""


def in_order(events: Iterable[Event]) -> list[Event]:
    """New leaders first, then what changes control structures, then events; last what is no message, such as timers."""
    return sorted(events, key=_rank)


def _rank(event: Event) -> int:
    if not isinstance(event, Received):
        return 3
    if isinstance(event.message, IAmLeader | Leader):
        return 0
    # A question is answered when all that came before it is.
    return 2 if isinstance(event.message, EventMessage | Update | AreYouAlive) else 1
