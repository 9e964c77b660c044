"""Q_i(s): what a broker has for its local subscribers, delivered or not (the thesis, section 2.4)."""

from __future__ import annotations

from collections import deque

from roambus.python_protocol.actions import Note
from roambus.python_protocol.listing import Listing
from roambus.python_protocol.messages.names import Names, listed
from roambus.python_protocol.notes import DROP
from roambus.python_protocol.phoenix.messages import Rep, Turn
from roambus.python_protocol.roles import NodeId

Queued = Rep | Turn
"""(e, ts) as the REP that it may become; `hops` are those to the broker."""


class Queues:
    """The queues of one broker, bounded together: what was delivered is in them too, so the oldest go first."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._queues: dict[NodeId, deque[Queued]] = {}
        self._order: deque[NodeId] = deque()

    def put(self, queued: Queued) -> list[Note]:
        """Enqueues in Q_i(s); what has to go for it is told the trace."""
        self._queues.setdefault(queued.subscriber, deque()).append(queued)
        self._order.append(queued.subscriber)
        return self._drop_oldest() if len(self._order) > self._limit else []

    def take(self, subscriber: NodeId) -> list[Queued]:
        """Dequeues all of Q_i(s)."""
        self._order = deque(one for one in self._order if one != subscriber)
        return list(self._queues.pop(subscriber, ()))

    def listing(self, names: Names) -> Listing:
        """The queues, each notification with its timestamp."""
        queues = self._queues.items()
        rows = ((names.subscriber(one), listed(_describe(entry, names) for entry in queue)) for one, queue in queues)
        return Listing(("Subscriber", "Notifications"), tuple(rows))

    def _drop_oldest(self) -> list[Note]:
        oldest = self._queues[self._order.popleft()].popleft()
        if isinstance(oldest, Turn):
            return []
        return [Note(DROP, notification_id=str(oldest.notification.id), peer=oldest.subscriber, detail="storage full")]


def _describe(queued: Queued, names: Names) -> str:
    what = f"TURN {queued.following}" if isinstance(queued, Turn) else names.notification(queued.notification)
    return f"({what},{queued.stamp})"
