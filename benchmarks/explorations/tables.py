"""What must hold of tables, for the questions in this folder: properties that know what an agent keeps.

They judge what applications would notice only late, or on a larger network than can be explored.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from roambus.extensions.exploring.properties import View, at_any_time, once_quiet
from roambus.python_protocol.aodv.routing_table import Route, RouteState, RoutingTable
from roambus.python_protocol.filters import Filter
from roambus.python_protocol.parts.link import is_newer
from roambus.python_protocol.roles import NodeId


@once_quiet
def every_entry_serves_somebody(view: View) -> str | None:
    """In a tree brokers have (f, z) if, and only if, a node at or behind z wants f: Simple Routing and caching."""
    for broker in view.up:
        table = getattr(getattr(view.agents[broker], "broker", None), "table", None)
        if table is None:
            continue
        has = {(entry[0], entry[1]) for entry in table}
        needs = set(_needed(view, broker))
        name = view.name(broker)
        for wanted, interface in sorted(has - needs, key=str):
            return f"{name} has an entry for {wanted} to {view.name(interface)}, where nobody wants it"
        for wanted, interface in sorted(needs - has, key=str):
            return f"{name} has no entry for {wanted} to {view.name(interface)}, where somebody wants it"
    return None


def _needed(view: View, broker: NodeId) -> Iterator[tuple[Filter, NodeId]]:
    """What is wanted on the broker's own node, and at or behind each of its neighbours."""
    yield from ((wanted, broker) for wanted in view.world.wanted[broker])
    for neighbour in view.world.neighbours(broker):
        behind, waiting = {broker, neighbour}, [neighbour]
        while waiting:
            new = set(view.world.neighbours(waiting.pop())) - behind
            behind |= new
            waiting += new
        yield from ((wanted, neighbour) for node in behind - {broker} for wanted in view.world.wanted[node])


@once_quiet
def what_there_is_room_for_arrives(view: View) -> str | None:
    """Caching: the newest notifications that a cache has room for come to those who were away, and to those who ask.

    What is kept for who was away leaves a cache last, so if there is any, nothing else has room for sure.
    """
    wanted = [entry for entry in view.published() if entry.wanted_by]
    cached = [entry for entry in wanted if entry.wanted_by - entry.due] or wanted
    for node in view.up:
        parameters: Any = view.agents[node].parameters
        for entry in cached[-parameters.cache_size :]:
            is_owed = node in entry.wanted_by or (parameters.request_old and view.world.wants(node, entry.notification))
            if is_owed and entry.notification.id not in view.world.delivered[node]:
                return f"{view.called(entry.notification.id)} is cached, and was not delivered to {view.name(node)}"
    return None


@at_any_time
def routes_get_better_on_the_way(view: View) -> str | None:
    """Along next hops (sequence number, hops) gets better: what keeps AODV free of loops (RFC 3561, section 6)."""
    for node, destination in product(view.up, view.up):
        route = _route(view.agents[node], destination)
        if route is None or route.state is not RouteState.VALID or route.lifetime <= view.now:
            continue
        if route.next_hop == destination or not route.sequence_valid or route.next_hop in view.world.down:
            continue
        after = _route(view.agents[route.next_hop], destination)
        if after is not None and after.sequence_valid and _is_worse(after, route):
            way = f"{view.name(node)} to {view.name(destination)}"
            return (
                f"the next hop from {way} has number {after.sequence} and {after.hop_count} hops, and not better ones"
            )
    return None


def _is_worse(after: Route, route: Route) -> bool:
    """Whether a next hop's route is older, or as old and not shorter; a lost one has a number of its own."""
    if after.sequence != route.sequence:
        return is_newer(route.sequence, after.sequence)
    return after.state is RouteState.VALID and after.hop_count >= route.hop_count


def _route(agent: Any, destination: NodeId) -> Route | None:
    table = getattr(agent, "table", None)
    return table.get(destination) if isinstance(table, RoutingTable) else None
