"""AODV as published in RFC 3561, section 6.11: a lost route is remembered for DELETE_PERIOD, and no longer."""

from __future__ import annotations

from roambus.python_protocol.aodv import Aodv
from roambus.python_protocol.aodv.routing_table import RoutingTable
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime


class PublishedTable(RoutingTable):
    """A routing table in which data that passes prolongs active routes only (section 6.2)."""

    def extend(self, destination: NodeId, until: SimTime, now: SimTime) -> None:
        """Leaves a lost route as it is, also while the data keeps routes of others alive that lead over this node."""
        route = self.active(destination, now)
        if route is not None:
            route.lifetime = max(route.lifetime, until)


class PublishedAodv(Aodv):
    """AODV with that table."""

    table_type = PublishedTable
