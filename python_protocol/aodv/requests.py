"""Route requests that arrive (RFC 3561, sections 6.5 and 6.6): answered, passed on, or dropped.

Most frames of a large network are requests that a node has heard before, from another of its neighbours. So the handler
first finds out whether this is one, and does little else until it knows.
"""

from __future__ import annotations

from roambus.python_protocol.aodv.messages import RouteReply, RouteRequest
from roambus.python_protocol.aodv.replies import RouteReplies
from roambus.python_protocol.aodv.routing_table import Route
from roambus.python_protocol.parts.sequence import is_newer, newest
from roambus.python_protocol.process import on
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import MILLISECOND, SimTime


class RouteRequests(RouteReplies):
    """Answers RREQs, or passes them on."""

    @on(RouteRequest)  # section 6.5
    def receive_request(self, request: RouteRequest, sender: NodeId, now: SimTime) -> None:
        """Takes up the first copy of a request, unless it comes over a link that may be one-way (section 6.8)."""
        if self._blacklisted.get(sender, now) > now:
            return
        self.hear_neighbour(sender, now)
        originator = request.originator
        if self._known_until.get((originator, request.rreq_id), now) > now:
            return
        if originator != self.node:  # one's own needs no memory to be known (section 6.3)
            self._take_up(request, sender, now)

    def _take_up(self, request: RouteRequest, sender: NodeId, now: SimTime) -> None:
        self.seen.add((request.originator, request.rreq_id), now)
        hop_count = min(request.hop_count + 1, 255)
        self._learn_reverse_route(request, sender, hop_count, now)
        is_destination = request.destination == self.node
        if is_destination:
            self._renew_own_sequence(request)
        if self.is_silent(now):
            return
        if is_destination:
            self._answer_as_destination(request, now)
        elif route := self._usable_route(request, now):
            self._answer_for_destination(request, sender, route, now)
        elif request.ttl > 1:
            self._pass_on(request, hop_count, now)

    def _learn_reverse_route(self, request: RouteRequest, sender: NodeId, hop_count: int, now: SimTime) -> None:
        """Makes the way back to the originator, for at least as long as an answer can take (section 6.5)."""
        way = self.parameters.net_traversal_time - hop_count * self.parameters.node_traversal_time
        until = now + 2 * way
        existing = self.table.active(request.originator, now)
        until = max(until, existing.lifetime) if existing else until
        offer = Route(request.originator, sender, hop_count, request.originator_sequence, True, until)
        if self.table.update(offer, now):
            self.learned(request.originator, now)
        else:
            self.table.extend(request.originator, until, now)

    def _usable_route(self, request: RouteRequest, now: SimTime) -> Route | None:
        """An active route, as new as the request wants it, unless only the destination may answer (section 6.6)."""
        route = None if request.destination_only else self.table.active(request.destination, now)
        if route is None or not route.sequence_valid:
            return None
        is_new_enough = request.unknown_sequence or not is_newer(request.destination_sequence, route.sequence)
        return route if is_new_enough else None

    def _renew_own_sequence(self, request: RouteRequest) -> None:
        """Becomes as new as the request's (section 6.1); so a node learns its number again after a reboot (6.13)."""
        if not request.unknown_sequence:
            self.sequence = newest(self.sequence, request.destination_sequence)

    def _answer_as_destination(self, request: RouteRequest, now: SimTime) -> None:
        """Answers for itself (section 6.6.1)."""
        self._reply(request, 0, self.sequence, self.parameters.my_route_timeout, now)

    def _answer_for_destination(self, request: RouteRequest, sender: NodeId, route: Route, now: SimTime) -> None:
        """Answers with a route that it has (section 6.6.2), both ways if the request wants it (section 6.6.3)."""
        reverse = self.table.active(request.originator, now)
        if reverse is None:
            return
        route.precursors.add(sender)
        reverse.precursors.add(route.next_hop)
        self._reply(request, route.hop_count, route.sequence, route.lifetime - now, now)
        if request.gratuitous:
            self._reply_gratuitously(request, route, reverse, now)

    def _reply(self, request: RouteRequest, hop_count: int, sequence: int, lifetime: SimTime, now: SimTime) -> None:
        reply = RouteReply(
            hop_count=hop_count,
            ttl=self.parameters.net_diameter,
            destination=request.destination,
            destination_sequence=sequence,
            originator=request.originator,
            lifetime_ms=lifetime // MILLISECOND,
        )
        self.send_reply(reply, now, answers_broadcast=True)

    def _reply_gratuitously(self, request: RouteRequest, route: Route, reverse: Route, now: SimTime) -> None:
        """Tells the destination the way to the originator as if it had asked for it (section 6.6.3)."""
        reply = RouteReply(
            hop_count=reverse.hop_count,
            ttl=self.parameters.net_diameter,
            destination=request.originator,
            destination_sequence=request.originator_sequence,
            originator=route.destination,
            lifetime_ms=(reverse.lifetime - now) // MILLISECOND,
        )
        self.send_reply(reply, now, answers_broadcast=True)

    def _pass_on(self, request: RouteRequest, hop_count: int, now: SimTime) -> None:
        """Broadcasts with the newest sequence number of the destination that either of us knows (section 6.5)."""
        route = self.table.get(request.destination)
        sequence, unknown = request.destination_sequence, request.unknown_sequence
        if route is not None and route.sequence_valid:
            sequence = route.sequence if unknown else newest(sequence, route.sequence)
            unknown = False
        forwarded = RouteRequest(  # `replace` takes four times as long, and each node passes each request on
            hop_count=hop_count,
            ttl=request.ttl - 1,
            rreq_id=request.rreq_id,
            destination=request.destination,
            destination_sequence=sequence,
            originator=request.originator,
            originator_sequence=request.originator_sequence,
            unknown_sequence=unknown,
            destination_only=request.destination_only,
            gratuitous=request.gratuitous,
        )
        self.broadcast_later(forwarded, now)
