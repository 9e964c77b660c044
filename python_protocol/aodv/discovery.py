"""Searches for routes: which are under way, when the next RREQ is due, when to give up (RFC 3561, 6.3, 6.4, 6.12)."""

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
from roambus.python_protocol.aodv.state import State
from roambus.python_protocol.parts.sequence import following
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
    """Set in a local repair: how far the destination was before the link broke."""


class Discovery:
    """The searches of one node."""

    def __init__(self, state: State, packets: Packets, errors: RouteErrors) -> None:
        self._state = state
        self._packets = packets
        self._errors = errors
        self._limit = RateLimit(state.parameters.rreq_ratelimit)
        self._searches: dict[NodeId, Search] = {}
        self._rreq_id = 0

    def is_searching(self, destination: NodeId) -> bool:
        """Whether a route to `destination` is being searched or repaired."""
        return destination in self._searches

    def is_repairing(self, destination: NodeId) -> bool:
        """Whether a route to `destination` is being repaired here."""
        search = self._searches.get(destination)
        return search is not None and search.lost_hop_count is not None

    def carry(self, packet: DataPacket, now: SimTime) -> None:
        """Sends a packet over the active route; without one it waits while a route is searched (section 6.3)."""
        route = self._state.table.active(packet.destination, now)
        if route is not None:
            self._packets.send(packet, route, now)
            return
        self._packets.queue(packet, now)
        self.start(packet.destination, now)

    def start(self, destination: NodeId, now: SimTime) -> None:
        """Searches `destination`, unless that is under way; after a reboot only once the wait is over."""
        if destination in self._searches or self._state.is_silent(now):
            return
        route = self._state.table.get(destination)
        known = None if route is None else route.hop_count
        self._searches[destination] = search = Search(first_attempt(self._state.parameters, known))
        self._schedule(destination, search, now)

    def repair(self, route: Route, hops_to_originator: int, now: SimTime) -> None:
        """Section 6.12: searches the destination of a route that has just broken, from here."""
        route.state = RouteState.BEING_REPAIRED
        attempt = repair_attempt(self._state.parameters, route.hop_count, hops_to_originator)
        self._searches[route.destination] = search = Search(attempt, lost_hop_count=route.hop_count)
        self._schedule(route.destination, search, now)

    def timer(self, key: DiscoveryTimer, now: SimTime) -> None:
        """The rate limit lets a RREQ go, or an answer is overdue."""
        search = self._searches.get(key.destination)
        if search is None:
            return
        if not search.is_sent:
            self._send(key.destination, search, now)
            return
        following_attempt = next_attempt(self._state.parameters, search.attempt)
        if following_attempt is None or search.lost_hop_count is not None:
            self._fail(key.destination, now)
        else:
            search.attempt, search.is_sent = following_attempt, False
            self._schedule(key.destination, search, now)

    def learned(self, destination: NodeId, now: SimTime) -> None:
        """There is a new or better route to `destination`: what waited for it can go."""
        search = self._searches.get(destination)
        route = self._state.table.active(destination, now)
        if search is None or route is None:
            return
        del self._searches[destination]
        self._state.out.cancel_timer(DiscoveryTimer(destination))
        if search.lost_hop_count is not None and route.hop_count > search.lost_hop_count:
            # Section 6.12: the repaired way is longer, those before us may want to look for a better one.
            self._errors.report([route], now, no_delete=True)
        self._packets.flush(route, now)

    def _schedule(self, destination: NodeId, search: Search, now: SimTime) -> None:
        at = self._limit.reserve(now)
        if at == now:
            self._send(destination, search, now)
        else:
            self._state.out.set_timer(DiscoveryTimer(destination), at - now)

    def _send(self, destination: NodeId, search: Search, now: SimTime) -> None:
        search.is_sent = True
        request = self._make_request(destination, search.attempt.ttl)
        self._state.table.keep(destination, now + 2 * self._state.parameters.net_traversal_time)
        self._state.out.broadcast(request, now)
        self._state.out.set_timer(DiscoveryTimer(destination), waiting_time(self._state.parameters, search.attempt))

    def _make_request(self, destination: NodeId, ttl: int) -> RouteRequest:
        """Sections 6.1 and 6.3: each request has the next RREQ ID and a newer own sequence number."""
        state = self._state
        self._rreq_id = following(self._rreq_id)
        state.sequence = following(state.sequence)
        route = state.table.get(destination)
        known = route.sequence if route is not None and route.sequence_valid else None
        return RouteRequest(
            ttl=ttl,
            hop_count=0,
            rreq_id=self._rreq_id,
            destination=destination,
            destination_sequence=known or 0,
            originator=state.node,
            originator_sequence=state.sequence,
            unknown_sequence=known is None,
            destination_only=state.parameters.destination_only,
            gratuitous=state.parameters.gratuitous_rrep,
        )

    def _fail(self, destination: NodeId, now: SimTime) -> None:
        del self._searches[destination]
        self._packets.give_up(destination)
        route = self._state.table.get(destination)
        if route is not None and route.state is RouteState.BEING_REPAIRED:
            # Section 6.12: it could not be repaired, so "it proceeds as described in section 6.11".
            self._state.table.invalidate(route, now)
            self._errors.report([route], now)
