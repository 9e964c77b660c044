"""What a node finds when it is no longer frozen, and in which order it looks at it.

While a node is frozen, everything that is sent to it waits at its links, and comes in at one instant when the freeze
ends. The node first lets all of it come in, and then looks at new leaders, at control, and at events, in this order
(the paper on replicated brokers, section 6.3): else it would act on events as the leader that it no longer is.
"""

from __future__ import annotations

from collections.abc import Iterable

from roambus.python_protocol.events import Event, Received
from roambus.python_protocol.replicated.failure_messages import AreYouAlive, IAmLeader, Leader
from roambus.python_protocol.replicated.messages import Event as EventMessage
from roambus.python_protocol.replicated.messages import Update

WAKE = "wake"
"""The key of the timer that runs out, at once, when all that has waited has come."""


def in_order(events: Iterable[Event]) -> list[Event]:
    """Sorts new leaders first, then what changes control structures, then events; last what is no message."""
    return sorted(events, key=_rank)


def _rank(event: Event) -> int:
    if not isinstance(event, Received):
        return 3
    if isinstance(event.message, IAmLeader | Leader):
        return 0
    # A question is answered when all that came before it is.
    return 2 if isinstance(event.message, EventMessage | Update | AreYouAlive) else 1
