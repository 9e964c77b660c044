"""Properties of routes: they are free of loops, lead to subscribers, and nobody is kept whom nobody wants."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from roambus.experiments.exploring.properties.property import View
from roambus.experiments.exploring.properties.ways import filters_of, stored_by, ways_of
from roambus.python_protocol.roles import NodeId


def no_loops(view: View) -> str | None:
    """No way to a destination comes back to a node that it has passed."""
    ways = {node: ways_of(view.agents[node], view.now) for node in view.up}
    for destination in sorted({one for known in ways.values() for one in known}):
        for node in ways:
            loop = _loop(node, destination, {one: known.get(destination, ()) for one, known in ways.items()})
            if loop:
                return f"the way to {view.name(destination)} is a loop: {' '.join(map(view.name, loop))}"
    return None


def _loop(start: NodeId, destination: NodeId, hops: dict[NodeId, tuple[NodeId, ...]]) -> list[NodeId]:
    """The way from a node, if it comes back to that node; a broker that sends to itself has its own client in mind."""
    waiting: list[list[NodeId]] = [[start]]
    while waiting:
        way = waiting.pop()
        if way[-1] == destination:
            continue
        for hop in hops.get(way[-1], ()):
            if hop == start and len(way) > 1:
                return [*way, hop]
            if hop not in way:
                waiting.append([*way, hop])
    return []


def tables_lead_to_subscribers(view: View) -> str | None:
    """Every broker that reaches a subscriber's broker has a way that ends at the subscriber."""
    for broker, subscriber in _pairs(view):
        way = [broker]
        while way[-1] != subscriber and len(way) <= view.world.nodes:
            hops = ways_of(view.agents[way[-1]], view.now).get(subscriber, ())
            if not hops or (hops[0] == way[-1] and hops[0] != subscriber):
                break
            way.append(hops[0])
        if way[-1] != subscriber or not _stands(way, view):
            told = " ".join(map(view.name, way))
            return f"the way of {view.name(broker)} to {view.name(subscriber)} is {told}, and does not lead there"
    return None


def _stands(way: list[NodeId], view: View) -> bool:
    return all((min(pair), max(pair)) in view.world.edges for pair in pairwise(way))


def nothing_stuck(view: View) -> str | None:
    """No broker keeps something for a subscriber that it can reach."""
    for broker, subscriber in _pairs(view):
        if subscriber in stored_by(view.agents[broker]):
            return f"{view.name(broker)} keeps something for {view.name(subscriber)}, which it can reach"
    return None


def no_phantoms(view: View) -> str | None:
    """No broker has filters for a subscriber within its reach other than those that it has."""
    for broker in _brokers(view):
        for subscriber in sorted(view.world.part(broker)):
            filters = filters_of(view.agents[broker], subscriber)
            if filters is None:
                continue
            wanted = set(view.world.wanted[subscriber])
            if filters - wanted:
                return f"{view.name(broker)} has a subscription of {view.name(subscriber)} that it has not"
            if wanted - filters:
                return f"{view.name(broker)} lacks a subscription of {view.name(subscriber)}"
    return None


def _brokers(view: View) -> list[NodeId]:
    return [node for node in view.up if getattr(view.agents[node], "broker", None) is not None]


def _pairs(view: View) -> Iterator[tuple[NodeId, NodeId]]:
    """Each broker with each subscriber that it can reach."""
    for broker in _brokers(view):
        for subscriber in sorted(view.world.part(broker)):
            if view.world.wanted[subscriber]:
                yield broker, subscriber
