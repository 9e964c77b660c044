"""Which message leaves a full cache first: "FIFO with regenerations" (the paper on caching, section 3.2), or another.

A policy is one more class here and its name in `POLICIES`; parameter `policy` chooses it.
"""

from __future__ import annotations

from collections.abc import Iterator

from roambus.python_protocol.filters import NotificationId


class Fifo:
    """First in, first out."""

    def __init__(self) -> None:
        self._order: dict[NotificationId, None] = {}

    def __iter__(self) -> Iterator[NotificationId]:
        """The messages, of which the first is to leave first."""
        return iter(self._order)

    def add(self, one: NotificationId) -> None:
        """A message comes into the cache."""
        self._order[one] = None

    def use(self, one: NotificationId) -> None:
        """A message of the cache answers a request."""

    def remove(self, one: NotificationId) -> None:
        """A message leaves the cache."""
        del self._order[one]


class FifoWithRegeneration(Fifo):
    """A message that answers a request is as good as new, which is "similar to Least Recently Used"."""

    def use(self, one: NotificationId) -> None:
        """The message goes to the end of the queue."""
        self.remove(one)
        self.add(one)


class Lifo(Fifo):
    """The newest goes first: what is old in the cache stays."""

    def __iter__(self) -> Iterator[NotificationId]:
        return reversed(self._order)


POLICIES: dict[str, type[Fifo]] = {"fifo-regeneration": FifoWithRegeneration, "fifo": Fifo, "lifo": Lifo}
"""The policies by the names that parameter `policy` knows."""
