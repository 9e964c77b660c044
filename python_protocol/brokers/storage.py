"""Q_i(s): the notifications that a broker keeps for subscribers that it cannot reach (the thesis, section 4.3).

There is a queue for each subscriber, and one limit for all of them together, because a node has one memory. What comes
when the storage is full is dropped, and the trace says so.
"""

from __future__ import annotations

from roambus.python_protocol.actions import Note
from roambus.python_protocol.filters import Notification, NotificationId
from roambus.python_protocol.listing import Listing
from roambus.python_protocol.messages.bytes import Writer
from roambus.python_protocol.messages.names import Names
from roambus.python_protocol.notes import DROP, STORE
from roambus.python_protocol.roles import NodeId


class Storage:
    """The queues of all subscribers; each holds its notifications once, in the order in which they came."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._queues: dict[NodeId, dict[NotificationId, Notification]] = {}
        self._stored = 0

    def put(self, subscriber: NodeId, notification: Notification) -> list[Note]:
        """Enqueues a notification unless the storage is full, and returns what the trace is to say of it."""
        if notification.id in self._queues.get(subscriber, {}):
            return []
        if self._stored >= self._limit:
            return [Note(DROP, notification_id=str(notification.id), peer=subscriber, detail="storage full")]
        self._queues.setdefault(subscriber, {})[notification.id] = notification
        self._stored += 1
        return [Note(STORE, notification_id=str(notification.id), peer=subscriber)]

    def take(self, subscriber: NodeId, size: int | None = None) -> list[Notification]:
        """Dequeues what is stored for a subscriber: at most `size` bytes, but at least one notification."""
        queue = self._queues.get(subscriber, {})
        taken: list[Notification] = []
        used = 0
        for notification in queue.values():
            used += _size(notification)
            if taken and size is not None and used > size:
                break
            taken.append(notification)
        self._remove(subscriber, taken)
        return taken

    def subscribers(self) -> list[NodeId]:
        """The subscribers for whom something is stored."""
        return list(self._queues)

    def listing(self, names: Names) -> Listing:
        """The queues as a table for a person to look at."""
        queues = self._queues.items()
        rows = ((names.subscriber(one), names.notifications(queue.values())) for one, queue in queues)
        return Listing(("Subscriber", "Notifications"), tuple(rows))

    def _remove(self, subscriber: NodeId, notifications: list[Notification]) -> None:
        queue = self._queues.get(subscriber, {})
        for notification in notifications:
            del queue[notification.id]
        if not queue:
            self._queues.pop(subscriber, None)
        self._stored -= len(notifications)

    def __len__(self) -> int:
        return self._stored


def _size(notification: Notification) -> int:
    writer = Writer()
    notification.write(writer)
    return len(writer.getvalue())
