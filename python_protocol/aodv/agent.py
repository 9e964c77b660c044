"""The AODV agent (RFC 3561) with publish/subscribe (the thesis, section 4.5).

All nodes route; only publishers search, because they unicast to every subscriber. Orders that matter:

- The sender of a frame is a neighbour before the handler runs (`_hear_neighbour`).
- `receive_request` recognises a known RREQ, as most are, with few calls.
- `lose_link` saves packets before it reports to precursors: a route under repair is not lost.
- A route is in the table before its search ends (`Discovery.learned`): waiting packets leave over it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from random import Random
from typing import ClassVar

from roambus.python_protocol.agent import Listing, on, on_timer
from roambus.python_protocol.aodv.discovery import Discovery, DiscoveryTimer, IdCache
from roambus.python_protocol.aodv.maintenance import AckTimer, Neighbours, RouteErrors
from roambus.python_protocol.aodv.messages import (
    Hello,
    RouteError,
    RouteReply,
    RouteReplyAck,
    RouteRequest,
    Transmission,
)
from roambus.python_protocol.aodv.parameters import AodvParameters
from roambus.python_protocol.aodv.routing_table import Route, RouteState, RoutingTable
from roambus.python_protocol.events import Crashed, Recovered, Started
from roambus.python_protocol.messages.fields import Names
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.parts.link import is_newer, newest
from roambus.python_protocol.parts.unicast import DataPacket, Router, hops_after, one_hop_on
from roambus.python_protocol.roles import NodeId, Role
from roambus.python_protocol.simtime import MILLISECOND, SimTime

HELLO_TIMER, SWEEP_TIMER, REBOOT_TIMER = "hello", "sweep", "reboot"


class Aodv(Router):
    """AODV: routes are searched on demand, and a publisher sends to each subscriber that the scenario names."""

    parameters: AodvParameters
    frames: Transmission
    table_type: ClassVar[type[RoutingTable]] = RoutingTable
    """A variant with other rules for routes replaces it."""

    def __init__(self, node: NodeId, roles: Role, parameters: AodvParameters, random: Random) -> None:
        super().__init__(node, roles, parameters, random)
        self._has_crashed = False

    def forget(self) -> None:
        """Start empty, as after a crash; subscriptions stay."""
        super().forget()
        parameters = self.parameters
        self.table = self.table_type(parameters.delete_period, parameters.active_route_timeout)
        self.neighbours = Neighbours(parameters.hello_timeout, parameters.delete_period, parameters.blacklist_timeout)
        self.seen = IdCache(parameters.path_discovery_time)
        self.errors = RouteErrors(self.table, self.frames, parameters.rerr_ratelimit)
        self.discovery = Discovery(self.node, parameters, self.table, self.frames, self.errors)
        self._checked_at: SimTime = 0  # when the hello timer last ran out
        # Each request that is heard is looked up in these, most of them for nothing, so they are at hand.
        self._heard, self._blacklisted = self.neighbours.heard, self.neighbours.blacklisted
        self._known_until = self.seen.known_until

    def held(self) -> list[DataPacket]:
        """The waiting packets, also those for routes."""
        return [*super().held(), *self.discovery.queue]

    def make_frames(self) -> Transmission:
        """Make the frames of AODV."""
        return Transmission(self.parameters, self.random, of=self)

    # Sections 6.3 and 6.4: searching

    @on_timer(DiscoveryTimer)
    def continue_search(self, key: DiscoveryTimer, now: SimTime) -> None:
        """Send the RREQ whose turn has come, or begin the next attempt."""
        self.discovery.proceed(key.destination, now)

    # Sections 6.5 and 6.6: route requests, answered, passed on, or dropped

    @on(RouteRequest)
    def receive_request(self, request: RouteRequest, sender: NodeId, now: SimTime) -> None:
        """Handle the first copy of a request, unless its link may be one-way (section 6.8).

        Later copies only show their senders (6.5: "silently discards"), so a shorter way that a jitter delays is lost.
        """
        if self._blacklisted.get(sender, now) > now:
            return
        self._hear_neighbour(sender, now)
        originator = request.originator
        is_known = self._known_until.get((originator, request.rreq_id), now) > now
        if not is_known and originator != self.node:  # one's own needs no memory to be known (section 6.3)
            self._take_up(request, sender, now)

    def _take_up(self, request: RouteRequest, sender: NodeId, now: SimTime) -> None:
        """Learn the way back, and answer or pass on a new request (section 6.5)."""
        self.seen.add((request.originator, request.rreq_id), now)
        self._learn_reverse_route(request, sender, now)
        is_destination = request.destination == self.node
        if is_destination and not request.unknown_sequence:
            # Section 6.1: as new as the request's, which tells a node its number again after a reboot (6.13). Section
            # 6.6.1 counts up only if the request's is the next one: a rebooted node's would be accepted by nobody.
            self.table.sequence = newest(self.table.sequence, request.destination_sequence)
        if self.is_silent(now):
            return
        # Section 6.6: the destination itself, then who knows a way; all others pass it on, while its TTL lasts.
        if is_destination:  # section 6.6.1
            self._reply(request, 0, self.table.sequence, self.parameters.my_route_timeout, now)
        elif route := self._usable_route(request, now):
            self._answer_for_destination(request, sender, route, now)
        elif request.ttl > 1:
            self._pass_on(request, now)

    def _learn_reverse_route(self, request: RouteRequest, sender: NodeId, now: SimTime) -> None:
        """Make the route to the originator, for at least as long as an answer can take (section 6.5)."""
        # MinimalLifetime of section 6.5: current time + 2 NET_TRAVERSAL_TIME - 2 HopCount NODE_TRAVERSAL_TIME.
        hop_count = hops_after(request)
        until = now + 2 * (self.parameters.net_traversal_time - hop_count * self.parameters.node_traversal_time)
        existing = self.table.active(request.originator, now)
        until = max(until, existing.lifetime) if existing else until
        offer = Route(request.originator, sender, hop_count, request.originator_sequence, True, until)
        if self.table.update(offer, now):
            self.discovery.learned(request.originator, now)
        else:
            self.table.extend(request.originator, until, now)

    def _usable_route(self, request: RouteRequest, now: SimTime) -> Route | None:
        """Return an active, new enough route, if intermediate nodes may answer (section 6.6)."""
        # An older route may be the very one whose loss the originator has heard of, and would lead back to it.
        route = None if request.destination_only else self.table.active(request.destination, now)
        if route is None or not route.sequence_valid:
            return None
        is_new_enough = request.unknown_sequence or not is_newer(request.destination_sequence, route.sequence)
        return route if is_new_enough else None

    def _answer_for_destination(self, request: RouteRequest, sender: NodeId, route: Route, now: SimTime) -> None:
        """Answer with an active route (6.6.2), and send the destination a gratuitous RREP (6.6.3)."""
        reverse = self.table.active(request.originator, now)
        if reverse is None:  # an answer would find no way back either
            return
        # Whoever gets the answer will send over this node, and must hear if the route is lost (section 6.6.2).
        route.precursors.add(sender)
        reverse.precursors.add(route.next_hop)
        self._reply(request, route.hop_count, route.sequence, route.lifetime - now, now)
        if request.gratuitous:
            asked = request.replaced(destination=request.originator, originator=route.destination)
            self._reply(asked, reverse.hop_count, request.originator_sequence, reverse.lifetime - now, now)

    def _reply(self, request: RouteRequest, hop_count: int, sequence: int, lifetime: SimTime, now: SimTime) -> None:
        """Send the RREP (section 6.6) after a jitter: others may answer the same broadcast."""
        reply = RouteReply(
            hop_count=hop_count,
            ttl=self.parameters.net_diameter,
            destination=request.destination,
            destination_sequence=sequence,
            originator=request.originator,
            lifetime_ms=lifetime // MILLISECOND,
        )
        self._send_reply(reply, now, answers_broadcast=True)

    def _pass_on(self, request: RouteRequest, now: SimTime) -> None:
        """Broadcast with the destination's newest known sequence number (section 6.5)."""
        known = self.table.sequence_of(request.destination)
        if known is None:
            onward = one_hop_on(request)
        else:
            sequence = known if request.unknown_sequence else newest(request.destination_sequence, known)
            onward = one_hop_on(request, destination_sequence=sequence, unknown_sequence=False)
        self.frames.broadcast_later(onward, now)

    # Sections 6.7 and 6.8: route replies, from which each node on their way learns the route

    @on(RouteReply)
    def receive_reply(self, reply: RouteReply, sender: NodeId, now: SimTime) -> None:
        """Take the route if it is better or in use, and then forward the reply.

        Section 6.7 forwards only a reply that changed a route; after hellos of the same content none would get through.
        """
        self._hear_neighbour(sender, now)
        # Acknowledged even if the route is of no use: the flag asks about the link, not about the reply (section 6.8).
        if reply.acknowledge:
            self.frames.unicast(sender, RouteReplyAck(), now)
        reply = one_hop_on(reply)
        until = now + reply.lifetime_ms * MILLISECOND
        offer = Route(reply.destination, sender, reply.hop_count, reply.destination_sequence, True, until)
        if reply.destination == self.node or not self.table.update(offer, now):
            return
        self.discovery.learned(reply.destination, now)
        if reply.originator != self.node and reply.ttl > 0 and not self.is_silent(now):
            self._send_reply(reply, now)

    def _send_reply(self, reply: RouteReply, now: SimTime, *, answers_broadcast: bool = False) -> None:
        """Send towards the originator (section 6.7), after a jitter if others may answer."""
        reverse = self.table.active(reply.originator, now)
        if reverse is None:
            return
        # The A flag is each sender's own, about its own next link; one that is passed on does not keep it.
        if reply.acknowledge != self.parameters.rrep_ack:
            reply = reply.replaced(acknowledge=self.parameters.rrep_ack)
        self.table.use((reverse.destination,), now)
        self.table.add_precursor(reply.destination, reverse.next_hop)
        if answers_broadcast:
            self.frames.unicast_later(reverse.next_hop, reply)
        else:
            self.frames.unicast(reverse.next_hop, reply, now)
        if reply.acknowledge:
            jitter = self.parameters.broadcast_jitter if answers_broadcast else 0
            self.set_timer(AckTimer(reverse.next_hop), jitter + self.parameters.next_hop_wait)

    @on(RouteReplyAck)
    def receive_reply_ack(self, _: RouteReplyAck, sender: NodeId, now: SimTime) -> None:
        """The link to `sender` carries frames both ways."""
        self._hear_neighbour(sender, now)
        self.cancel_timer(AckTimer(sender))

    @on_timer(AckTimer)
    def miss_reply_ack(self, key: AckTimer, now: SimTime) -> None:
        """Blacklist a neighbour without RREP-ACK: its link may be one-way."""
        self.neighbours.blacklist(key.neighbour, now)

    # Section 6.9: hello messages

    @on_timer(HELLO_TIMER)
    def say_hello(self, _: object, now: SimTime) -> None:
        """Send a hello if needed, and set the timer again, early by a jitter.

        It is needed on an active route without broadcasts since the last check. Hellos make no route active, or two
        nodes would keep each other saying hello.
        """
        parameters, used_at = self.parameters, self.table.used_at
        is_on_active_route = used_at is not None and used_at + parameters.active_route_timeout > now
        was_heard = self.frames.has_broadcast(self._checked_at, now)
        is_needed = parameters.sends_hellos_always or (is_on_active_route and not was_heard)
        if is_needed and not self.is_silent(now):
            lifetime_ms = parameters.hello_timeout // MILLISECOND
            self.frames.broadcast(Hello.of(self.node, self.table.sequence, lifetime_ms), now)
        self._checked_at = now
        self.set_timer(HELLO_TIMER, parameters.hello_interval - self.random.randint(0, parameters.hello_jitter))

    @on(Hello)
    def receive_hello(self, hello: Hello, sender: NodeId, now: SimTime) -> None:
        """Make the neighbour's route as new as its hello, for its lifetime."""
        is_new = self.table.hear(sender, now, now + hello.lifetime_ms * MILLISECOND)
        self.table.learn_sequence(sender, hello.destination_sequence)
        if is_new:
            self.discovery.learned(sender, now)
        self.neighbours.hello(sender, now)

    def _hear_neighbour(self, neighbour: NodeId, now: SimTime) -> None:
        """Take a control message as a sign of life and a one-hop route (section 6.2)."""
        heard = self._heard
        if neighbour in heard:
            heard[neighbour] = now
        if self.table.hear(neighbour, now, now + self.parameters.active_route_timeout):
            self.discovery.learned(neighbour, now)

    @on_timer(SWEEP_TIMER)
    def sweep(self, _: object, now: SimTime) -> None:
        """Find lost neighbours (section 6.9), and delete old entries (6.3, 6.5, 6.11)."""
        # Lost neighbours first, because their routes become invalid, and are not expired then.
        for neighbour in self.neighbours.lost(now):
            self.lose_link(neighbour, self.frames.give_up(neighbour), now)
        expired = self.table.sweep(now)
        if self.parameters.reports_expiry:
            self.errors.report(expired, now)
        self.seen.sweep(now)
        for packet in self.discovery.queue.sweep(now):
            self.frames.drop(packet, "no route in time")
        self.set_timer(SWEEP_TIMER, self.parameters.sweep_interval)

    # Section 6.10: the links that the link layer gives up

    def hear_frame(self, sender: NodeId, now: SimTime) -> None:
        """Take any frame as a sign of life."""
        self.neighbours.hear(sender, now)

    def lose_link(self, neighbour: NodeId, undelivered: Iterable[Message], now: SimTime) -> None:
        """Invalidate routes over `neighbour` that are not repaired (section 6.11, case i)."""
        # It is not missed a second time; a hello makes it a neighbour again.
        self.neighbours.forget(neighbour)
        broken = self.table.break_link(neighbour, now)
        for message in undelivered:
            if isinstance(message, DataPacket):
                self.discovery.save(message, now)
            elif isinstance(message, RouteReply):  # section 6.8
                self.neighbours.blacklist(neighbour, now)
        self.errors.report([route for route in broken if route.state is RouteState.INVALID], now)

    # Section 6.11: route errors that arrive (case iii)

    @on(RouteError)
    def receive_error(self, error: RouteError, sender: NodeId, now: SimTime) -> None:
        """Invalidate routes over the sender to unreachable destinations; report to precursors."""
        self._hear_neighbour(sender, now)
        # Section 6.11, case iii: only routes whose next hop is the sender, as it does not speak for any other way.
        routes = [self.table.active(entry.destination, now) for entry in error.unreachable]
        concerned = [route for route in routes if route is not None and route.next_hop == sender]
        if not concerned:  # as for most who hear a RERR
            return
        # With flag N the sender has a longer way now, and its neighbours keep theirs over it (section 6.12).
        if not error.no_delete:
            reported = {entry.destination: entry.sequence for entry in error.unreachable}
            for route in concerned:
                self.table.invalidate(route, now, reported[route.destination])
        if not self.is_silent(now):
            self.errors.report(concerned, now, no_delete=error.no_delete)

    # Sections 6.2 and 6.11, case ii: data, which is delivered here, passed on, or refused

    @on(DataPacket)
    def receive_packet(self, packet: DataPacket, sender: NodeId, now: SimTime) -> None:
        """Deliver or forward data, and extend the route to its originator."""
        self.neighbours.hear(sender, now)
        self.table.use((sender, packet.originator), now)
        super().receive_packet(packet, sender, now)

    def carry(self, packet: DataPacket, now: SimTime) -> None:
        """Send a packet over its route, or search one."""
        self.discovery.carry(packet, now)

    def forward(self, packet: DataPacket, sender: NodeId, now: SimTime) -> None:
        """Forward data over a route that is active or under repair; refuse it otherwise.

        In the wait after a reboot, refuse all and restart the wait (section 6.13): the sender may use an old route.
        """
        destination, is_silent = packet.destination, self.is_silent(now)
        if not is_silent and (self.discovery.is_repairing(destination) or self.table.active(destination, now)):
            self.discovery.carry(packet, now)
            return
        self.frames.drop(packet, "no route")
        self.errors.refuse(destination, sender, now)
        if is_silent:
            self._keep_silent(now)

    # Section 6.13: actions after a reboot

    @on(Started)
    def start(self, _: Started | Recovered, __: SimTime) -> None:
        """Set the timers after a boot or recovery; the first hello comes at a random time."""
        self.set_timer(HELLO_TIMER, self.random.randint(0, self.parameters.hello_interval))
        self.set_timer(SWEEP_TIMER, self.parameters.sweep_interval)

    @on(Crashed)
    def crash(self, event: Crashed, now: SimTime) -> None:
        """Lose everything outside stable storage."""
        self._has_crashed = True
        super().crash(event, now)

    @on(Recovered)
    def recover(self, event: Recovered, now: SimTime) -> None:
        """Go on; after a crash, wait until no node routes over this one."""
        self.start(event, now)
        if self._has_crashed:
            self._keep_silent(now)
        self._has_crashed = False

    @on_timer(REBOOT_TIMER)
    def end_silence(self, _: object, now: SimTime) -> None:
        """Start the searches requested during the wait."""
        self.discovery.silent_until = now
        for destination in self.discovery.queue.destinations():
            self.discovery.search(destination, now)

    def is_silent(self, now: SimTime) -> bool:
        """Whether the node still waits after a reboot."""
        return now < self.discovery.silent_until

    def _keep_silent(self, now: SimTime) -> None:
        """Wait for DELETE_PERIOD, until no node routes over this one."""
        self.discovery.silent_until = now + self.parameters.delete_period
        self.set_timer(REBOOT_TIMER, self.parameters.delete_period)

    def listings(self, names: Names) -> Mapping[str, Listing]:
        """The routing table, with the columns of section 2."""
        return {"table": self.table.listing(names)}
