"""The routing table R_i of a broker, with T_i (the thesis, table 2.3 and section 4.1).

An entry (f, z, s) says that what matches f goes to z for subscriber s. The algorithms replace z in all entries of a
subscriber together; so the table has one next hop a subscriber, and its filters.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from roambus.python_protocol.filters import Filter, Notification
from roambus.python_protocol.mft.timestamps import UNKNOWN, Timestamp
from roambus.python_protocol.roles import NodeId


@dataclass(slots=True)
class Route:
    """What a broker knows of one subscriber; without filters there are no entries, only T."""

    next_hop: NodeId | None
    """None: no way is known."""
    timestamp: Timestamp
    filters: dict[Filter, None] = field(default_factory=dict)
    """The keys, in the order in which they came."""
    place: int = 0
    """The number of the migration that led to the next hop (`beats_migrate`)."""

    def matches(self, notification: Notification) -> bool:
        """Whether any of the subscriber's filters does."""
        return any(one.matches(notification) for one in self.filters)


class RoutingTable:
    """R_i and T_i, by subscriber, in the order in which they became known."""

    def __init__(self) -> None:
        self._routes: dict[NodeId, Route] = {}

    def __iter__(self) -> Iterator[tuple[NodeId, Route]]:
        return iter(self._routes.items())

    def get(self, subscriber: NodeId) -> Route | None:
        """What is known of a subscriber, if it has entries or once had."""
        return self._routes.get(subscriber)

    def timestamp(self, subscriber: NodeId) -> Timestamp:
        """T_i(s)."""
        route = self._routes.get(subscriber)
        return UNKNOWN if route is None else route.timestamp

    def filters(self, subscriber: NodeId) -> tuple[Filter, ...]:
        """The f of all (f, -, s)."""
        route = self._routes.get(subscriber)
        return () if route is None else tuple(route.filters)

    def next_hop(self, subscriber: NodeId) -> NodeId | None:
        """The z of all (-, z, s); None if there is no such entry, or no way."""
        route = self._routes.get(subscriber)
        return route.next_hop if route is not None and route.filters else None

    def way(self, subscriber: NodeId) -> NodeId | None:
        """The next hop, whether or not the subscriber has filters just now."""
        route = self._routes.get(subscriber)
        return None if route is None else route.next_hop

    def update(self, subscriber: NodeId, next_hop: NodeId, timestamp: Timestamp) -> Route:
        """Sets T_i(s), and replaces (-, -, s) with (-, next_hop, s); makes a subscriber known."""
        route = self._routes.get(subscriber)
        if route is None:
            route = self._routes[subscriber] = Route(next_hop, timestamp)
        route.next_hop, route.timestamp = next_hop, timestamp
        return route

    def matching(self, notification: Notification) -> list[tuple[NodeId, NodeId | None]]:
        """(s, z) of the subscribers with a matching entry (f, z, s)."""
        return [(s, route.next_hop) for s, route in self._routes.items() if route.matches(notification)]
