"""Local connectivity (RFC 3561, sections 6.9 to 6.12): hello messages, lost neighbours, broken links."""

from __future__ import annotations

from collections.abc import Iterable

from roambus.python_protocol.aodv.discovery import Discovery
from roambus.python_protocol.aodv.messages import DataPacket, Hello, RouteReply
from roambus.python_protocol.aodv.packets import Packets
from roambus.python_protocol.aodv.route_errors import RouteErrors
from roambus.python_protocol.aodv.routing_table import RouteState
from roambus.python_protocol.aodv.state import State
from roambus.python_protocol.messages.codec import Message
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import MILLISECOND, SimTime

HELLO_TIMER = "hello"


class Maintenance:
    """Notices which neighbours there are, and does what has to be done when one is lost."""

    def __init__(self, state: State, packets: Packets, discovery: Discovery, errors: RouteErrors) -> None:
        self._state = state
        self._packets = packets
        self._discovery = discovery
        self._errors = errors
        self._heard, self._hear_route = state.neighbours.heard, state.table.hear
        self._active_route_timeout = state.parameters.active_route_timeout
        self._checked_at: SimTime = 0
        """When the hello timer last ran out."""

    def start(self) -> None:
        """The first hello comes at a random time within one interval."""
        interval = self._state.parameters.hello_interval
        self._state.out.set_timer(HELLO_TIMER, self._state.random.randint(0, interval))

    def say_hello(self, now: SimTime) -> None:
        """The hello timer has run out: sends one if it is needed, and sets the timer again.

        Section 6.9: it is if the node is part of an active route and has broadcast nothing else since it last checked.
        """
        state, parameters = self._state, self._state.parameters
        was_heard = state.out.has_broadcast(self._checked_at, now)
        is_needed = parameters.sends_hellos_always or (self._is_on_active_route(now) and not was_heard)
        if is_needed and not state.is_silent(now):
            lifetime_ms = parameters.hello_timeout // MILLISECOND
            state.out.broadcast(Hello(state.node, state.sequence, lifetime_ms), now)
        self._checked_at = now
        early = state.random.randint(0, parameters.hello_jitter)
        state.out.set_timer(HELLO_TIMER, parameters.hello_interval - early)

    def hear(self, sender: NodeId, now: SimTime) -> None:
        """A control message came from a neighbour: it is alive, and there is a route to it (section 6.2)."""
        heard = self._heard
        if sender in heard:
            heard[sender] = now
        if self._hear_route(sender, now, now + self._active_route_timeout):
            self._discovery.learned(sender, now)

    def receive_hello(self, sender: NodeId, hello: Hello, now: SimTime) -> None:
        """Section 6.9: the route to the neighbour is as new as its hello, and lives as long as that says."""
        state = self._state
        is_new = state.table.hear(sender, now, now + hello.lifetime_ms * MILLISECOND)
        state.table.learn_sequence(sender, hello.destination_sequence)
        if is_new:
            self._discovery.learned(sender, now)
        state.neighbours.hello(sender, now)

    def check_neighbours(self, now: SimTime) -> None:
        """Whoever was silent for too long is lost (section 6.9); called now and then."""
        for neighbour in self._state.neighbours.lost(now):
            self.link_broken(neighbour, self._state.out.give_up(neighbour), now)

    def link_broken(self, neighbour: NodeId, undelivered: Iterable[Message], now: SimTime) -> None:
        """Section 6.11, case i: the routes over `neighbour` are lost, unless they are repaired."""
        self._state.neighbours.forget(neighbour)
        broken = self._state.table.break_link(neighbour, now)
        for message in undelivered:
            if isinstance(message, DataPacket):
                self._save(message, now)
            elif isinstance(message, RouteReply):
                self._state.neighbours.blacklist(neighbour, now)
        self._errors.report([route for route in broken if route.state is RouteState.INVALID], now)

    def _is_on_active_route(self, now: SimTime) -> bool:
        """Section 6.9: whether the node took part in data or replies within ACTIVE_ROUTE_TIMEOUT.

        Routes made from hellos alone do not count: two nodes would keep each other saying hello for ever.
        """
        used_at = self._state.used_at
        return used_at is not None and used_at + self._state.parameters.active_route_timeout > now

    def _save(self, packet: DataPacket, now: SimTime) -> None:
        """The originator still has a packet that its link did not take; on the way it needs a local repair."""
        if packet.originator == self._state.node or self._can_repair(packet, now):
            self._discovery.carry(packet, now)
        else:
            self._state.out.drop(packet, "link broken")

    def _can_repair(self, packet: DataPacket, now: SimTime) -> bool:
        """Section 6.12: the destination was near enough, and a search is begun here, or was before."""
        parameters = self._state.parameters
        route = self._state.table.get(packet.destination)
        if not parameters.local_repair or route is None:
            return False
        if self._discovery.is_repairing(packet.destination):
            return True
        if route.hop_count > parameters.max_repair_ttl:
            return False
        if route.state is RouteState.INVALID and not self._discovery.is_searching(packet.destination):
            self._discovery.repair(route, packet.hop_count, now)
        return True
