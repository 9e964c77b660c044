"""Route discovery (RFC 3561, sections 6.1 to 6.5 and 6.12): searches, and the packets that wait for them.

- *Rings* (6.4): the first RREQ goes TTL_START hops, or a little beyond the destination's last place; each further one
  TTL_INCREMENT more; beyond TTL_THRESHOLD the whole network, RREQ_RETRIES times more (6.3).
- *Rate* (6.3): a RREQ keeps the place it got. Giving places back cost half as many messages again on a slow channel.
- A route from any source ends a search (`learned`). Local repair (6.12) is a search of one RREQ; flag N starts none.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile

from roambus.python_protocol.agent import Process
from roambus.python_protocol.aodv.maintenance import RouteErrors
from roambus.python_protocol.aodv.messages import RateLimit, RouteRequest, Transmission
from roambus.python_protocol.aodv.parameters import AodvParameters
from roambus.python_protocol.aodv.routing_table import Route, RouteState, RoutingTable
from roambus.python_protocol.parts.link import following
from roambus.python_protocol.parts.unicast import DataPacket, PacketQueue
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime


@dataclass(frozen=True, slots=True)
class DiscoveryTimer:
    """The timer key of a destination's search."""

    destination: NodeId


@dataclass(frozen=True, slots=True)
class Attempt:
    """A search's RREQ: its TTL, and the earlier searches of the whole network."""

    ttl: int
    repeats: int = 0


@dataclass(slots=True)
class Search:
    """A search in progress; `is_sent` is false while the rate limit holds its RREQ."""

    attempt: Attempt
    is_sent: bool = False
    lost_hop_count: int | None = None
    """In a local repair, the hops to the destination before the break."""


class Discovery(Process):
    """The searches of one node, and their waiting packets."""

    def __init__(
        self, node: NodeId, parameters: AodvParameters, table: RoutingTable, frames: Transmission, errors: RouteErrors
    ) -> None:
        super().__init__(of=frames)
        self._node, self._parameters = node, parameters
        self._table, self._frames, self._errors = table, frames, errors
        self.queue = PacketQueue(parameters.request_queue_limit, parameters.request_queue_timeout)
        self.searches: dict[NodeId, Search] = {}
        self.rreq_id = 0
        self.silent_until: SimTime = 0
        """The end of the wait after a reboot, without control messages (section 6.13)."""
        self._rreq_limit = RateLimit(parameters.rreq_ratelimit)

    # Packets, with a route and without one

    def carry(self, packet: DataPacket, now: SimTime) -> None:
        """Send a packet over the active route, or search one (section 6.3)."""
        route = self._table.active(packet.destination, now)
        if route is not None:
            self._send_packet(packet, route, now)
            return
        if dropped := self.queue.add(packet, now):
            self._frames.drop(dropped, "request queue full")
        self.search(packet.destination, now)

    def save(self, packet: DataPacket, now: SimTime) -> None:
        """Search again for a packet that a link did not take: at its originator, or as a local repair.

        The RFC leaves the originator's case open; ns-3 loses the packet.
        """
        if packet.originator == self._node or self._can_repair(packet, now):
            self.carry(packet, now)
        else:
            self._frames.drop(packet, "link broken")

    def _send_packet(self, packet: DataPacket, route: Route, now: SimTime) -> None:
        """Pass `packet` to the next hop, and extend the routes of section 6.2."""
        if self._frames.is_full(route.next_hop):
            self._frames.drop(packet, "link queue full")
            return
        self._table.use((packet.destination, route.next_hop, packet.originator), now)
        self._frames.unicast(route.next_hop, packet, now)

    # Searches

    def search(self, destination: NodeId, now: SimTime) -> None:
        """Search `destination`, unless a search or a reboot's wait is on."""
        if destination in self.searches or now < self.silent_until:
            return
        route = self._table.get(destination)
        known = None if route is None else route.hop_count
        self._begin(destination, Search(first_attempt(self._parameters, known)), now)

    def proceed(self, destination: NodeId, now: SimTime) -> None:
        """Send the held RREQ, or the next one if an answer is overdue (6.3, 6.4)."""
        search = self.searches.get(destination)
        if search is None:
            return
        if not search.is_sent:
            self._send_request(destination, search, now)
            return
        following_attempt = next_attempt(self._parameters, search.attempt)
        if following_attempt is None or search.lost_hop_count is not None:
            self._fail(destination, now)
        else:
            self._begin(destination, Search(following_attempt), now)

    def learned(self, destination: NodeId, now: SimTime) -> None:
        """End the search for `destination`, which has a new or better route, and send its packets."""
        search = self.searches.get(destination)
        if search is None or (route := self._table.active(destination, now)) is None:
            return
        del self.searches[destination]
        self.cancel_timer(DiscoveryTimer(destination))
        if search.lost_hop_count is not None and route.hop_count > search.lost_hop_count:
            # Section 6.12: the repaired way is longer, those before us may want to look for a better one.
            self._errors.report([route], now, no_delete=True)
        for packet in self.queue.take(destination):
            self._send_packet(packet, route, now)

    def is_repairing(self, destination: NodeId) -> bool:
        """Whether a route to `destination` is under repair here."""
        search = self.searches.get(destination)
        return search is not None and search.lost_hop_count is not None

    def _begin(self, destination: NodeId, search: Search, now: SimTime) -> None:
        """Send an attempt's RREQ, or hold it for its turn."""
        self.searches[destination] = search
        at = self._rreq_limit.reserve(now)
        if at == now:
            self._send_request(destination, search, now)
        else:
            self.set_timer(DiscoveryTimer(destination), at - now)

    def _send_request(self, destination: NodeId, search: Search, now: SimTime) -> None:
        search.is_sent = True
        request = self._make_request(destination, search.attempt.ttl)
        # Section 6.4: what waits for a reply is not deleted before twice NET_TRAVERSAL_TIME.
        self._table.keep(destination, now + 2 * self._parameters.net_traversal_time)
        self._frames.broadcast(request, now)
        self.set_timer(DiscoveryTimer(destination), waiting_time(self._parameters, search.attempt))

    def _make_request(self, destination: NodeId, ttl: int) -> RouteRequest:
        """Make a RREQ with new RREQ ID and own sequence number (sections 6.1 and 6.3)."""
        self.rreq_id = following(self.rreq_id)
        self._table.sequence = following(self._table.sequence)
        known = self._table.sequence_of(destination)
        return RouteRequest(
            hop_count=0,
            ttl=ttl,
            rreq_id=self.rreq_id,
            destination=destination,
            destination_sequence=known or 0,
            originator=self._node,
            originator_sequence=self._table.sequence,
            unknown_sequence=known is None,
            destination_only=self._parameters.destination_only,
            gratuitous=self._parameters.gratuitous_rrep,
        )

    def _fail(self, destination: NodeId, now: SimTime) -> None:
        """Drop the packets whose route was not found (section 6.3)."""
        del self.searches[destination]
        for packet in self.queue.take(destination):
            self._frames.drop(packet, "no route")
        route = self._table.get(destination)
        if route is not None and route.state is RouteState.BEING_REPAIRED:
            # Section 6.12: it could not be repaired, so "it proceeds as described in section 6.11".
            self._table.invalidate(route, now)
            self._errors.report([route], now)

    # Local repair

    def _can_repair(self, packet: DataPacket, now: SimTime) -> bool:
        """Whether the destination was near enough for a local repair (section 6.12)."""
        route = self._table.get(packet.destination)
        if not self._parameters.local_repair or route is None:
            return False
        if self.is_repairing(packet.destination):
            return True
        if route.hop_count > self._parameters.max_repair_ttl:
            return False
        if route.state is RouteState.INVALID and packet.destination not in self.searches:
            route.state = RouteState.BEING_REPAIRED
            attempt = repair_attempt(self._parameters, route.hop_count, packet.hop_count)
            self._begin(packet.destination, Search(attempt, lost_hop_count=route.hop_count), now)
        return True


# The expanding ring


def first_attempt(parameters: AodvParameters, last_hop_count: int | None) -> Attempt:
    """Begin near, or a little beyond the destination's last known distance."""
    start = parameters.ttl_start if last_hop_count is None else last_hop_count + parameters.ttl_increment
    return Attempt(_ring(parameters, start))


def next_attempt(parameters: AodvParameters, attempt: Attempt) -> Attempt | None:
    """Return a larger ring, then the whole network up to RREQ_RETRIES times more, then None."""
    if attempt.ttl < parameters.net_diameter:
        return Attempt(_ring(parameters, attempt.ttl + parameters.ttl_increment))
    if attempt.repeats < parameters.rreq_retries:
        return Attempt(attempt.ttl, attempt.repeats + 1)
    return None


def waiting_time(parameters: AodvParameters, attempt: Attempt) -> SimTime:
    """Return the wait for an answer in ns, doubled each time (binary exponential back-off)."""
    if attempt.ttl < parameters.net_diameter:
        return parameters.ring_traversal_time(attempt.ttl)
    return parameters.net_traversal_time << attempt.repeats


def repair_attempt(parameters: AodvParameters, last_hop_count: int, hops_to_originator: int) -> Attempt:
    """Return a local repair's RREQ (section 6.12); MIN_REPAIR_TTL is the last known hop count."""
    ttl = max(last_hop_count, hops_to_originator // 2) + parameters.local_add_ttl
    return Attempt(min(ttl, parameters.net_diameter))


def _ring(parameters: AodvParameters, ttl: int) -> int:
    return ttl if ttl <= parameters.ttl_threshold else parameters.net_diameter


# What was heard


RequestId = tuple[NodeId, int]
"""(originator, RREQ ID): names a route request."""


class IdCache:
    """The RREQs of the last `lifetime` ns (PATH_DISCOVERY_TIME), to recognise copies (6.5)."""

    def __init__(self, lifetime: SimTime) -> None:
        self._lifetime = lifetime
        self.known_until: dict[RequestId, SimTime] = {}
        """Read directly, because each RREQ is looked up; an entry may have expired."""

    def __len__(self) -> int:
        return len(self.known_until)

    def add(self, request: RequestId, now: SimTime) -> None:
        """Remember `request` from now on."""
        self.known_until.pop(request, None)
        self.known_until[request] = now + self._lifetime

    def sweep(self, now: SimTime) -> None:
        """Forget expired entries, which come first: all live equally long."""
        for request, _ in list(takewhile(lambda entry: entry[1] <= now, self.known_until.items())):
            del self.known_until[request]
