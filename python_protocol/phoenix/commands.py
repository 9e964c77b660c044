"""Which SUB and UNS are outdated, because one that the subscriber has said later, elsewhere, has come before them.

Links keep the order of what was said at one broker, but not of what was said at two. What comes by a link was said in
the stay of the newest MIG that has come by it, or in a later one: on its link a MIG is ahead of what is said after it.
"""

from __future__ import annotations

from roambus.python_protocol.brokers.messages import Sub, Uns
from roambus.python_protocol.filters import Filter
from roambus.python_protocol.phoenix.messages import Mig, Stay
from roambus.python_protocol.roles import NodeId


class Commands:
    """What one broker has heard of subscribers, by the stays in which they have said it."""

    def __init__(self) -> None:
        """At first everybody is in the first stay."""
        self._stays: dict[tuple[NodeId, NodeId], Stay] = {}
        """The newest that a MIG of the subscriber has told by the interface."""
        self._latest: dict[tuple[NodeId, Filter], Stay] = {}
        """The one in which the subscriber has said the last that is known of the filter."""
        self._ways: dict[NodeId, NodeId] = {}
        """Where the last of a subscriber has come from."""

    def migrated(self, mig: Mig, z: NodeId) -> None:
        """What comes by z from now on was said in this stay."""
        at = mig.subscriber, z
        self._stays[at] = max(mig.stay, self._stays.get(at, 0))

    def take(self, command: Sub | Uns, z: NodeId) -> bool:
        """Whether nothing later was said about the filter."""
        about, stay = (command.subscriber, command.filter), self._stays.get((command.subscriber, z), 0)
        if stay < self._latest.get(about, 0):
            return False
        self._latest[about] = stay
        self._ways[command.subscriber] = z
        return True

    def way(self, subscriber: NodeId) -> NodeId | None:
        """Where the last of a subscriber has come from, even if it has given up everything since."""
        return self._ways.get(subscriber)
