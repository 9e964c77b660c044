"""Route requests that arrive (RFC 3561, sections 6.5 and 6.6): answered, passed on, or dropped."""

from __future__ import annotations

from roambus.python_protocol.aodv.discovery import Discovery
from roambus.python_protocol.aodv.id_cache import IdCache
from roambus.python_protocol.aodv.messages import RouteReply, RouteRequest
from roambus.python_protocol.aodv.replies import Replies
from roambus.python_protocol.aodv.routing_table import Route
from roambus.python_protocol.aodv.state import State
from roambus.python_protocol.parts.sequence import is_newer, newest
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import MILLISECOND, SimTime


class Requests:
    """Everything about a RREQ after its first copy was recognised as new."""

    def __init__(self, state: State, discovery: Discovery, replies: Replies, seen: IdCache) -> None:
        self._state = state
        self._discovery = discovery
        self._replies = replies
        self._seen = seen

    def receive(self, sender: NodeId, request: RouteRequest, now: SimTime) -> None:
        """The first copy of a request, from a neighbour that is not blacklisted."""
        self._seen.add((request.originator, request.rreq_id), now)
        hop_count = min(request.hop_count + 1, 255)
        self._learn_reverse_route(sender, request, hop_count, now)
        is_destination = request.destination == self._state.node
        if is_destination:
            self._renew_own_sequence(request)
        if self._state.is_silent(now):
            return
        if is_destination:
            self._answer_as_destination(request, now)
        elif route := self._usable_route(request, now):
            self._answer_for_destination(sender, request, route, now)
        elif request.ttl > 1:
            self._pass_on(request, hop_count, now)

    def _learn_reverse_route(self, sender: NodeId, request: RouteRequest, hop_count: int, now: SimTime) -> None:
        """Section 6.5: the way back to the originator, for at least as long as an answer can take."""
        parameters = self._state.parameters
        way = parameters.net_traversal_time - hop_count * parameters.node_traversal_time
        until = now + 2 * way
        existing = self._state.table.active(request.originator, now)
        until = max(until, existing.lifetime) if existing else until
        offer = Route(request.originator, sender, hop_count, request.originator_sequence, True, until)
        if self._state.table.update(offer, now):
            self._discovery.learned(request.originator, now)
        else:
            self._state.table.extend(request.originator, until, now)

    def _usable_route(self, request: RouteRequest, now: SimTime) -> Route | None:
        """Section 6.6: an active route, as new as the request wants it, unless only the destination may answer."""
        route = None if request.destination_only else self._state.table.active(request.destination, now)
        if route is None or not route.sequence_valid:
            return None
        is_new_enough = request.unknown_sequence or not is_newer(request.destination_sequence, route.sequence)
        return route if is_new_enough else None

    def _renew_own_sequence(self, request: RouteRequest) -> None:
        """Section 6.1: as new as the request's; so a node learns its number again after a reboot (section 6.13)."""
        if not request.unknown_sequence:
            self._state.sequence = newest(self._state.sequence, request.destination_sequence)

    def _answer_as_destination(self, request: RouteRequest, now: SimTime) -> None:
        """Section 6.6.1."""
        self._reply(request, 0, self._state.sequence, self._state.parameters.my_route_timeout, now)

    def _answer_for_destination(self, sender: NodeId, request: RouteRequest, route: Route, now: SimTime) -> None:
        """Section 6.6.2, and 6.6.3 if the request wants it."""
        reverse = self._state.table.active(request.originator, now)
        if reverse is None:
            return
        route.precursors.add(sender)
        reverse.precursors.add(route.next_hop)
        self._reply(request, route.hop_count, route.sequence, route.lifetime - now, now)
        if request.gratuitous:
            self._reply_gratuitously(request, route, reverse, now)

    def _reply(self, request: RouteRequest, hop_count: int, sequence: int, lifetime: SimTime, now: SimTime) -> None:
        lifetime_ms = lifetime // MILLISECOND
        ttl = self._state.parameters.net_diameter
        reply = RouteReply(ttl, hop_count, request.destination, sequence, request.originator, lifetime_ms)
        self._replies.send(reply, now, answers_broadcast=True)

    def _reply_gratuitously(self, request: RouteRequest, route: Route, reverse: Route, now: SimTime) -> None:
        """Section 6.6.3: the destination learns the way to the originator as if it had asked for it."""
        reply = RouteReply(
            ttl=self._state.parameters.net_diameter,
            hop_count=reverse.hop_count,
            destination=request.originator,
            destination_sequence=request.originator_sequence,
            originator=route.destination,
            lifetime_ms=(reverse.lifetime - now) // MILLISECOND,
        )
        self._replies.send(reply, now, answers_broadcast=True)

    def _pass_on(self, request: RouteRequest, hop_count: int, now: SimTime) -> None:
        """Section 6.5: with the newest sequence number of the destination that either of us knows."""
        route = self._state.table.get(request.destination)
        sequence, unknown = request.destination_sequence, request.unknown_sequence
        if route is not None and route.sequence_valid:
            sequence = route.sequence if unknown else newest(sequence, route.sequence)
            unknown = False
        forwarded = RouteRequest(  # `replace` takes four times as long, and each node passes each request on
            ttl=request.ttl - 1,
            hop_count=hop_count,
            rreq_id=request.rreq_id,
            destination=request.destination,
            destination_sequence=sequence,
            originator=request.originator,
            originator_sequence=request.originator_sequence,
            unknown_sequence=unknown,
            destination_only=request.destination_only,
            gratuitous=request.gratuitous,
        )
        self._state.out.broadcast_later(forwarded, now)
