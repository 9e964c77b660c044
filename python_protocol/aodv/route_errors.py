"""Route errors that a node sends (RFC 3561, section 6.11): who must hear that destinations are out of reach."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from roambus.python_protocol.aodv.messages import MAX_UNREACHABLE, RouteError, Unreachable
from roambus.python_protocol.aodv.rate_limit import RateLimit
from roambus.python_protocol.aodv.routing_table import Route
from roambus.python_protocol.aodv.transmission import Transmission
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime


class RouteErrors(Transmission):
    """Sends RERRs, at most RERR_RATELIMIT of them in a second."""

    def forget(self) -> None:
        """Starts with no RERR sent."""
        super().forget()
        self._rerr_limit = RateLimit(self.parameters.rerr_ratelimit)

    def report(self, lost: Iterable[Route], now: SimTime, *, no_delete: bool = False) -> None:
        """Tells the precursors of routes that were lost; without any, nobody needs to know.

        Those who were told are no precursors any more, except after a repair (`no_delete`), when their routes stay.
        """
        concerned = [route for route in lost if route.precursors]
        if not concerned:
            return
        precursors = {precursor for route in concerned for precursor in route.precursors}
        unreachable = [Unreachable(route.destination, route.sequence) for route in concerned]
        self._send_errors(precursors, unreachable, now, no_delete=no_delete)
        if not no_delete:
            for route in concerned:
                route.precursors.clear()

    def refuse(self, destination: NodeId, sender: NodeId, now: SimTime) -> None:
        """Tells `sender` that there is no route over which its data for `destination` could go on (case ii)."""
        route = self.table.get(destination)
        told = {sender}
        sequence = 0
        if route is not None:
            self.table.invalidate(route, now)
            sequence = route.sequence
            told |= route.precursors
            route.precursors.clear()
        self._send_errors(told, [Unreachable(destination, sequence)], now)

    def _send_errors(
        self, neighbours: set[NodeId], unreachable: Sequence[Unreachable], now: SimTime, *, no_delete: bool = False
    ) -> None:
        for start in range(0, len(unreachable), MAX_UNREACHABLE):
            if not self._rerr_limit.allows(now):
                return
            error = RouteError(tuple(unreachable[start : start + MAX_UNREACHABLE]), no_delete=no_delete)
            if len(neighbours) == 1:
                self.unicast(min(neighbours), error, now)
            else:
                self.broadcast_later(error, now)
