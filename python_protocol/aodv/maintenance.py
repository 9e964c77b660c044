"""Route maintenance (RFC 3561, sections 6.8, 6.9 and 6.11): neighbours, and the reports of lost routes.

A neighbour that has said hello is lost after ALLOWED_HELLO_LOSS intervals of silence, checked at fixed times: every
frame would reset a timer. A neighbour that left a RREP unacknowledged is blacklisted: answers do not reach it.

A RERR reports a lost route to its precursors, the neighbours that may send over it; each that sent over the reporter
reports to its own. Without precursors nothing is sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from roambus.python_protocol.aodv.messages import MAX_UNREACHABLE, RateLimit, RouteError, Transmission, Unreachable
from roambus.python_protocol.aodv.routing_table import Route, RoutingTable
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime


@dataclass(frozen=True, slots=True)
class AckTimer:
    """The timer key of a neighbour's RREP-ACK (section 6.8)."""

    neighbour: NodeId


class Neighbours:
    """Watches a neighbour for `watch_period` ns after its hello; `hello_timeout` ns of silence lose it."""

    def __init__(self, hello_timeout: SimTime, watch_period: SimTime, blacklist_timeout: SimTime) -> None:
        self._hello_timeout = hello_timeout
        self._watch_period = watch_period
        self._blacklist_timeout = blacklist_timeout
        self._said_hello: dict[NodeId, SimTime] = {}
        self.heard: dict[NodeId, SimTime] = {}
        """When watched neighbours were last heard."""
        self.blacklisted: dict[NodeId, SimTime] = {}
        """The time until which a neighbour's RREQs are ignored; it may be over."""

    def hello(self, neighbour: NodeId, now: SimTime) -> None:
        """Watch the neighbour from its hello on."""
        self.heard[neighbour] = self._said_hello[neighbour] = now

    def hear(self, neighbour: NodeId, now: SimTime) -> None:
        """Take a frame as a watched neighbour's sign of life."""
        if neighbour in self.heard:
            self.heard[neighbour] = now

    def forget(self, neighbour: NodeId) -> None:
        """Stop watching a lost neighbour until its next hello."""
        self.heard.pop(neighbour, None)

    def lost(self, now: SimTime) -> list[NodeId]:
        """Remove and return the silent neighbours, ordered by id."""
        silent = sorted(node for node, heard in self.heard.items() if heard + self._hello_timeout <= now)
        for neighbour in silent:
            del self.heard[neighbour]
        # Section 6.9: only who said hello "within the past DELETE_PERIOD" is missed; others may have nothing to send.
        return [neighbour for neighbour in silent if self._said_hello[neighbour] + self._watch_period > now]

    def blacklist(self, neighbour: NodeId, now: SimTime) -> None:
        """Ignore RREQs of a neighbour that a RREP did not reach (section 6.8)."""
        self.blacklisted[neighbour] = now + self._blacklist_timeout


class RouteErrors:
    """The RERRs of one node (section 6.11), at most `per_second` a second (RERR_RATELIMIT)."""

    def __init__(self, table: RoutingTable, frames: Transmission, per_second: int) -> None:
        self._table, self._frames = table, frames
        self._limit = RateLimit(per_second)

    def report(self, lost: Iterable[Route], now: SimTime, *, no_delete: bool = False) -> None:
        """Report lost routes to their precursors, and drop these unless `no_delete` keeps the routes.

        The RFC leaves their end open: these no longer route over this node.
        """
        concerned = [route for route in lost if route.precursors]
        if not concerned:
            return
        self._send(
            {precursor for route in concerned for precursor in route.precursors},
            [Unreachable(route.destination, route.sequence) for route in concerned],
            now,
            no_delete=no_delete,
        )
        if not no_delete:
            for route in concerned:
                route.precursors.clear()

    def refuse(self, destination: NodeId, sender: NodeId, now: SimTime) -> None:
        """Report to `sender`, precursor or not, that its data for `destination` have no route (case ii)."""
        route = self._table.get(destination)
        neighbours = {sender}
        sequence = 0
        if route is not None:
            self._table.invalidate(route, now)
            sequence = route.sequence
            neighbours |= route.precursors
            route.precursors.clear()
        self._send(neighbours, [Unreachable(destination, sequence)], now)

    def _send(
        self, neighbours: set[NodeId], unreachable: Sequence[Unreachable], now: SimTime, *, no_delete: bool = False
    ) -> None:
        """Unicast to one neighbour; broadcast to several after a jitter, because others may send too."""
        for start in range(0, len(unreachable), MAX_UNREACHABLE):
            if not self._limit.allows(now):
                return
            error = RouteError(tuple(unreachable[start : start + MAX_UNREACHABLE]), no_delete=no_delete)
            if len(neighbours) == 1:
                self._frames.unicast(min(neighbours), error, now)
            else:
                self._frames.broadcast_later(error, now)
