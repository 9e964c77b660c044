"""Route discovery (RFC 3561, sections 6.1 to 6.5 and 6.12): the searches under way, and what waits for them.

How a RREQ that arrives is answered is the agent's (`agent.Aodv.receive_request`); here are those that a node sends. A
packet without a route waits in the request queue, and its destination is searched. A search sends RREQs, each with a
larger TTL, until the last has found nothing:

- *Rings* (section 6.4). The first RREQ goes TTL_START hops, or a little beyond where the destination was when last
  known; each further one TTL_INCREMENT hops more. Beyond TTL_THRESHOLD the whole network is searched, NET_DIAMETER.
- *Repetitions* (section 6.3). The whole network is searched RREQ_RETRIES times more, and each time the wait doubles.
- *Rate* (section 6.3). At most RREQ_RATELIMIT RREQs leave in a second. A place is given to a RREQ when its attempt
  begins, and it is kept if the search ends before its turn. So there are fewer searches than there could be, which does
  no harm where the channel is slow: giving the places back was tried with the profile `tuned` (C32, 8 m/s, seed 0),
  which then sent 3,343 messages a node in place of some 2,260, and delivered 0.946 in place of 0.9998.

A search ends when there is a route, wherever that comes from: a RREP, a RREQ of the destination itself, a frame heard
from it (`Discovery.learned`). ns-3 ends it with a RREP or with the time-out only, and lets the packets wait until then.

Local repair (section 6.12) is a search, too: of one RREQ, begun by a node on the way whose link broke, for the packet
that it holds. Two liberties of the RFC are not taken. Only the route of that packet is repaired, not others over the
same link; and an originator that hears of a longer way (flag N) does not search a shorter one.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from itertools import takewhile

from roambus.python_protocol.agent import Process
from roambus.python_protocol.aodv.maintenance import RouteErrors
from roambus.python_protocol.aodv.messages import DataPacket, RouteRequest
from roambus.python_protocol.aodv.parameters import AodvParameters
from roambus.python_protocol.aodv.routing_table import Route, RouteState, RoutingTable
from roambus.python_protocol.aodv.transmission import RateLimit, Transmission
from roambus.python_protocol.parts.link import following
from roambus.python_protocol.vocabulary import NodeId, SimTime


@dataclass(frozen=True, slots=True)
class DiscoveryTimer:
    """The key of the timer of the search for one destination."""

    destination: NodeId


@dataclass(frozen=True, slots=True)
class Attempt:
    """One RREQ of a search: its TTL, and how often the whole network was searched before it."""

    ttl: int
    repeats: int = 0


@dataclass(slots=True)
class Search:
    """A search under way. `is_sent` is false while the RREQ waits for the rate limit."""

    attempt: Attempt
    is_sent: bool = False
    lost_hop_count: int | None = None
    """How far the destination was before the link broke, in a local repair; None in any other search."""


class Discovery(Process):
    """The searches of one node, and the packets that wait for them."""

    def __init__(
        self, node: NodeId, parameters: AodvParameters, table: RoutingTable, frames: Transmission, errors: RouteErrors
    ) -> None:
        super().__init__(of=frames)
        self._node, self._parameters = node, parameters
        self._table, self._frames, self._errors = table, frames, errors
        self.queue = RequestQueue(parameters.request_queue_limit, parameters.request_queue_timeout)
        self.searches: dict[NodeId, Search] = {}
        self.rreq_id = 0
        self.silent_until: SimTime = 0
        """After a reboot, no control message is originated or forwarded before (section 6.13)."""
        self._rreq_limit = RateLimit(parameters.rreq_ratelimit)

    # Packets, with a route and without one

    def carry(self, packet: DataPacket, now: SimTime) -> None:
        """Sends a packet over the active route; without one it waits while a route is searched (section 6.3)."""
        route = self._table.active(packet.destination, now)
        if route is not None:
            self._send_packet(packet, route, now)
            return
        if dropped := self.queue.add(packet, now):
            self._frames.drop(dropped, "request queue full")
        self.search(packet.destination, now)

    def save(self, packet: DataPacket, now: SimTime) -> None:
        """Carries on with a packet that a link did not take, at its originator; elsewhere it needs a local repair.

        The RFC leaves open what becomes of it at the originator. In ns-3 it is lost with the link.
        """
        if packet.originator == self._node or self._can_repair(packet, now):
            self.carry(packet, now)
        else:
            self._frames.drop(packet, "link broken")

    def _send_packet(self, packet: DataPacket, route: Route, now: SimTime) -> None:
        """Passes `packet` to the next hop, and keeps the routes alive that it uses.

        By section 6.2 these are the routes to the destination, to the next hop and back to the originator.
        """
        if self._frames.is_full(route.next_hop):
            self._frames.drop(packet, "link queue full")
            return
        self._table.use((packet.destination, route.next_hop, packet.originator), now)
        self._frames.unicast(route.next_hop, packet, now)

    # Searches

    def search(self, destination: NodeId, now: SimTime) -> None:
        """Searches `destination`, unless that is under way; after a reboot only once the wait is over."""
        if destination in self.searches or now < self.silent_until:
            return
        route = self._table.get(destination)
        known = None if route is None else route.hop_count
        self._begin(destination, Search(first_attempt(self._parameters, known)), now)

    def proceed(self, destination: NodeId, now: SimTime) -> None:
        """Sends a RREQ that the rate limit lets go now, or the next one because an answer is overdue (6.3, 6.4)."""
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
        """Ends the search for `destination`, to which there is a new or better route: what waited for it can go."""
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
        """Whether a route to `destination` is being repaired here."""
        search = self.searches.get(destination)
        return search is not None and search.lost_hop_count is not None

    def _begin(self, destination: NodeId, search: Search, now: SimTime) -> None:
        """Sends the RREQ of the first or next attempt, or has it wait for its turn."""
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
        """Each request has the next RREQ ID and a newer own sequence number (sections 6.1 and 6.3)."""
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
        """Drops what waited for a route that was not found (section 6.3)."""
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
        """Whether the destination was near enough for a search that is begun here, or was before (section 6.12)."""
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
    """The search starts near, or a little beyond where the destination was when last known."""
    start = parameters.ttl_start if last_hop_count is None else last_hop_count + parameters.ttl_increment
    return Attempt(_ring(parameters, start))


def next_attempt(parameters: AodvParameters, attempt: Attempt) -> Attempt | None:
    """After one without an answer: a larger ring, then RREQ_RETRIES times more the whole network, then no more."""
    if attempt.ttl < parameters.net_diameter:
        return Attempt(_ring(parameters, attempt.ttl + parameters.ttl_increment))
    if attempt.repeats < parameters.rreq_retries:
        return Attempt(attempt.ttl, attempt.repeats + 1)
    return None


def waiting_time(parameters: AodvParameters, attempt: Attempt) -> SimTime:
    """How long to wait for an answer; doubled with each repetition (binary exponential back-off)."""
    if attempt.ttl < parameters.net_diameter:
        return parameters.ring_traversal_time(attempt.ttl)
    return parameters.net_traversal_time << attempt.repeats


def repair_attempt(parameters: AodvParameters, last_hop_count: int, hops_to_originator: int) -> Attempt:
    """The one RREQ of a local repair (section 6.12), MIN_REPAIR_TTL being the last known hop count."""
    ttl = max(last_hop_count, hops_to_originator // 2) + parameters.local_add_ttl
    return Attempt(min(ttl, parameters.net_diameter))


def _ring(parameters: AodvParameters, ttl: int) -> int:
    return ttl if ttl <= parameters.ttl_threshold else parameters.net_diameter


# What waits, and what was heard


class RequestQueue:
    """Packets that wait for a route (section 6.3: "buffered", first in, first out), each for at most `timeout` ns.

    The RFC names neither a limit nor a time-out; the defaults are those of ns-2 and ns-3. A full queue drops the oldest
    packet, because its receiver has the least use of it.
    """

    def __init__(self, limit: int, timeout: SimTime) -> None:
        self._limit = limit
        self._timeout = timeout
        self._waiting: deque[tuple[SimTime, DataPacket]] = deque()

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, packet: DataPacket, now: SimTime) -> DataPacket | None:
        """Queues `packet`; returns the oldest one if that had to be dropped."""
        dropped = self._waiting.popleft()[1] if len(self._waiting) >= self._limit else None
        self._waiting.append((now + self._timeout, packet))
        return dropped

    def take(self, destination: NodeId) -> list[DataPacket]:
        """Takes the packets for `destination` out, oldest first."""
        taken = [packet for _, packet in self._waiting if packet.destination == destination]
        self._waiting = deque(entry for entry in self._waiting if entry[1].destination != destination)
        return taken

    def sweep(self, now: SimTime) -> list[DataPacket]:
        """Takes out those that waited too long."""
        over = list(takewhile(lambda entry: entry[0] <= now, self._waiting))
        return [self._waiting.popleft()[1] for _ in over]

    def destinations(self) -> list[NodeId]:
        """Where the waiting packets want to go, in the order of their first packet."""
        return list(dict.fromkeys(packet.destination for _, packet in self._waiting))


RequestId = tuple[NodeId, int]
"""(originator, RREQ ID): names a route request."""


class IdCache:
    """Which RREQs were heard in the last `lifetime` ns (PATH_DISCOVERY_TIME), so that copies are dropped (6.5)."""

    def __init__(self, lifetime: SimTime) -> None:
        self._lifetime = lifetime
        self.known_until: dict[RequestId, SimTime] = {}
        """Read where it is needed, because a call for each RREQ heard would take too long; for some it may be over."""

    def __len__(self) -> int:
        return len(self.known_until)

    def add(self, request: RequestId, now: SimTime) -> None:
        """Remembers `request` from now on."""
        self.known_until.pop(request, None)
        self.known_until[request] = now + self._lifetime

    def sweep(self, now: SimTime) -> None:
        """Forgets what is over. All live equally long, so the oldest entries are the first of the dictionary."""
        for request, _ in list(takewhile(lambda entry: entry[1] <= now, self.known_until.items())):
            del self.known_until[request]
