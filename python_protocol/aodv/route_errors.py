"""Route errors (RFC 3561, section 6.11): who must hear that destinations are out of reach."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from roambus.python_protocol.aodv.messages import MAX_UNREACHABLE, RouteError, Unreachable
from roambus.python_protocol.aodv.rate_limit import RateLimit
from roambus.python_protocol.aodv.routing_table import Route
from roambus.python_protocol.aodv.state import State
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime


class RouteErrors:
    """Sends and receives RERRs."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._limit = RateLimit(state.parameters.rerr_ratelimit)

    def report(self, lost: Iterable[Route], now: SimTime, *, no_delete: bool = False) -> None:
        """Tells the precursors of routes that were lost; without any, nobody needs to know.

        Who was told is no precursor any more, except after a repair (`no_delete`): its route stays.
        """
        concerned = [route for route in lost if route.precursors]
        if not concerned:
            return
        precursors = {precursor for route in concerned for precursor in route.precursors}
        unreachable = [Unreachable(route.destination, route.sequence) for route in concerned]
        self._send(precursors, unreachable, now, no_delete=no_delete)
        if not no_delete:
            for route in concerned:
                route.precursors.clear()

    def refuse(self, destination: NodeId, sender: NodeId, now: SimTime) -> None:
        """Case ii: data for `destination` came from `sender`, but there is no route over which it could go on."""
        route = self._state.table.get(destination)
        told = {sender}
        sequence = 0
        if route is not None:
            self._state.table.invalidate(route, now)
            sequence = route.sequence
            told |= route.precursors
            route.precursors.clear()
        self._send(told, [Unreachable(destination, sequence)], now)

    def receive(self, sender: NodeId, error: RouteError, now: SimTime) -> None:
        """Case iii: our routes over the sender to what it cannot reach are lost, too."""
        routes = [self._state.table.active(entry.destination, now) for entry in error.unreachable]
        concerned = [route for route in routes if route is not None and route.next_hop == sender]
        if not concerned:
            return
        if not error.no_delete:
            reported = {entry.destination: entry.sequence for entry in error.unreachable}
            for route in concerned:
                self._state.table.invalidate(route, now, reported[route.destination])
        if not self._state.is_silent(now):
            self.report(concerned, now, no_delete=error.no_delete)

    def _send(
        self, neighbours: set[NodeId], unreachable: Sequence[Unreachable], now: SimTime, *, no_delete: bool = False
    ) -> None:
        for start in range(0, len(unreachable), MAX_UNREACHABLE):
            if not self._limit.allows(now):
                return
            error = RouteError(tuple(unreachable[start : start + MAX_UNREACHABLE]), no_delete)
            if len(neighbours) == 1:
                self._state.out.unicast(min(neighbours), error, now)
            else:
                self._state.out.broadcast_later(error, now)
