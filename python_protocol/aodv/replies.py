"""Route replies (RFC 3561, sections 6.7 and 6.8): on their way back, each node that they pass learns the route."""

from __future__ import annotations

from dataclasses import dataclass, replace

from roambus.python_protocol.aodv.discovery import Discovery
from roambus.python_protocol.aodv.messages import RouteReply, RouteReplyAck
from roambus.python_protocol.aodv.routing_table import Route
from roambus.python_protocol.process import on, on_timer
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import MILLISECOND, SimTime


@dataclass(frozen=True, slots=True)
class AckTimer:
    """The key of the timer of the RREP-ACK that is expected from a neighbour."""

    neighbour: NodeId


class RouteReplies(Discovery):
    """Sends, receives and forwards RREPs."""

    @on(RouteReply)  # section 6.7
    def receive_reply(self, reply: RouteReply, sender: NodeId, now: SimTime) -> None:
        """Takes the route if it is better, and only then forwards the reply."""
        self.hear_neighbour(sender, now)
        if reply.acknowledge:
            self.unicast(sender, RouteReplyAck(), now)
        reply = replace(reply, hop_count=min(reply.hop_count + 1, 255), ttl=reply.ttl - 1)
        if reply.destination == self.node or not self._learn_route(reply, sender, now):
            return
        self.learned(reply.destination, now)
        is_on_way = reply.originator != self.node and reply.ttl > 0
        if is_on_way and not self.is_silent(now):
            self.send_reply(reply, now)

    @on(RouteReplyAck)  # section 6.8
    def receive_reply_ack(self, _: RouteReplyAck, sender: NodeId, now: SimTime) -> None:
        """The link to `sender` carries frames both ways."""
        self.hear_neighbour(sender, now)
        self.cancel_timer(AckTimer(sender))

    @on_timer(AckTimer)  # section 6.8
    def miss_reply_ack(self, key: AckTimer, now: SimTime) -> None:
        """Blacklists a neighbour that has sent no RREP-ACK, because the link may be one-way."""
        self.neighbours.blacklist(key.neighbour, now)

    def send_reply(self, reply: RouteReply, now: SimTime, *, answers_broadcast: bool = False) -> None:
        """Sends to the next hop towards who asked (section 6.7), after a jitter if others may answer, too."""
        reverse = self.table.active(reply.originator, now)
        if reverse is None:
            return
        if reply.acknowledge != self.parameters.rrep_ack:
            reply = replace(reply, acknowledge=self.parameters.rrep_ack)
        self._remember_precursors(reply, reverse, now)
        if answers_broadcast:
            self.unicast_later(reverse.next_hop, reply)
        else:
            self.unicast(reverse.next_hop, reply, now)
        if reply.acknowledge:
            jitter = self.parameters.broadcast_jitter if answers_broadcast else 0
            self.set_timer(AckTimer(reverse.next_hop), jitter + self.parameters.next_hop_wait)

    def _learn_route(self, reply: RouteReply, sender: NodeId, now: SimTime) -> bool:
        until = now + reply.lifetime_ms * MILLISECOND
        offer = Route(reply.destination, sender, reply.hop_count, reply.destination_sequence, True, until)
        return self.table.update(offer, now)

    def _remember_precursors(self, reply: RouteReply, reverse: Route, now: SimTime) -> None:
        """Whoever gets the reply may send over the route, and over the route to its next hop (section 6.7)."""
        self.keep_alive((reverse.destination,), now)
        route = self.table.get(reply.destination)
        if route is None:
            return
        route.precursors.add(reverse.next_hop)
        next_hop = self.table.get(route.next_hop)
        if next_hop is not None:
            next_hop.precursors.add(reverse.next_hop)
