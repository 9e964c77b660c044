"""Tells which links the page draws: by distance, or those of a given graph. No trace says which frames could arrive."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import groupby

from roambus.bridge.backends.ideal.topology import Graph, given_graph
from roambus.bridge.backends.ideal.unit_disk import reach_m
from roambus.bridge.scenario.happenings import LinkChange
from roambus.bridge.scenario.scenario import Scenario
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime


class LinkKind(Enum):
    """How to tell who is linked."""

    UNKNOWN = "unknown"
    DISTANCE = "distance"
    GRAPH = "graph"


@dataclass(frozen=True, slots=True)
class DrawnLinks:
    """How links are drawn: by distance up to `reach_m[node]`, or by the changes of a graph in the order of time.

    Partitions hold for both: `partitions` has the group of each node from a time on.
    """

    kind: LinkKind
    reach_m: tuple[float, ...] = ()
    changes: tuple[LinkChange, ...] = ()
    partitions: tuple[tuple[SimTime, tuple[int, ...]], ...] = ()


def drawn_links(scenario: Scenario | None, *, over_radio: bool) -> DrawnLinks:
    """The links that the scenario says; over a radio only distance counts."""
    if scenario is None:
        return DrawnLinks(LinkKind.UNKNOWN)
    graph = None if over_radio else given_graph(scenario)
    partitions = () if over_radio else tuple(_partitions(scenario))
    if graph is not None:
        return DrawnLinks(LinkKind.GRAPH, changes=tuple(_changes(graph)), partitions=partitions)
    reaches = tuple(reach_m(scenario, node) for node in scenario.nodes)
    return DrawnLinks(LinkKind.DISTANCE, reaches, partitions=partitions)


def _changes(graph: Graph) -> list[LinkChange]:
    """The changes of the graph, those of the start included."""
    start = [LinkChange(0, a, b, up=True) for a, b in graph.links]
    return [*start, *sorted(graph.changes, key=lambda change: change.at)]


def _partitions(scenario: Scenario) -> Iterator[tuple[SimTime, tuple[int, ...]]]:
    """The partitions over time; of those that come at one instant, the last one counts."""
    if scenario.tree:
        return
    ordered = sorted(scenario.ideal.partitions, key=lambda one: one.at)
    for at, together in groupby(ordered, key=lambda one: one.at):
        group_of: dict[NodeId, int] = {}
        for number, group in enumerate(list(together)[-1].groups, start=1):
            group_of |= dict.fromkeys(group, number)
        yield at, tuple(group_of.get(node, 0) for node in range(len(scenario.nodes)))
