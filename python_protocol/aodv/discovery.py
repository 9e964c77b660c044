"""Route discovery (RFC 3561, sections 6.1 to 6.4 and 6.12): the searches under way, and what ends them.

A search sends RREQs, each with a larger TTL, until the last has found nothing (`expanding_ring`). It ends when there is
a route, wherever that comes from: a RREP, a RREQ of the destination itself, a frame heard from it.
"""

from __future__ import annotations

from dataclasses import dataclass

from roambus.python_protocol.aodv.expanding_ring import (
    Attempt,
    first_attempt,
    next_attempt,
    repair_attempt,
    waiting_time,
)
from roambus.python_protocol.aodv.messages import DataPacket, RouteRequest
from roambus.python_protocol.aodv.packets import Packets
from roambus.python_protocol.aodv.rate_limit import RateLimit
from roambus.python_protocol.aodv.route_errors import RouteErrors
from roambus.python_protocol.aodv.routing_table import Route, RouteState
from roambus.python_protocol.parts.sequence import following
from roambus.python_protocol.process import on_timer
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime


@dataclass(frozen=True, slots=True)
class DiscoveryTimer:
    """The key of the timer of the search for one destination."""

    destination: NodeId


@dataclass(slots=True)
class Search:
    """A search under way. `is_sent` is false while the RREQ waits for the rate limit."""

    attempt: Attempt
    is_sent: bool = False
    lost_hop_count: int | None = None
    """How far the destination was before the link broke, in a local repair; None in any other search."""


class Discovery(Packets, RouteErrors):
    """Searches routes, at most RREQ_RATELIMIT RREQs in a second."""

    def forget(self) -> None:
        """Starts with no search, and the first RREQ ID."""
        super().forget()
        self.searches: dict[NodeId, Search] = {}
        self.rreq_id = 0
        self._rreq_limit = RateLimit(self.parameters.rreq_ratelimit)

    @on_timer(DiscoveryTimer)  # sections 6.3 and 6.4
    def continue_search(self, key: DiscoveryTimer, now: SimTime) -> None:
        """Sends a RREQ that the rate limit lets go now, or the next one because an answer is overdue."""
        search = self.searches.get(key.destination)
        if search is None:
            return
        if not search.is_sent:
            self._send_request(key.destination, search, now)
            return
        following_attempt = next_attempt(self.parameters, search.attempt)
        if following_attempt is None or search.lost_hop_count is not None:
            self._fail(key.destination, now)
        else:
            search.attempt, search.is_sent = following_attempt, False
            self._schedule_request(key.destination, search, now)

    def hear_neighbour(self, neighbour: NodeId, now: SimTime) -> None:
        """Knows by a control message that a neighbour is alive, and has a route to it (section 6.2)."""
        heard = self._heard
        if neighbour in heard:
            heard[neighbour] = now
        if self.table.hear(neighbour, now, now + self.parameters.active_route_timeout):
            self.learned(neighbour, now)

    def learned(self, destination: NodeId, now: SimTime) -> None:
        """Ends the search for `destination`, to which there is a new or better route: what waited for it can go."""
        search = self.searches.get(destination)
        if search is None or (route := self.table.active(destination, now)) is None:
            return
        del self.searches[destination]
        self.cancel_timer(DiscoveryTimer(destination))
        if search.lost_hop_count is not None and route.hop_count > search.lost_hop_count:
            # Section 6.12: the repaired way is longer, those before us may want to look for a better one.
            self.report([route], now, no_delete=True)
        self.send_queued(route, now)

    def is_searching(self, destination: NodeId) -> bool:
        """Whether a route to `destination` is being searched or repaired."""
        return destination in self.searches

    def is_repairing(self, destination: NodeId) -> bool:
        """Whether a route to `destination` is being repaired here."""
        search = self.searches.get(destination)
        return search is not None and search.lost_hop_count is not None

    def carry(self, packet: DataPacket, now: SimTime) -> None:
        """Sends a packet over the active route; without one it waits while a route is searched (section 6.3)."""
        route = self.table.active(packet.destination, now)
        if route is not None:
            self.send_packet(packet, route, now)
            return
        self.enqueue(packet, now)
        self.search(packet.destination, now)

    def search(self, destination: NodeId, now: SimTime) -> None:
        """Searches `destination`, unless that is under way; after a reboot only once the wait is over."""
        if destination in self.searches or self.is_silent(now):
            return
        route = self.table.get(destination)
        known = None if route is None else route.hop_count
        self.searches[destination] = search = Search(first_attempt(self.parameters, known))
        self._schedule_request(destination, search, now)

    def repair(self, route: Route, hops_to_originator: int, now: SimTime) -> None:
        """Searches the destination of a route that has just broken, from here (section 6.12)."""
        route.state = RouteState.BEING_REPAIRED
        attempt = repair_attempt(self.parameters, route.hop_count, hops_to_originator)
        self.searches[route.destination] = search = Search(attempt, lost_hop_count=route.hop_count)
        self._schedule_request(route.destination, search, now)

    def _schedule_request(self, destination: NodeId, search: Search, now: SimTime) -> None:
        at = self._rreq_limit.reserve(now)
        if at == now:
            self._send_request(destination, search, now)
        else:
            self.set_timer(DiscoveryTimer(destination), at - now)

    def _send_request(self, destination: NodeId, search: Search, now: SimTime) -> None:
        search.is_sent = True
        request = self._make_request(destination, search.attempt.ttl)
        self.table.keep(destination, now + 2 * self.parameters.net_traversal_time)
        self.broadcast(request, now)
        self.set_timer(DiscoveryTimer(destination), waiting_time(self.parameters, search.attempt))

    def _make_request(self, destination: NodeId, ttl: int) -> RouteRequest:
        """Each request has the next RREQ ID and a newer own sequence number (sections 6.1 and 6.3)."""
        self.rreq_id = following(self.rreq_id)
        self.sequence = following(self.sequence)
        route = self.table.get(destination)
        known = route.sequence if route is not None and route.sequence_valid else None
        return RouteRequest(
            hop_count=0,
            ttl=ttl,
            rreq_id=self.rreq_id,
            destination=destination,
            destination_sequence=known or 0,
            originator=self.node,
            originator_sequence=self.sequence,
            unknown_sequence=known is None,
            destination_only=self.parameters.destination_only,
            gratuitous=self.parameters.gratuitous_rrep,
        )

    def _fail(self, destination: NodeId, now: SimTime) -> None:
        del self.searches[destination]
        self.drop_queued(destination)
        route = self.table.get(destination)
        if route is not None and route.state is RouteState.BEING_REPAIRED:
            # Section 6.12: it could not be repaired, so "it proceeds as described in section 6.11".
            self.table.invalidate(route, now)
            self.report([route], now)
