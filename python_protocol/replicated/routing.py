"""The routing tables of a site: what is wanted at or behind each neighbour, and how often.

Filters are counted, because several clients behind one neighbour can have the same one, and each takes back its own
(the paper on replicated brokers, section 4).
"""

from __future__ import annotations

from collections import Counter

from roambus.python_protocol.filters import Filter, Notification


class Wanted:
    """What one neighbour wants. A filter goes when as many unsubscriptions as subscriptions have come."""

    def __init__(self) -> None:
        self.filters: Counter[Filter] = Counter()

    def add(self, one: Filter) -> None:
        """Somebody has subscribed."""
        self.filters[one] += 1

    def remove(self, one: Filter) -> None:
        """Somebody has unsubscribed from what was subscribed to (section 2)."""
        self.filters[one] -= 1
        if not self.filters[one]:
            del self.filters[one]

    def matches(self, notification: Notification) -> bool:
        """Whether the neighbour is interested."""
        return any(one.matches(notification) for one in self.filters)
