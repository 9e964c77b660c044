"""The OLSR agent (RFC 3626): HELLOs, flooded TCs, and the routing table that follows from them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from roambus.extensions.routing.olsr.messages import (
    MOST_HOPS,
    Hello,
    TopologyControl,
    Willingness,
    decode_time,
    encode_time,
)
from roambus.extensions.routing.olsr.neighborhood import Neighborhood
from roambus.python_protocol.agent import Listing, by_first_column, on, on_timer
from roambus.python_protocol.events import Recovered, Started
from roambus.python_protocol.messages.fields import Names
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.parts.link import following, is_newer
from roambus.python_protocol.parts.unicast import DataPacket, Router, UnicastParameters
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.settings import parameter
from roambus.python_protocol.simtime import SECOND, SimTime

HELLO_TIMER, TC_TIMER = "hello", "tc"
_BITS = 16
_SECTION_18 = "RFC 3626, section 18"


class OlsrParameters(UnicastParameters):
    """Parameters of OLSR under the RFC's names; raises ValueError for impossible values."""

    hello_interval: SimTime = parameter(
        2 * SECOND, unit="s", source=f"{_SECTION_18}.2", above=0, doc="between two HELLOs; REFRESH_INTERVAL, too"
    )
    tc_interval: SimTime = parameter(5 * SECOND, unit="s", source=f"{_SECTION_18}.2", above=0, doc="between two TCs")
    dup_hold_time: SimTime = parameter(
        30 * SECOND, unit="s", source=f"{_SECTION_18}.3", above=0, doc="how long a flooded message is remembered"
    )
    willingness: int = parameter(
        int(Willingness.WILL_DEFAULT),
        source=f"{_SECTION_18}.8",
        at_least=int(Willingness.WILL_NEVER),
        at_most=int(Willingness.WILL_ALWAYS),
        doc="willingness to forward others' traffic",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.tc_interval < self.max_jitter:
            raise ValueError("parameter tc_interval: it must be at least MAXJITTER, a quarter of hello_interval")

    @property
    def max_jitter(self) -> SimTime:
        """MAXJITTER: an interval is shorter by at most this."""
        return self.hello_interval // 4

    @property
    def neighb_hold_time(self) -> SimTime:
        """NEIGHB_HOLD_TIME, the validity of a HELLO (section 18.3)."""
        return 3 * self.hello_interval

    @property
    def top_hold_time(self) -> SimTime:
        """TOP_HOLD_TIME, the validity of a TC (section 18.3)."""
        return 3 * self.tc_interval


@dataclass(frozen=True, slots=True)
class Topology:
    """The topology tuples with one T_last_addr (section 4.4)."""

    sequence: int
    destinations: tuple[NodeId, ...]
    until: SimTime


@dataclass(frozen=True, slots=True)
class Route:
    """An entry of the routing table (section 10)."""

    next_hop: NodeId
    distance: int


class Olsr(Router):
    """OLSR: multipoint relays flood who has selected them, and every node computes shortest ways."""

    parameters: OlsrParameters

    def forget(self) -> None:
        """Start without neighbours and topology."""
        super().forget()
        self.neighborhood = Neighborhood(self.node, self.parameters.neighb_hold_time)
        self.topology: dict[NodeId, Topology] = {}
        self._seen: dict[tuple[NodeId, int], SimTime] = {}
        """The duplicate set: the end of each entry."""
        self._number = self._ansn = 0
        self._advertised: tuple[NodeId, ...] = ()
        self._empty_until: SimTime = 0
        self._routes: dict[NodeId, Route] | None = None
        self._routes_until: SimTime = 0
        """When a tuple expires that they follow from."""
        self._now: SimTime = 0

    @on(Started, Recovered)
    def start(self, _: Started | Recovered, __: SimTime) -> None:
        """Begin HELLOs and TCs at random times."""
        self._routes = None
        self.set_timer(HELLO_TIMER, self.random.randint(0, self.parameters.hello_interval))
        self.set_timer(TC_TIMER, self.random.randint(0, self.parameters.tc_interval))

    def _early(self, interval: SimTime) -> SimTime:
        """An interval less a jitter of at most MAXJITTER (section 18.3)."""
        return interval - self.random.randint(0, self.parameters.max_jitter)

    # Sections 6 to 8: neighbours

    @on_timer(HELLO_TIMER)
    def say_hello(self, _: object, now: SimTime) -> None:
        """Broadcast the links, and delete expired tuples."""
        parameters = self.parameters
        self._expire(now)
        self._now = now
        times = encode_time(parameters.neighb_hold_time), encode_time(parameters.hello_interval)
        self.frames.broadcast(Hello(*times, parameters.willingness, self.neighborhood.hello_links(now)), now)
        self.set_timer(HELLO_TIMER, self._early(parameters.hello_interval))

    def _expire(self, now: SimTime) -> None:
        self.neighborhood.expire(now)
        self.topology = {node: its for node, its in self.topology.items() if its.until > now}
        self._seen = {origin: until for origin, until in self._seen.items() if until > now}
        self._routes = None

    @on(Hello)
    def receive_hello(self, hello: Hello, sender: NodeId, now: SimTime) -> None:
        """Update links, two-hop neighbours and MPR selectors."""
        self.neighborhood.hear(sender, hello, now)
        self._routes, self._now = None, now

    def lose_link(self, neighbour: NodeId, undelivered: Iterable[Message], now: SimTime) -> None:
        """Take the link layer's notification (section 13), and send the packets another way."""
        self.neighborhood.lose(neighbour, now)
        self._routes = None
        for message in undelivered:
            if isinstance(message, DataPacket):
                self.carry(message, now)

    # Section 9: topology

    @on_timer(TC_TIMER)
    def control_topology(self, _: object, now: SimTime) -> None:
        """Flood the MPR selectors; for a while after the last one was lost, that there are none (section 9.3)."""
        selectors, parameters = self.neighborhood.selectors(now), self.parameters
        if selectors != self._advertised:
            self._advertised, self._ansn = selectors, following(self._ansn, _BITS)
            self._empty_until = now + parameters.top_hold_time
        if selectors or now < self._empty_until:
            self._number = following(self._number, _BITS)
            vtime = encode_time(parameters.top_hold_time)
            tc = TopologyControl(vtime, self.node, MOST_HOPS, 0, self._number, self._ansn, selectors)
            self.frames.broadcast(tc, now)
        self.set_timer(TC_TIMER, self._early(parameters.tc_interval))

    @on(TopologyControl)
    def receive_topology(self, tc: TopologyControl, sender: NodeId, now: SimTime) -> None:
        """Process and forward the first copy from a symmetric neighbour (sections 3.4 and 9.5)."""
        link = self.neighborhood.links.get(sender)
        if link is None or not link.is_symmetric(now) or tc.originator == self.node:
            return
        key = tc.originator, tc.message_sequence_number
        is_known = self._seen.get(key, now) > now
        if is_known:
            return
        self._seen[key] = now + self.parameters.dup_hold_time
        self._take(tc, now)
        if tc.ttl > 1 and sender in self.neighborhood.selectors(now):
            self.frames.broadcast_later(tc.replaced(ttl=tc.ttl - 1, hop_count=tc.hop_count + 1), now)

    def _take(self, tc: TopologyControl, now: SimTime) -> None:
        old = self.topology.get(tc.originator)
        if old is None or old.until <= now or not is_newer(old.sequence, tc.ansn, _BITS):
            until = now + decode_time(tc.vtime)
            self.topology[tc.originator] = Topology(tc.ansn, tc.advertised_neighbors, until)
            self._routes = None

    # Section 10: the routing table

    def routes(self, now: SimTime) -> Mapping[NodeId, Route]:
        """The routing table, computed again after changes and expiries."""
        if self._routes is None or now >= self._routes_until:
            self._routes = self._compute(now)
            expiries = (*self.neighborhood.expiries(), *(its.until for its in self.topology.values()))
            self._routes_until = min((time for time in expiries if time > now), default=now + SECOND)
        return self._routes

    def _compute(self, now: SimTime) -> dict[NodeId, Route]:
        routes = {neighbor: Route(neighbor, 1) for neighbor in self.neighborhood.neighbors(now)}
        second = sorted(self.neighborhood.second(now).items())
        routes |= {two: Route(before[0], 2) for two, before in second}
        distance = 2  # a neighbour's HELLO says whom it reaches, before its TC does
        fringe = {two for two, _ in second}
        while fringe:
            found: dict[NodeId, Route] = {}
            for last in sorted(node for node in fringe if routes[node].distance == distance):
                for node in self._reached(last, now):
                    if node != self.node and node not in routes:
                        found.setdefault(node, Route(routes[last].next_hop, distance + 1))
            routes |= found
            distance += 1
            fringe = {node for node, route in routes.items() if route.distance == distance}
        return routes

    def _reached(self, last: NodeId, now: SimTime) -> tuple[NodeId, ...]:
        its = self.topology.get(last)
        return () if its is None or its.until <= now else its.destinations

    @on(DataPacket)
    def receive_packet(self, packet: DataPacket, sender: NodeId, now: SimTime) -> None:
        """Deliver a packet, or forward it by the table."""
        super().receive_packet(packet, sender, now)

    def carry(self, packet: DataPacket, now: SimTime) -> None:
        """Send a packet to the next hop of its route, or drop it."""
        route = self.routes(now).get(packet.destination)
        if route is None:
            self.lack_way(packet, "no route", now)
        else:
            self.pass_on(packet, route.next_hop, now)

    def has_way(self, destination: NodeId, now: SimTime) -> bool:
        """Whether the table has a route."""
        return destination in self.routes(now)

    # What is looked at

    def ways(self, now: SimTime) -> Mapping[NodeId, tuple[NodeId, ...]]:
        """The next hop to each destination."""
        return {destination: (route.next_hop,) for destination, route in self.routes(now).items()}

    def listings(self, names: Names) -> Mapping[str, Listing]:
        """The routing table with the RFC's columns, and the symmetric neighbours."""
        return {
            "table": by_first_column(("R_dest_addr", "R_next_addr", "R_dist"), self._rows(names)),
            "neighbours": by_first_column(("Neighbor", "MPR", "MPR selector"), self._neighbor_rows(names)),
        }

    def _rows(self, names: Names) -> Iterator[tuple[str, ...]]:
        for destination, route in self.routes(self._now).items():
            yield names.node(destination), names.node(route.next_hop), str(route.distance)

    def _neighbor_rows(self, names: Names) -> Iterator[tuple[str, ...]]:
        now = self._now
        mprs, selectors = self.neighborhood.mprs(now), self.neighborhood.selectors(now)
        for neighbor in self.neighborhood.neighbors(now):
            yield names.node(neighbor), "yes" if neighbor in mprs else "", "yes" if neighbor in selectors else ""
