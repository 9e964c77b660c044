"""The routing table (RFC 3561, sections 2, 6.1 and 6.2): at most one route to each destination.

A route is *valid* until its lifetime ends or its link breaks, then *invalid* until DELETE_PERIOD later, then deleted.
Lifetimes are compared when a route is looked up; nothing runs in between. A timer for each route would cost more than
all that the routes are used for, because every frame heard renews some of them.

Loops cannot form, because along the next hops to a destination (sequence number, hops) only ever gets better: newer,
or equally new and nearer. Three rules keep it so, of which the last two go beyond what the RFC asks for.

- An offer is taken only if it is newer, or equally new and shorter, or equally new where the own route was lost.
- A route that is lost, for whatever reason, gets the next sequence number. Section 6.1 allows it where a route times
  out; of a RERR section 6.11 says that the number is "copied", also if it is old or unknown. Then a neighbour that
  still believes in the lost route could offer it back, and a loop would close: `test_loop_freedom.py` finds one within
  seconds without this rule.
- A lost route is remembered for DELETE_PERIOD after the last data from its destination has passed (`extend`).

An entry that was made of a frame heard, and not of a reply, has a sequence number that is not valid. It leads to the
neighbour that was heard, in one hop, and so it cannot be a part of a loop.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from operator import attrgetter

from roambus.python_protocol.agent import Listing, by_first_column
from roambus.python_protocol.messages.fields import Names, listed
from roambus.python_protocol.parts.link import following, is_newer, newest
from roambus.python_protocol.vocabulary import NodeId, SimTime


class RouteState(Enum):
    """The state flags of section 2."""

    VALID = "valid"
    INVALID = "invalid"
    BEING_REPAIRED = "being repaired"


_VALID = RouteState.VALID
"""Asked for at each frame that is heard: Python 3.11 needs several times as long for a member of an enumeration."""


@dataclass(slots=True)
class Route:
    """An entry of the table. `lifetime` is when a valid route expires, or when another one is deleted (section 6.11).

    A sequence number that is not valid is not known.
    """

    destination: NodeId
    next_hop: NodeId
    hop_count: int
    sequence: int
    sequence_valid: bool
    lifetime: SimTime
    state: RouteState = _VALID
    precursors: set[NodeId] = field(default_factory=set)
    """Neighbours that may send over this route, and must hear of its loss."""


class RoutingTable:
    """What one node knows of routes: those to others, and the number under which others know a route to it."""

    def __init__(self, delete_period: SimTime, active_route_timeout: SimTime) -> None:
        """Both times are in ns."""
        self._delete_period, self._active_route_timeout = delete_period, active_route_timeout
        self.sequence = 0
        """The node's own sequence number (section 6.1)."""
        self.used_at: SimTime | None = None
        """When the node last was part of an active route: it sent, forwarded or received data, or passed a RREP on."""
        self._routes: dict[NodeId, Route] = {}
        self._expired: list[Route] = []

    def __iter__(self) -> Iterator[Route]:
        return iter(self._routes.values())

    def listing(self, names: Names) -> Listing:
        """The routes as transcripts show them, with the names of section 2."""
        head = ("Destination", "Next hop", "Hop count", "Sequence number", "State", "Precursors")
        return by_first_column(head, (_describe(route, names) for route in self))

    def get(self, destination: NodeId) -> Route | None:
        """The entry for `destination`, in whatever state."""
        return self._routes.get(destination)

    def active(self, destination: NodeId, now: SimTime) -> Route | None:
        """The route over which data can go now; one whose time is over becomes invalid here."""
        route = self._routes.get(destination)
        if route is None or route.state is not _VALID:
            return None
        if route.lifetime <= now:
            self._expire(route)
            return None
        return route

    def sequence_of(self, destination: NodeId) -> int | None:
        """The last known sequence number of `destination`; None if it is not known (flag U of a RREQ)."""
        route = self._routes.get(destination)
        return route.sequence if route is not None and route.sequence_valid else None

    def hear(self, neighbour: NodeId, now: SimTime, until: SimTime) -> bool:
        """A frame came from `neighbour`: there is a route of one hop to it (section 6.2). True if it is a new one.

        It takes the place of a longer one, whatever the number of that was (as in ns-3). So a neighbour that is heard
        once at the edge of a radio's range attracts data that then fails. A sequence number already known stays: a
        route of one hop cannot be part of a loop.
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
        """Takes a route offered by a control message if it is better (sections 6.2 and 6.7); whether it did.

        An offer equal to the valid route in use renews its lifetime and counts as taken.
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
        """Keeps a sequence number that the destination itself told, unless a newer one is known (section 6.9)."""
        route = self._routes.get(destination)
        if route is not None:
            route.sequence = newest(sequence, route.sequence) if route.sequence_valid else sequence
            route.sequence_valid = True

    def use(self, nodes: tuple[NodeId, ...], now: SimTime) -> None:
        """Data goes between these nodes now, along routes that live on for ACTIVE_ROUTE_TIMEOUT (section 6.2)."""
        self.used_at = now
        for node in nodes:
            self.extend(node, now + self._active_route_timeout, now)

    def extend(self, destination: NodeId, until: SimTime, now: SimTime) -> None:
        """The route, if it is active, lives until `until` at least (section 6.2).

        A lost one is remembered for DELETE_PERIOD more: what prolongs our route may prolong a neighbour's route over
        us, too, and that one must not outlive our memory of the number under which ours was lost. Otherwise we would
        ask, and be offered our own way back. `test_loop_freedom.py` shows that loop of the RFC with seven nodes.
        """
        route = self._routes.get(destination)
        if route is not None:
            least = until if self.active(destination, now) else now + self._delete_period
            route.lifetime = max(route.lifetime, least)

    def keep(self, destination: NodeId, until: SimTime) -> None:
        """An entry that waits for a reply is not deleted before `until` (section 6.4)."""
        route = self._routes.get(destination)
        if route is not None and route.state is not _VALID:
            route.lifetime = max(route.lifetime, until)

    def add_precursor(self, destination: NodeId, neighbour: NodeId) -> None:
        """Whoever gets a reply may send over the route, and over the route to its next hop (section 6.7)."""
        route = self._routes.get(destination)
        if route is None:
            return
        route.precursors.add(neighbour)
        if next_hop := self._routes.get(route.next_hop):
            next_hop.precursors.add(neighbour)

    def invalidate(self, route: Route, now: SimTime, reported: int | None = None) -> None:
        """Section 6.11: new sequence number (the one `reported` by a RERR, if newer), invalid, DELETE_PERIOD to go."""
        if reported is not None and (not route.sequence_valid or is_newer(reported, route.sequence)):
            route.sequence, route.sequence_valid = reported, True
        elif route.sequence_valid:
            route.sequence = following(route.sequence)
        route.state = RouteState.INVALID
        route.lifetime = now + self._delete_period

    def break_link(self, neighbour: NodeId, now: SimTime) -> list[Route]:
        """Invalidates every active route over `neighbour` and returns them, ordered by destination (6.11, case i)."""
        broken = [route for route in self if route.next_hop == neighbour and self.active(route.destination, now)]
        for route in broken:
            self.invalidate(route, now)
        return sorted(broken, key=attrgetter("destination"))

    def sweep(self, now: SimTime) -> list[Route]:
        """Deletes what has been invalid for DELETE_PERIOD; returns what has expired since the last one."""
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
    """Section 6.7: the number in the table is unknown or older, or equal to that of a lost or longer route."""
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
