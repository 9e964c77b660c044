"""Route replies (RFC 3561, sections 6.7 and 6.8): on their way back, each node that they pass learns the route."""

from __future__ import annotations

from dataclasses import dataclass, replace

from roambus.python_protocol.aodv.discovery import Discovery
from roambus.python_protocol.aodv.messages import RouteReply, RouteReplyAck
from roambus.python_protocol.aodv.routing_table import Route
from roambus.python_protocol.aodv.state import State
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import MILLISECOND, SimTime


@dataclass(frozen=True, slots=True)
class AckTimer:
    """The key of the timer of the RREP-ACK that is expected from a neighbour."""

    neighbour: NodeId


class Replies:
    """Sends, receives and forwards RREPs."""

    def __init__(self, state: State, discovery: Discovery) -> None:
        self._state = state
        self._discovery = discovery

    def send(self, reply: RouteReply, now: SimTime, *, answers_broadcast: bool = False) -> None:
        """To the next hop towards who asked (section 6.7), after a jitter if others may answer, too."""
        state = self._state
        reverse = state.table.active(reply.originator, now)
        if reverse is None:
            return
        if reply.acknowledge != state.parameters.rrep_ack:
            reply = replace(reply, acknowledge=state.parameters.rrep_ack)
        self._remember_precursors(reply, reverse, now)
        if answers_broadcast:
            state.out.unicast_later(reverse.next_hop, reply)
        else:
            state.out.unicast(reverse.next_hop, reply, now)
        if reply.acknowledge:
            jitter = state.parameters.broadcast_jitter if answers_broadcast else 0
            state.out.set_timer(AckTimer(reverse.next_hop), jitter + state.parameters.next_hop_wait)

    def receive(self, sender: NodeId, reply: RouteReply, now: SimTime) -> None:
        """Section 6.7: takes the route if it is better, and only then forwards the reply."""
        if reply.acknowledge:
            self._state.out.unicast(sender, RouteReplyAck(), now)
        reply = replace(reply, hop_count=min(reply.hop_count + 1, 255), ttl=reply.ttl - 1)
        if reply.destination == self._state.node or not self._learn_route(sender, reply, now):
            return
        self._discovery.learned(reply.destination, now)
        is_on_way = reply.originator != self._state.node and reply.ttl > 0
        if is_on_way and not self._state.is_silent(now):
            self.send(reply, now)

    def receive_ack(self, sender: NodeId) -> None:
        """Section 6.8: the link to `sender` carries frames both ways."""
        self._state.out.cancel_timer(AckTimer(sender))

    def timer(self, key: AckTimer, now: SimTime) -> None:
        """Section 6.8: no RREP-ACK came, so the link may be one-way."""
        self._state.neighbours.blacklist(key.neighbour, now)

    def _learn_route(self, sender: NodeId, reply: RouteReply, now: SimTime) -> bool:
        until = now + reply.lifetime_ms * MILLISECOND
        offer = Route(reply.destination, sender, reply.hop_count, reply.destination_sequence, True, until)
        return self._state.table.update(offer, now)

    def _remember_precursors(self, reply: RouteReply, reverse: Route, now: SimTime) -> None:
        """Section 6.7: who gets the reply may send over the route, and over the route to its next hop."""
        state = self._state
        state.used_at = now
        state.table.extend(reverse.destination, now + state.parameters.active_route_timeout, now)
        route = state.table.get(reply.destination)
        if route is None:
            return
        route.precursors.add(reverse.next_hop)
        next_hop = state.table.get(route.next_hop)
        if next_hop is not None:
            next_hop.precursors.add(reverse.next_hop)
