"""Route maintenance (RFC 3561, sections 6.8, 6.9 and 6.11): which neighbours there are, and who hears of lost routes.

*Neighbours.* Who has said hello is expected to be heard again, and is lost after ALLOWED_HELLO_LOSS intervals of
silence. The node looks for lost neighbours at fixed times, and not by a timer for each of them, which every frame heard
would have to set again. A neighbour that has left a RREP unacknowledged is on the blacklist for a while: its RREQs are
ignored, because answers to them do not reach it.

*Route errors.* A route has precursors, the neighbours that may send over it. When it is lost, they are told by a RERR,
and each of them that sent over the teller tells its own precursors. Without any precursor nobody needs to know, and
nothing is sent. What is a loss, and which routes it concerns, is for the agent to say.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from roambus.python_protocol.aodv.messages import MAX_UNREACHABLE, RouteError, Unreachable
from roambus.python_protocol.aodv.routing_table import Route, RoutingTable
from roambus.python_protocol.aodv.transmission import RateLimit, Transmission
from roambus.python_protocol.vocabulary import NodeId, SimTime


@dataclass(frozen=True, slots=True)
class AckTimer:
    """The key of the timer of the RREP-ACK that is expected from a neighbour (section 6.8)."""

    neighbour: NodeId


class Neighbours:
    """A neighbour is watched for `watch_period` ns after its hello, and lost after `hello_timeout` ns of silence."""

    def __init__(self, hello_timeout: SimTime, watch_period: SimTime, blacklist_timeout: SimTime) -> None:
        self._hello_timeout = hello_timeout
        self._watch_period = watch_period
        self._blacklist_timeout = blacklist_timeout
        self._said_hello: dict[NodeId, SimTime] = {}
        self.heard: dict[NodeId, SimTime] = {}
        """When those that are watched were last heard."""
        self.blacklisted: dict[NodeId, SimTime] = {}
        """Until when RREQs from a neighbour are to be ignored; for some that may be over."""

    def hello(self, neighbour: NodeId, now: SimTime) -> None:
        """A hello came: from now on the neighbour is watched."""
        self.heard[neighbour] = self._said_hello[neighbour] = now

    def hear(self, neighbour: NodeId, now: SimTime) -> None:
        """Any other frame came: it counts as a sign of life of a neighbour that is watched."""
        if neighbour in self.heard:
            self.heard[neighbour] = now

    def forget(self, neighbour: NodeId) -> None:
        """The neighbour is lost: it is watched again after its next hello."""
        self.heard.pop(neighbour, None)

    def lost(self, now: SimTime) -> list[NodeId]:
        """Takes out the neighbours that have been silent for too long, in the order of their ids."""
        silent = sorted(node for node, heard in self.heard.items() if heard + self._hello_timeout <= now)
        for neighbour in silent:
            del self.heard[neighbour]
        # Section 6.9: only who said hello "within the past DELETE_PERIOD" is missed; others may have nothing to send.
        return [neighbour for neighbour in silent if self._said_hello[neighbour] + self._watch_period > now]

    def blacklist(self, neighbour: NodeId, now: SimTime) -> None:
        """A RREP did not reach the neighbour: its RREQs are ignored for a while (section 6.8)."""
        self.blacklisted[neighbour] = now + self._blacklist_timeout


class RouteErrors:
    """The RERRs of one node (section 6.11), at most `per_second` of them in a second (RERR_RATELIMIT)."""

    def __init__(self, table: RoutingTable, frames: Transmission, per_second: int) -> None:
        self._table, self._frames = table, frames
        self._limit = RateLimit(per_second)

    def report(self, lost: Iterable[Route], now: SimTime, *, no_delete: bool = False) -> None:
        """Tells the precursors of routes that were lost.

        Those who were told are no precursors any more: they route over this node no longer, and the next loss is none
        of theirs. The RFC does not say when precursors leave the list. After a repair (`no_delete`) their routes stay,
        and so do they.
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
        """Tells `sender` that there is no route over which its data for `destination` could go on (case ii).

        It need not be a precursor: it may route over this node along a route that this node has forgotten.
        """
        route = self._table.get(destination)
        told = {sender}
        sequence = 0
        if route is not None:
            self._table.invalidate(route, now)
            sequence = route.sequence
            told |= route.precursors
            route.precursors.clear()
        self._send(told, [Unreachable(destination, sequence)], now)

    def _send(
        self, neighbours: set[NodeId], unreachable: Sequence[Unreachable], now: SimTime, *, no_delete: bool = False
    ) -> None:
        """One neighbour is told by unicast; several by a broadcast, with a jitter: others may send one, too."""
        for start in range(0, len(unreachable), MAX_UNREACHABLE):
            if not self._limit.allows(now):
                return
            error = RouteError(tuple(unreachable[start : start + MAX_UNREACHABLE]), no_delete=no_delete)
            if len(neighbours) == 1:
                self._frames.unicast(min(neighbours), error, now)
            else:
                self._frames.broadcast_later(error, now)
