"""The routing table (RFC 3561, sections 2, 6.1 and 6.2): at most one route to each destination.

A route is valid until its lifetime ends or its link breaks, then invalid for DELETE_PERIOD, then deleted. Look-ups
compare lifetimes; timers would cost more. No loop can form: along next hops (sequence number, hops) only gets better.
Two rules go beyond the RFC (`test_loop_freedom.py`):

- A lost route gets the next sequence number, also after a RERR, whose number section 6.11 copies.
- It is remembered for DELETE_PERIOD after its destination's last data (`extend`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from operator import attrgetter

from roambus.python_protocol.agent import Listing, by_first_column
from roambus.python_protocol.messages.fields import Names, listed
from roambus.python_protocol.parts.link import following, is_newer, newest
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime


class RouteState(Enum):
    """The state flags of section 2."""

    VALID = "valid"
    INVALID = "invalid"
    BEING_REPAIRED = "being repaired"


_VALID = RouteState.VALID
"""Cached for each frame: enumeration attributes are several times as slow in Python 3.11."""


@dataclass(slots=True)
class Route:
    """An entry; at `lifetime` a valid route expires, another is deleted (section 6.11).

    An invalid sequence number is unknown.
    """

    destination: NodeId
    next_hop: NodeId
    hop_count: int
    sequence: int
    sequence_valid: bool
    lifetime: SimTime
    state: RouteState = _VALID
    precursors: set[NodeId] = field(default_factory=set)
    """Neighbours that may send over this route, and need a report of its loss."""


class RoutingTable:
    """A node's routes and its own sequence number."""

    def __init__(self, delete_period: SimTime, active_route_timeout: SimTime) -> None:
        """Both times are in ns."""
        self._delete_period, self._active_route_timeout = delete_period, active_route_timeout
        self.sequence = 0
        """The node's own sequence number (section 6.1)."""
        self.used_at: SimTime | None = None
        """When data or a RREP last made the node part of a route."""
        self._routes: dict[NodeId, Route] = {}
        self._expired: list[Route] = []

    def __iter__(self) -> Iterator[Route]:
        return iter(self._routes.values())

    def listing(self, names: Names) -> Listing:
        """The routes for transcripts, named as in section 2."""
        head = ("Destination", "Next hop", "Hop count", "Sequence number", "State", "Precursors")
        return by_first_column(head, (_describe(route, names) for route in self))

    def ways(self, now: SimTime) -> dict[NodeId, tuple[NodeId, ...]]:
        """The next hop of each active route, as explorations read it."""
        active = (route for route in self if route.state is _VALID and route.lifetime > now)
        return {route.destination: (route.next_hop,) for route in active}

    def get(self, destination: NodeId) -> Route | None:
        """The entry for `destination`, in any state."""
        return self._routes.get(destination)

    def active(self, destination: NodeId, now: SimTime) -> Route | None:
        """The valid route; an expired one becomes invalid here."""
        route = self._routes.get(destination)
        if route is None or route.state is not _VALID:
            return None
        if route.lifetime <= now:
            self._expire(route)
            return None
        return route

    def sequence_of(self, destination: NodeId) -> int | None:
        """The last known sequence number of `destination`, or None (flag U of a RREQ)."""
        route = self._routes.get(destination)
        return route.sequence if route is not None and route.sequence_valid else None

    def hear(self, neighbour: NodeId, now: SimTime, until: SimTime) -> bool:
        """Make or renew the one-hop route to a neighbour (section 6.2); return True for a new one.

        It replaces a longer one of any number, as in ns-3, and keeps a known number: one hop cannot loop.
        """
        route = self._routes.get(neighbour)
        if route is None:
            self._routes[neighbour] = Route(neighbour, neighbour, 1, 0, False, until)
            return True
        if route.next_hop == neighbour and route.state is _VALID and route.lifetime > now:
            if until > route.lifetime:  # noqa: PLR1730  # max() costs as much as the rest of this method
                route.lifetime = until
            return False
        self._replace(route, neighbour, 1, until)
        return True

    def update(self, offer: Route, now: SimTime) -> bool:
        """Take a better route (sections 6.2 and 6.7); return whether it was taken.

        An offer equal to the valid route renews its lifetime and counts as taken.
        """
        route = self._routes.get(offer.destination)
        if route is None:
            self._routes[offer.destination] = offer
            return True
        active = self.active(offer.destination, now)
        known = active and (active.sequence_valid, active.sequence, active.next_hop, active.hop_count)
        if active and known == (True, offer.sequence, offer.next_hop, offer.hop_count):
            active.lifetime = max(active.lifetime, offer.lifetime)
            return True
        if not _is_better(offer, route):
            return False
        route.sequence, route.sequence_valid = offer.sequence, True
        self._replace(route, offer.next_hop, offer.hop_count, offer.lifetime)
        return True

    def learn_sequence(self, destination: NodeId, sequence: int) -> None:
        """Keep the destination's own sequence number, unless a newer one is known (section 6.9)."""
        route = self._routes.get(destination)
        if route is not None:
            route.sequence = newest(sequence, route.sequence) if route.sequence_valid else sequence
            route.sequence_valid = True

    def use(self, nodes: tuple[NodeId, ...], now: SimTime) -> None:
        """Extend routes that data use by ACTIVE_ROUTE_TIMEOUT (section 6.2)."""
        self.used_at = now
        for node in nodes:
            self.extend(node, now + self._active_route_timeout, now)

    def extend(self, destination: NodeId, until: SimTime, now: SimTime) -> None:
        """Extend an active route to at least `until` (section 6.2); remember a lost one DELETE_PERIOD more.

        Our data may prolong a neighbour's route over us; if it outlived our memory of the loss, we would be offered our
        own way back.
        """
        route = self._routes.get(destination)
        if route is not None:
            least = until if self.active(destination, now) else now + self._delete_period
            route.lifetime = max(route.lifetime, least)

    def keep(self, destination: NodeId, until: SimTime) -> None:
        """Keep an entry that waits for a reply until `until` (section 6.4)."""
        route = self._routes.get(destination)
        if route is not None and route.state is not _VALID:
            route.lifetime = max(route.lifetime, until)

    def add_precursor(self, destination: NodeId, neighbour: NodeId) -> None:
        """Add a reply's receiver to the route and to that to its next hop (section 6.7)."""
        route = self._routes.get(destination)
        if route is None:
            return
        route.precursors.add(neighbour)
        if next_hop := self._routes.get(route.next_hop):
            next_hop.precursors.add(neighbour)

    def invalidate(self, route: Route, now: SimTime, reported: int | None = None) -> None:
        """Apply section 6.11: the next sequence number, or a RERR's newer `reported`; DELETE_PERIOD to go."""
        if reported is not None and (not route.sequence_valid or is_newer(reported, route.sequence)):
            route.sequence, route.sequence_valid = reported, True
        elif route.sequence_valid:
            route.sequence = following(route.sequence)
        route.state = RouteState.INVALID
        route.lifetime = now + self._delete_period

    def break_link(self, neighbour: NodeId, now: SimTime) -> list[Route]:
        """Invalidate and return active routes over `neighbour`, by destination (6.11, case i)."""
        broken = [route for route in self if route.next_hop == neighbour and self.active(route.destination, now)]
        for route in broken:
            self.invalidate(route, now)
        return sorted(broken, key=attrgetter("destination"))

    def sweep(self, now: SimTime) -> list[Route]:
        """Delete routes invalid for DELETE_PERIOD; return those expired since the last call."""
        for route in [route for route in self._routes.values() if route.lifetime <= now]:
            if route.state is _VALID:
                self._expire(route)
            elif route.state is RouteState.INVALID:
                del self._routes[route.destination]
        expired, self._expired = self._expired, []
        return sorted((route for route in expired if route.state is RouteState.INVALID), key=attrgetter("destination"))

    def _expire(self, route: Route) -> None:
        self.invalidate(route, route.lifetime)
        self._expired.append(route)

    @staticmethod
    def _replace(route: Route, next_hop: NodeId, hop_count: int, lifetime: SimTime) -> None:
        route.next_hop, route.hop_count, route.lifetime = next_hop, hop_count, lifetime
        route.state = _VALID


def _is_better(offer: Route, route: Route) -> bool:
    """Apply section 6.7: the known number is unknown, older, or equal to that of a lost or longer route."""
    if not route.sequence_valid or is_newer(offer.sequence, route.sequence):
        return True
    is_shorter = route.state is not _VALID or offer.hop_count < route.hop_count
    return offer.sequence == route.sequence and is_shorter


def _describe(route: Route, names: Names) -> tuple[str, ...]:
    return (
        names.node(route.destination),
        names.node(route.next_hop),
        str(route.hop_count),
        str(route.sequence) if route.sequence_valid else "unknown",
        route.state.value,
        listed(map(names.node, sorted(route.precursors))),
    )
