"""Route maintenance (RFC 3561, sections 6.8 to 6.12): hello messages, lost neighbours, broken links, old entries.

A link breaks when the link layer gives up, when an ideal link is not there, or when a neighbour that said hello has
been silent for too long. All routes over it are lost then, unless they are repaired from here.
"""

from __future__ import annotations

from collections.abc import Iterable

from roambus.python_protocol.aodv.discovery import Discovery
from roambus.python_protocol.aodv.messages import DataPacket, Hello, RouteError, RouteReply
from roambus.python_protocol.aodv.routing_table import RouteState
from roambus.python_protocol.events import NO_LINK, SendFailed
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.parts.streams import LinkTimer
from roambus.python_protocol.process import on, on_timer
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import MILLISECOND, SimTime

HELLO_TIMER = "hello"
SWEEP_TIMER = "sweep"


class Maintenance(Discovery):
    """Notices which neighbours there are, and does what has to be done when one is lost."""

    def forget(self) -> None:
        """Starts as if the hello timer had run out at the beginning."""
        super().forget()
        self._checked_at: SimTime = 0
        """When the hello timer last ran out."""

    @on(Hello)  # section 6.9
    def receive_hello(self, hello: Hello, sender: NodeId, now: SimTime) -> None:
        """Makes the route to the neighbour as new as its hello, for as long as that says."""
        is_new = self.table.hear(sender, now, now + hello.lifetime_ms * MILLISECOND)
        self.table.learn_sequence(sender, hello.destination_sequence)
        if is_new:
            self.learned(sender, now)
        self.neighbours.hello(sender, now)

    @on_timer(HELLO_TIMER)  # section 6.9
    def say_hello(self, _: object, now: SimTime) -> None:
        """Sends a hello if it is needed, and sets the timer again.

        A node needs it if it is part of an active route and has broadcast nothing else since it last checked.
        """
        parameters = self.parameters
        was_heard = self.has_broadcast(self._checked_at, now)
        is_needed = parameters.sends_hellos_always or (self._is_on_active_route(now) and not was_heard)
        if is_needed and not self.is_silent(now):
            self.broadcast(Hello.of(self.node, self.sequence, parameters.hello_timeout // MILLISECOND), now)
        self._checked_at = now
        early = self.random.randint(0, parameters.hello_jitter)
        self.set_timer(HELLO_TIMER, parameters.hello_interval - early)

    @on_timer(LinkTimer)  # section 6.10: link layer notification
    def retry_link(self, key: LinkTimer, now: SimTime) -> None:
        """Retransmits over a link, or learns that the link is broken."""
        for broken in self.retransmit(key):
            self.link_broken(broken.neighbour, broken.messages, now)

    @on(SendFailed)  # section 6.10
    def send_failed(self, event: SendFailed, now: SimTime) -> None:
        """Learns of a bare frame that was not sent, for want of a link or of room in the MAC.

        The link layer retransmits such a frame, and notices a break if that does not help either.
        """
        if self.parameters.link_layer:
            return
        if event.reason == NO_LINK:
            self.link_broken(event.destination, [event.message], now)
        elif isinstance(event.message, DataPacket):
            self.drop(event.message, event.reason)

    @on(RouteError)  # section 6.11, case iii
    def receive_error(self, error: RouteError, sender: NodeId, now: SimTime) -> None:
        """Loses the routes over the sender to what it cannot reach, and tells their precursors."""
        self.hear_neighbour(sender, now)
        routes = [self.table.active(entry.destination, now) for entry in error.unreachable]
        concerned = [route for route in routes if route is not None and route.next_hop == sender]
        if not concerned:
            return
        if not error.no_delete:
            reported = {entry.destination: entry.sequence for entry in error.unreachable}
            for route in concerned:
                self.table.invalidate(route, now, reported[route.destination])
        if not self.is_silent(now):
            self.report(concerned, now, no_delete=error.no_delete)

    @on_timer(SWEEP_TIMER)  # sections 6.9 and 6.11
    def sweep(self, _: object, now: SimTime) -> None:
        """Looks for lost neighbours, and deletes what is too old."""
        for neighbour in self.neighbours.lost(now):
            self.link_broken(neighbour, self.give_up(neighbour), now)
        expired = self.table.sweep(now)
        if self.parameters.reports_expiry:
            self.report(expired, now)
        self.seen.sweep(now)
        for packet in self.queue.sweep(now):
            self.drop(packet, "no route in time")
        self.set_timer(SWEEP_TIMER, self.parameters.sweep_interval)

    def begin(self) -> None:
        """Sets the timers of a node that has booted, or thaws; its first hello comes at a random time."""
        self.set_timer(HELLO_TIMER, self.random.randint(0, self.parameters.hello_interval))
        self.set_timer(SWEEP_TIMER, self.parameters.sweep_interval)

    def link_broken(self, neighbour: NodeId, undelivered: Iterable[Message], now: SimTime) -> None:
        """Loses the routes over `neighbour`, unless they are repaired (section 6.11, case i)."""
        self.neighbours.forget(neighbour)
        broken = self.table.break_link(neighbour, now)
        for message in undelivered:
            if isinstance(message, DataPacket):
                self._save(message, now)
            elif isinstance(message, RouteReply):  # section 6.8
                self.neighbours.blacklist(neighbour, now)
        self.report([route for route in broken if route.state is RouteState.INVALID], now)

    def _is_on_active_route(self, now: SimTime) -> bool:
        """Whether the node took part in data or replies within ACTIVE_ROUTE_TIMEOUT (section 6.9).

        Routes made from hellos alone do not count, because two nodes would keep each other saying hello for ever.
        """
        return self.used_at is not None and self.used_at + self.parameters.active_route_timeout > now

    def _save(self, packet: DataPacket, now: SimTime) -> None:
        """Carries on with a packet that a link did not take, at its originator; elsewhere it needs a local repair."""
        if packet.originator == self.node or self._can_repair(packet, now):
            self.carry(packet, now)
        else:
            self.drop(packet, "link broken")

    def _can_repair(self, packet: DataPacket, now: SimTime) -> bool:
        """Whether the destination was near enough for a search that is begun here, or was before (section 6.12)."""
        route = self.table.get(packet.destination)
        if not self.parameters.local_repair or route is None:
            return False
        if self.is_repairing(packet.destination):
            return True
        if route.hop_count > self.parameters.max_repair_ttl:
            return False
        if route.state is RouteState.INVALID and not self.is_searching(packet.destination):
            self.repair(route, packet.hop_count, now)
        return True
