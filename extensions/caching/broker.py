"""A broker with a cache (sections 3 to 5).

In handlers, z is the interface of arrival and y one of departure. The old broker alone answers a returning client.
Numbered requests let messages follow a client that moves on (`follow_client`). Duplicates are dropped by request
(`drop_by_request`), because caches hold messages for other reasons, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from roambus.extensions.caching.cache import Cache, CachingParameters
from roambus.extensions.caching.subscriptions import NUMBERS, Request, Response, SubscriptionTable
from roambus.python_protocol.agent import Listing, Recent, on
from roambus.python_protocol.brokers.anonymous import Sub, Uns
from roambus.python_protocol.brokers.broker import Pub
from roambus.python_protocol.brokers.routing import ForgetfulBroker
from roambus.python_protocol.filters import Notification
from roambus.python_protocol.messages.fields import Names
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime
from roambus.python_protocol.trace_rows import DROP, REPLAY

DUPLICATE = "duplicate response"
NO_WAY = "no link"


class Broker(ForgetfulBroker):
    """A broker: interfaces, subscription table and cache."""

    def __init__(self, node: NodeId, parameters: CachingParameters) -> None:
        """Start without neighbours."""
        super().__init__(node, parameters)
        self.table = SubscriptionTable()
        self.cache = Cache(parameters.cache_size, parameters.policy)
        self._moving: set[NodeId] = set()
        self._ways: dict[NodeId, Way] = {}  # of clients that have left and asked from elsewhere since
        self._arrivals: dict[NodeId, int] = {}  # the number of the request by which each client came here last
        self._passed = Recent(parameters.remembered)  # what it has forgotten can pass again
        self._parameters = parameters

    # Subscriptions (section 3.1)

    @on(Sub)
    def subscribe(self, sub: Sub, z: NodeId, now: SimTime) -> None:
        """Add a subscription; forward it to neighbours without a cover."""
        self.meet_client(z)
        self.table.add(sub.filter, z)
        self._tell_neighbours()

    @on(Uns)
    def unsubscribe(self, uns: Uns, z: NodeId, now: SimTime) -> None:
        """Remove a subscription and forward those that it covered."""
        self.table.remove(uns.filter, z)
        self._tell_neighbours()
        self._forget_unwanted()

    def _tell_neighbours(self) -> None:
        for neighbour in self.neighbours:
            new, withdrawn = self.table.tell(neighbour)
            for filter_ in new:
                self.send(neighbour, Sub(filter_))
            for filter_ in withdrawn:
                self.send(neighbour, Uns(filter_))

    def _forget_unwanted(self) -> None:
        """Remove messages that no client here wants (section 3.2)."""
        for event_id in [message.id for message in self.cache if not self._is_wanted(message)]:
            self.perform(self.cache.forget(event_id))

    # Publications (sections 3.2 and 4)

    @on(Pub)
    def publish(self, pub: Pub, z: NodeId, now: SimTime) -> None:
        """Send a message once to each match, but not back; cache it for a client here."""
        message = pub.notification
        matching = self.table.matching(message)
        self.note_route(message, filter(self.is_client, matching))
        for y in matching:
            if y not in self._moving and not self.is_way_back(y, z):
                self.send_pub(pub, y)
        if self._is_wanted(message):
            self.perform(self.cache.put(message, [y for y in matching if y in self._moving]))

    # Requests (sections 3.2, 4 and 5)

    @on(Request)
    def answer_request(self, request: Request, z: NodeId, now: SimTime) -> None:
        """Answer a detaching, returning or asking client; no route, no answer."""
        if request.is_detachment:
            self._moving.add(z)
        elif request.route and request.broker is None:
            self._search(request, z)
        elif request.route:
            self._trace_back(request, z)

    def _search(self, request: Request, z: NodeId) -> None:
        """Respond with newly cached matches, and ask others."""
        found = [
            message
            for message in self.cache
            if message.id not in request.answered and any(asked.matches(message) for asked in request.filters)
        ]
        for message in found:
            self.cache.use(message.id)
            self._respond(request, message, z)
        if self._parameters.proactive:
            request = replace(request, answered=(*request.answered, *(message.id for message in found)))
        self._pass_on(request, z)

    def _trace_back(self, request: Request, z: NodeId) -> None:
        """Hand over to a returning client (section 4), or pass its request on."""
        client = request.route[-1]
        if z == client and (request.broker == self.node or self._parameters.follow_client):
            self._moving.discard(client)
            self._ways.pop(client, None)
            self._arrivals[client] = request.number
            self._hand_over(request, z)
        if request.broker != self.node:
            self._pass_on(request, z)
        elif z != client and not (self._parameters.follow_client and self._is_outdated(request)):
            self._moving.discard(client)
            self._ways[client] = Way(request, z)
            self.table.remove_interface(client)
            self._hand_over(request, z)

    def _hand_over(self, request: Request, z: NodeId) -> None:
        """Send a client its kept, still wanted messages."""
        for message in self.cache.release(request.route[-1]):
            if any(asked.matches(message) for asked in request.filters):
                self._respond(request, message, z, kept=True)
        self._tell_neighbours()
        self._forget_unwanted()

    def _pass_on(self, request: Request, z: NodeId) -> None:
        """Send the request to other brokers with possible matches."""
        longer = replace(request, route=(self.node, *request.route))
        is_traced = request.broker is not None and self._parameters.find_left
        for y in self.neighbours if is_traced else self.table.overlapping(request.filters):
            if y in self.neighbours and y != z:
                self.send(y, longer)

    def _respond(self, request: Request, message: Notification, z: NodeId, *, kept: bool = False) -> None:
        """Send a RESPONSE by the request's way."""
        client = request.route[-1]
        if not kept:
            self._passed.add((client, request.number, message.id))
        self.note(REPLAY, notification_id=str(message.id), peer=client)
        self.send(z, Response(request.number, kept, self.radio_hops(0, z), request.route, message))

    # Responses (sections 3.2 and 5)

    @on(Response)
    def forward_response(self, response: Response, z: NodeId, now: SimTime) -> None:
        """Forward a response along its route, but once."""
        route = response.route[1:]
        if route and self._is_duplicate(response):
            self.note(DROP, notification_id=str(response.notification.id), peer=route[-1], detail=DUPLICATE)
        elif route:
            self._forward(replace(response, route=route), route[0])

    def _forward(self, response: Response, y: NodeId) -> None:
        """Send a response on or keep it; cache it for clients here."""
        is_there = self.reaches(y)
        if is_there:
            self.send(y, replace(response, hops=self.radio_hops(response.hops, y)))
        if self._is_wanted(response.notification):
            self.perform(self.cache.put(response.notification))
        if not is_there:
            self._keep_or_drop(response.notification, y)

    def _is_duplicate(self, response: Response) -> bool:
        """Whether the reactive mechanism (section 5) drops it, if a client is interested."""
        message, parameters = response.notification, self._parameters
        is_spared = response.kept and parameters.spare_kept
        if is_spared or not parameters.reactive or not self._is_wanted(message):
            return False
        if parameters.drop_by_request and not response.kept:
            return not self._passed.add((response.route[-1], response.number, message.id))
        return message.id in self.cache

    # What the tree and the link report

    def neighbour_appeared(self, neighbour: NodeId) -> None:
        """Send a new neighbour every subscription."""
        super().neighbour_appeared(neighbour)
        self._tell_neighbours()

    def migrate(self, parent: NodeId) -> None:
        """Send the new parent every subscription."""
        super().migrate(parent)
        self._tell_neighbours()

    def gone(self, interface: NodeId, *, moved: bool) -> None:
        """Forget a neighbour; moving clients keep their subscriptions."""
        if interface in self.neighbours:
            self.table.remove_interface(interface)
        super().gone(interface, moved=moved)

    def link_broken(self, interface: NodeId, messages: Iterable[Message]) -> None:
        """Keep a moving client's undelivered messages; drop others."""
        self.gone(interface, moved=False)
        for message in messages:
            if isinstance(message, Pub | Response):
                self._keep_or_drop(message.notification, interface)

    # Helpers

    def _is_outdated(self, request: Request) -> bool:
        """Whether a client came after this request; numbers wrap."""
        arrival = self._arrivals.get(request.route[-1])
        return arrival is not None and (arrival - request.number) % NUMBERS < NUMBERS // 2

    def _is_wanted(self, message: Notification) -> bool:
        """Whether a client here, even moving, wants it."""
        return any(map(self.is_client, self.table.wanting(message)))

    def _keep_or_drop(self, message: Notification, interface: NodeId) -> None:
        """Keep a moving client's message, or send it after the client."""
        way = self._ways.get(interface) if self._parameters.follow_client else None
        if interface in self._moving:
            self.perform(self.cache.put(message, [interface]))
        elif way is not None:
            self._respond(way.request, message, way.interface, kept=True)
        else:
            self.note(DROP, notification_id=str(message.id), peer=interface, detail=NO_WAY)

    def listings(self, names: Names) -> Mapping[str, Listing]:
        """ST and the cache."""
        return {"table": self.table.listing(self.node, names), "cache": self.cache.listing(names)}


class Way(NamedTuple):
    """A client's newest request and its interface."""

    request: Request
    interface: NodeId
