"""The DSR agent (RFC 4728): route discovery (section 8.2) and route maintenance (8.3)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

from roambus.extensions.routing.dsr.cache import Path, RouteCache, ways_over
from roambus.extensions.routing.dsr.messages import (
    NODE_UNREACHABLE,
    BrokenLink,
    RouteError,
    RouteReply,
    RouteRequest,
    SourcedPacket,
    nodes_of,
    route_along,
)
from roambus.python_protocol.agent import Listing, Recent, by_first_column, on, on_timer
from roambus.python_protocol.events import Overheard, Recovered, Started
from roambus.python_protocol.filters import Notification
from roambus.python_protocol.messages.fields import Names
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.parts.link import LinkData, following
from roambus.python_protocol.parts.unicast import DataPacket, PacketQueue, Router, UnicastParameters
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.settings import parameter
from roambus.python_protocol.simtime import MILLISECOND, SECOND, SimTime

_SECTION_9 = "RFC 4728, section 9"
_BITS = 16


class DsrParameters(UnicastParameters):
    """Parameters of DSR under the RFC's names; raises ValueError for impossible values."""

    discovery_hop_limit: int = parameter(
        255, unit="hops", source=_SECTION_9, at_least=1, at_most=255, doc="hops of a propagating route request"
    )
    route_cache_timeout: SimTime = parameter(
        300 * SECOND, unit="s", source=_SECTION_9, above=0, doc="life of a path in the cache"
    )
    route_cache_size: int = parameter(64, source="ns-2 DSR: secondary cache", at_least=1, doc="paths in the cache")
    send_buffer_timeout: SimTime = parameter(
        30 * SECOND, unit="s", source=_SECTION_9, above=0, doc="longest wait of a packet for a route"
    )
    send_buffer_size: int = parameter(
        64, unit="packets", source="Broch et al. (1998), table 2", at_least=1, doc="packets that wait for routes"
    )
    request_table: int = parameter(
        64 * 16,
        source=f"{_SECTION_9}: RequestTableSize nodes with RequestTableIds numbers each",
        at_least=1,
        doc="route requests that are recognised",
    )
    max_request_rexmt: int = parameter(16, source=_SECTION_9, at_least=0, doc="retransmissions of a route request")
    max_request_period: SimTime = parameter(
        10 * SECOND, unit="s", source=_SECTION_9, above=0, doc="longest wait between route requests"
    )
    request_period: SimTime = parameter(
        500 * MILLISECOND, unit="s", source=_SECTION_9, above=0, doc="wait after the first propagating route request"
    )
    nonprop_request_timeout: SimTime = parameter(
        30 * MILLISECOND, unit="s", source=_SECTION_9, above=0, doc="wait after the non-propagating route request"
    )
    max_salvage_count: int = parameter(15, source=_SECTION_9, at_least=0, at_most=15, doc="salvages of a packet")
    cached_replies: bool = parameter(
        True, source="RFC 4728, section 8.2.3", doc="a node answers for a target to which it has a path"
    )
    blacklist_timeout: SimTime = parameter(
        3 * SECOND,
        unit="s",
        source="RFC 4728, section 4.6, without a value; ns-3 DSR: BlacklistTimeout",
        at_least=0,
        doc="requests of a neighbour that a reply has not reached are ignored for this time",
    )
    reply_delay: SimTime = parameter(
        2 * MILLISECOND,
        unit="s",
        source="RFC 4728, section 8.2.5: H; reasoned: an air time of a frame, within NonpropRequestTimeout",
        at_least=0,
        doc="a cached reply with a path of h hops waits for this times (h - 1 + r), with r drawn from 0 to 1",
    )
    promiscuous: bool = parameter(
        False,
        source="RFC 4728, sections 3.3.1, 3.4.3 and 8.2.5",
        doc="a node learns from packets between others, shortens their routes and withdraws replies that they spare; "
        "on back-ends that hand such packets up",
    )
    grat_reply_holdoff: SimTime = parameter(
        SECOND,
        unit="s",
        source=f"{_SECTION_9}: GratReplyHoldoff",
        at_least=0,
        doc="wait before a route is shortened again for the same source and sender",
    )


@dataclass(frozen=True, slots=True)
class RequestTimer:
    """The timer key of a target's discovery."""

    target: NodeId


class Dsr(Router):
    """DSR: the source of a packet gives its whole route, searched on demand."""

    parameters: DsrParameters

    def forget(self) -> None:
        """Start without routes and packets; a random number keeps neighbours from taking new requests for old."""
        super().forget()
        parameters = self.parameters
        self.cache = RouteCache(self.node, parameters.route_cache_size, parameters.route_cache_timeout)
        self.buffer = PacketQueue(parameters.send_buffer_size, parameters.send_buffer_timeout)
        self._requests = Recent(parameters.request_table)
        self._sent: dict[NodeId, int] = {}
        """The number of requests for each target that is searched."""
        self._identification = self.random.randrange(1 << _BITS)
        self._errors: tuple[BrokenLink, ...] = ()
        """The last error received, if any, until a propagating request has spread it."""
        self._answers: dict[tuple[NodeId, NodeId], tuple[int, int]] = {}
        """The number and the hops of the last cached reply for each source and target."""
        self._shortened: dict[tuple[NodeId, NodeId], SimTime] = {}
        """The gratuitous route reply table (section 4.4): the end of each entry."""
        self._blacklist: dict[NodeId, SimTime] = {}
        """Until when neighbours are on it; entries expire instead of becoming questionable."""

    def held(self) -> list[DataPacket]:
        """The waiting packets, also those for routes."""
        return [*super().held(), *self.buffer]

    @on(Started, Recovered)
    def start(self, _: Started | Recovered, now: SimTime) -> None:
        """Search again after a freeze, which may have cost timers."""
        for target in self._sent:
            self.set_timer(RequestTimer(target), self.parameters.request_period)

    # Packets (section 8.1)

    def packet(self, subscriber: NodeId, notification: Notification) -> DataPacket:
        """Make a packet whose route is open."""
        return SourcedPacket(
            0, self.parameters.net_diameter, self.node, subscriber, notification, route_along((self.node, subscriber))
        )

    def carry(self, packet: DataPacket, now: SimTime) -> None:
        """Send an own packet along a cached path, or buffer it and search."""
        path = self.cache.find(packet.destination, now)
        if path is not None:
            self.pass_on(packet.replaced(route=route_along(path)), path[1], now)
            return
        self._sweep(now)
        if dropped := self.buffer.add(packet, now):
            self.frames.drop(dropped, "send buffer full")
        if packet.destination not in self._sent:
            self._sent[packet.destination] = 0
            self._request(packet.destination, now)

    def forward(self, packet: DataPacket, sender: NodeId, now: SimTime) -> None:
        """Send a packet to the next node of its route."""
        onward = self._next_of(packet, now)
        if onward is None:
            self.frames.drop(packet, "not on its route")
        else:
            self.pass_on(onward[0], onward[1], now)

    @on(SourcedPacket)
    def receive_packet(self, packet: DataPacket, sender: NodeId, now: SimTime) -> None:
        """Deliver or forward a packet, whose route is cached."""
        self._learn(nodes_of(packet), now)
        super().receive_packet(packet, sender, now)

    def _next_of(self, message: Any, now: SimTime) -> tuple[Any, NodeId] | None:
        nodes, left = nodes_of(message), message.route.segments_left
        if not 0 < left < len(nodes) or nodes[-1 - left] != self.node:  # another node's, or damaged
            return None
        return message.replaced(route=message.route.onward()), nodes[-left]

    def _learn(self, nodes: Path, now: SimTime, *, back: bool = True) -> None:
        """Cache the ways to both ends of a route over this node (section 8.1.4), or to its last one."""
        if self.node in nodes:
            place = nodes.index(self.node)
            self._learn_ways((nodes[place:], nodes[place::-1]) if back else (nodes[place:],), now)

    def _learn_ways(self, ways: Iterable[Path], now: SimTime) -> None:
        learned = [way for way in ways if self.cache.add(way, now)]
        if learned:
            self._release(dict.fromkeys(chain(*learned)), now)

    def _sweep(self, now: SimTime) -> None:
        for packet in self.buffer.sweep(now):
            self.frames.drop(packet, "no route in time")

    def _release(self, nodes: Iterable[NodeId], now: SimTime) -> None:
        self._sweep(now)
        for target in [node for node in nodes if node in self._sent]:
            del self._sent[target]
            self.cancel_timer(RequestTimer(target))
            for packet in self.buffer.take(target):
                self.carry(packet, now)

    # Route discovery (section 8.2)

    def _request(self, target: NodeId, now: SimTime) -> None:
        """Send the next request: the first to neighbours alone, others further, after growing waits."""
        sent, parameters = self._sent[target], self.parameters
        self._sent[target] = sent + 1
        self._identification = following(self._identification, _BITS)
        limit = 1 if sent == 0 else parameters.discovery_hop_limit
        self.frames.broadcast(RouteRequest(limit, self.node, self._identification, target, self._errors, ()), now)
        if limit > 1:
            self._errors = ()
        wait = min(parameters.request_period << max(0, sent - 1), parameters.max_request_period)
        self.set_timer(RequestTimer(target), wait if sent else parameters.nonprop_request_timeout)

    @on_timer(RequestTimer)
    def request_again(self, key: RequestTimer, now: SimTime) -> None:
        """Search on while packets wait, at most MaxRequestRexmt times more."""
        self._sweep(now)
        target = key.target
        if target not in self._sent:
            return
        if self.buffer.count(target) and self._sent[target] <= self.parameters.max_request_rexmt:
            self._request(target, now)
            return
        del self._sent[target]
        for packet in self.buffer.take(target):
            self.frames.drop(packet, "no route")

    @on(RouteRequest)
    def receive_request(self, request: RouteRequest, sender: NodeId, now: SimTime) -> None:
        """Answer every copy as the target; else answer from the cache or pass on the first one (section 8.2.2)."""
        way = (request.source, *request.addresses)
        if self.node in way:
            if way[-2:-1] == (self.node,):  # the sender has heard this node (section 4.6)
                self._blacklist.pop(sender, None)
            return
        for link in request.errors:
            self.cache.remove_link(*link)
        is_target = request.target == self.node
        if self._blacklist.get(sender, now) > now and not is_target:
            return
        self._learn((*way, self.node), now)
        if is_target:
            delay = self.random.randint(0, self.parameters.broadcast_jitter)
            self._reply((*way, self.node), (*way, self.node), now, delay=delay)
        elif not self._requests.add((request.source, request.identification, request.target)):
            return
        elif not self._answer_from_cache(way, request.target, now) and request.hop_limit > 1:
            onward = request.replaced(hop_limit=request.hop_limit - 1, addresses=(*request.addresses, self.node))
            self.frames.broadcast_later(onward, now)

    def _answer_from_cache(self, way: Path, target: NodeId, now: SimTime) -> bool:
        """Reply with a cached path that visits no node of the request again (section 8.2.3)."""
        path = self.cache.find(target, now) if self.parameters.cached_replies else None
        if path is None or set(path) & set(way):
            return False
        hops = len(way) + len(path) - 1
        delay = round(self.parameters.reply_delay * (hops - 1 + self.random.random()))
        number = self._reply((*way, *path), (*way, self.node), now, delay=delay)
        self._answers[way[0], target] = number, hops
        return True

    def _reply(self, found: Path, way: Path, now: SimTime, *, delay: SimTime) -> int:
        """Send a reply back along the request's way, reversed (section 8.2.4); return its number if it waits."""
        back = way[::-1]
        reply = RouteReply(self.node, found[0], route_along(back), found[1:])
        if delay:
            return int(self.frames.unicast_later(back[1], reply, delay))
        self.frames.unicast(back[1], reply, now)
        return 0

    @on(RouteReply)
    def receive_reply(self, reply: RouteReply, sender: NodeId, now: SimTime) -> None:
        """Cache the route, but for links that the reply has not crossed (section 3.3.1), and pass it on."""
        self._learn((reply.destination, *reply.addresses), now, back=False)
        self._pass_along(reply, now)

    def _pass_along(self, message: RouteReply | RouteError, now: SimTime) -> None:
        if message.destination != self.node and (onward := self._next_of(message, now)) is not None:
            self.frames.unicast(onward[1], onward[0], now)

    # Packets between others (sections 3.3.1, 3.4.3 and 8.2.5)

    @property
    def needs_overheard(self) -> bool:
        """Whether the node listens to packets between others."""
        return self.parameters.promiscuous

    @on(Overheard)
    def overhear(self, event: Overheard, now: SimTime) -> None:
        """Learn from a packet, reply or error between others; shorten a packet's route, and withdraw a reply."""
        message = event.message.payload if isinstance(event.message, LinkData) else event.message
        if isinstance(message, RouteError):
            self.cache.remove_link(message.source, message.unreachable)
        elif isinstance(message, RouteReply):
            found = (message.destination, *message.addresses)
            self._learn_ways(ways_over(self.node, event.sender, found)[:1], now)
        elif isinstance(message, SourcedPacket):
            self._learn(nodes_of(message), now)
            self._learn_ways(ways_over(self.node, event.sender, nodes_of(message)), now)
            self._withdraw(message)
            self._shorten(message, event.sender, now)

    def _withdraw(self, packet: SourcedPacket) -> None:
        """Leave out a waiting reply whose asker has a route that is as short (section 8.2.5)."""
        number, hops = self._answers.get((packet.originator, packet.destination), (0, 0))
        if len(nodes_of(packet)) - 1 <= hops:
            self.frames.withdraw(number)

    def _shorten(self, packet: SourcedPacket, sender: NodeId, now: SimTime) -> None:
        """Send a source its route without the nodes between the sender and this one (section 3.4.3)."""
        nodes, left = nodes_of(packet), packet.route.segments_left
        if self.node not in nodes[len(nodes) - left :] or sender not in nodes:
            return
        if self._shortened.get((nodes[0], sender), now) > now:
            return
        self._shortened[nodes[0], sender] = now + self.parameters.grat_reply_holdoff
        before = nodes[: nodes.index(sender) + 1]
        delay = self.random.randint(0, self.parameters.broadcast_jitter)
        self._reply((*before, *nodes[nodes.index(self.node) :]), (*before, self.node), now, delay=delay)

    # Route maintenance (section 8.3)

    def lose_link(self, neighbour: NodeId, undelivered: Iterable[Message], now: SimTime) -> None:
        """Cut paths over the link, inform sources, and salvage packets (section 8.3.4)."""
        self.cache.remove_link(self.node, neighbour)
        informed = {self.node}
        for message in undelivered:
            if isinstance(message, RouteError):
                continue
            nodes = nodes_of(message)
            if nodes[0] not in informed:
                informed.add(nodes[0])
                self._inform(nodes, neighbour, now)
            if isinstance(message, SourcedPacket):
                self._salvage(message, now)
            else:  # a reply: the link may be one-way (section 8.2.6)
                self._blacklist[neighbour] = now + self.parameters.blacklist_timeout

    def _inform(self, nodes: Path, neighbour: NodeId, now: SimTime) -> None:
        back = nodes[nodes.index(self.node) :: -1]
        error = RouteError(self.node, nodes[0], route_along(back), NODE_UNREACHABLE, neighbour)
        self.frames.unicast(back[1], error, now)

    def _salvage(self, packet: SourcedPacket, now: SimTime) -> None:
        """Send a packet another way: an own one anew, another node's along a cached path (section 8.3.6)."""
        if packet.originator == self.node:
            self.carry(packet, now)
            return
        path, salvage = self.cache.find(packet.destination, now), packet.route.salvage + 1
        if path is None or salvage > self.parameters.max_salvage_count:
            self.frames.drop(packet, "link broken")
        else:
            self.pass_on(packet.replaced(route=route_along(path, salvage)), path[1], now)

    @on(RouteError)
    def receive_error(self, error: RouteError, sender: NodeId, now: SimTime) -> None:
        """Cut paths over the broken link, and pass the error on (section 8.3.5) or keep it for the next request."""
        self.cache.remove_link(error.source, error.unreachable)
        if error.destination == self.node:
            self._errors = (BrokenLink(error.source, error.unreachable),)
        self._pass_along(error, now)

    # What is looked at

    def listings(self, names: Names) -> Mapping[str, Listing]:
        """The paths of the route cache."""
        return {"cache": by_first_column(("Destination", "Path"), self._rows(names))}

    def _rows(self, names: Names) -> Iterator[tuple[str, ...]]:
        for path in self.cache:
            yield names.node(path[-1]), " ".join(map(names.node, path[1:]))
