"""Where the agents of each family send what is for whom: what properties of routing ask.

A table is whatever the agent routes by: that of a broker, or the routing table of AODV. An agent of one's own takes
part if it has a method `ways(now)` that returns {destination: (next hop, ...)}; a node's own number as a hop means that
the destination is here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from roambus.python_protocol.aodv.routing_table import RoutingTable as AodvTable
from roambus.python_protocol.brokers.routing import RoutingTable as FamilyTable
from roambus.python_protocol.mft.routing import RoutingTable as MftTable
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime

Ways = Mapping[NodeId, tuple[NodeId, ...]]
"""The next hops to each destination that is known."""


def ways_of(agent: Any, now: SimTime) -> Ways:
    """The next hops of an agent now; empty for one that has no table by destinations."""
    own = getattr(agent, "ways", None)
    if own is not None:
        found: Ways = own(now)
        return found
    table = _table(agent)
    return next((read(table, now) for kind, read in _READ.items() if isinstance(table, kind)), {})


def _table(agent: Any) -> Any:
    broker = getattr(agent, "broker", None)
    return getattr(agent if broker is None else broker, "table", None)


def _of_aodv(table: AodvTable, now: SimTime) -> Ways:
    routes = ((route.destination, route) for route in table)
    return {one: (route.next_hop,) for one, route in routes if route.state.value == "valid" and route.lifetime > now}


def _of_mft(table: MftTable, _: SimTime) -> Ways:
    return {s: () if route.next_hop is None else (route.next_hop,) for s, route in table if route.filters}


def _of_family(table: FamilyTable, _: SimTime) -> Ways:
    return {subscriber: tuple(table.interfaces(subscriber)) for subscriber in table.subscribers()}


_READ: dict[type[Any], Callable[[Any, SimTime], Ways]] = {
    AodvTable: _of_aodv,
    MftTable: _of_mft,
    FamilyTable: _of_family,
}


def filters_of(agent: Any, subscriber: NodeId) -> set[Any] | None:
    """The filters that a broker has for a subscriber; None for an agent that has no such table."""
    broker = getattr(agent, "broker", None)
    filters = getattr(getattr(broker, "table", None), "filters", None)
    return None if filters is None else set(filters(subscriber))


def stored_by(agent: Any) -> set[NodeId]:
    """The subscribers for whom a broker stores something."""
    storage = getattr(getattr(agent, "broker", None), "storage", None)
    return set() if storage is None else set(storage.subscribers())
