"""Makes the ideal back-end of a scenario: the graph of its links, and what becomes of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

from roambus.bridge.backends.ideal.backend import IdealBackend
from roambus.bridge.backends.ideal.by_hand import Arrival, HandWorkedBackend
from roambus.bridge.backends.ideal.unit_disk import disk_changes, reach_m
from roambus.bridge.backends.interface import Move
from roambus.bridge.backends.radio.mobility import moves_until
from roambus.bridge.backends.radio.setup import paths_of, randomness
from roambus.bridge.scenario.given_tree import tree_links
from roambus.bridge.scenario.happenings import LinkChange
from roambus.bridge.scenario.scenario import Scenario
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime

Kind = TypeVar("Kind", bound=IdealBackend)


class Graph(NamedTuple):
    """The links at the start, how they change, and for the trace where the nodes are."""

    links: Sequence[tuple[NodeId, NodeId]]
    changes: Sequence[LinkChange]
    moves: Sequence[Move] = ()


def make_ideal(scenario: Scenario) -> IdealBackend:
    """The back-end of the scenario's tree, sites, graph or unit disk, with its delays, partitions and faults."""
    return _make(IdealBackend, scenario)


def make_hand_worked(scenario: Scenario, begin: SimTime, arrivals: Sequence[Arrival]) -> HandWorkedBackend:
    """The same, but from `begin` on a frame only arrives if one of the `arrivals`, in the order of time, says so."""
    backend = _make(HandWorkedBackend, scenario)
    backend.work_by_hand(begin, arrivals)
    return backend


def _make(kind: type[Kind], scenario: Scenario) -> Kind:
    ideal = scenario.ideal
    graph = given_graph(scenario) or _disk(scenario)
    return kind(
        len(scenario.nodes),
        graph.links,
        scenario.time_limit,
        [*graph.changes, *ideal.partitions],
        ideal,
        faults=scenario.faults,
        processing_delay=scenario.processing_delay,
        moves=graph.moves,
    )


def given_graph(scenario: Scenario) -> Graph | None:
    """The scenario's tree, sites or graph; None means that its links follow from where its nodes are."""
    ideal = scenario.ideal
    if scenario.tree:
        return Graph((), tree_links(scenario.tree))
    if scenario.sites is not None:
        return Graph(tuple(scenario.sites.links()), ideal.changes)
    if ideal.links or ideal.changes:
        return Graph(ideal.links, ideal.changes)
    return None


def _disk(scenario: Scenario) -> Graph:
    paths = paths_of(scenario, randomness(scenario.seed))
    reaches = [reach_m(scenario, node) for node in scenario.nodes]
    changes = disk_changes(paths, reaches, scenario.time_limit)
    return Graph((), changes, moves_until(paths, scenario.time_limit))
