"""The routing tables of a site: what is wanted at or behind each neighbour, and how often (002, section 4)."""

from __future__ import annotations

from collections import Counter

from roambus.python_protocol.filters import Filter, Notification


class Wanted:
    """What one neighbour wants. A filter goes when as many unsubscriptions as subscriptions have come."""

    def __init__(self) -> None:
        self.filters: Counter[Filter] = Counter()

    def add(self, one: Filter) -> None:
        """A subscription."""
        self.filters[one] += 1

    def remove(self, one: Filter) -> None:
        """An unsubscription of what was subscribed to (section 2)."""
        self.filters[one] -= 1
        if not self.filters[one]:
            del self.filters[one]

    def matches(self, notification: Notification) -> bool:
        """Whether the neighbour is interested."""
        return any(one.matches(notification) for one in self.filters)
