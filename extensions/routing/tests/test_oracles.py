"""DSDV and GPSR against what a program with the whole graph would do: while links stand, break and come back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roambus.bridge.backends.ideal import IdealBackend
from roambus.bridge.backends.ideal.backend import IdealFactory
from roambus.bridge.host.agents import Handle
from roambus.bridge.host.event_loop import Host
from roambus.bridge.mobility.given_way import GivenWay
from roambus.bridge.mobility.model import WayPoint
from roambus.bridge.scenario.definition import Publications, Subscription, Workload
from roambus.bridge.scenario.ideal import IdealLinks
from roambus.bridge.scenario.nodes import NodeSettings
from roambus.bridge.scenario.plans import LinkChange
from roambus.bridge.trace.parquet import TraceWriter
from roambus.extensions.routing.dsdv import Dsdv
from roambus.extensions.routing.gpsr import Gpsr
from roambus.python_protocol.actions import Action
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.events import Event
from roambus.python_protocol.filters import Filter
from roambus.python_protocol.roles import NodeId, Role
from roambus.python_protocol.simtime import SECOND, SimTime
from tests.support.graphs import connected_graphs
from tests.support.runs import Edges, Row, distances, of
from tests.support.scenarios import scenario

SETTLED = 40 * SECOND
"""Two full dumps, and the wait between them."""


def among_all(nodes: int, starts: Iterable[SimTime]) -> Workload:
    """Every node publishes once to all, after each of these times."""
    return Workload(
        tuple(Subscription(node, 0, Filter()) for node in range(nodes)),
        tuple(
            Publications(node, start, start + SECOND, SECOND, (("topic", "news"),), 20)
            for node in range(nodes)
            for start in starts
        ),
    )


class Tables:
    """Follows the tables of all nodes through a run, and collects loops."""

    def __init__(self) -> None:
        self.agents: list[Dsdv] = []
        self.loops: set[tuple[SimTime, NodeId, NodeId]] = set()

    def wrap(self, agent: Agent, handle: Handle) -> Handle:
        """Look at the ways after each event."""
        assert isinstance(agent, Dsdv)
        self.agents.append(agent)

        def handle_watched(event: Event, now: SimTime) -> Iterable[Action]:
            actions = handle(event, now)
            self.loops |= {(now, agent.node, each) for each in agent.ways(now) if self._returns(agent.node, each, now)}
            return actions

        return handle_watched

    def _returns(self, node: NodeId, destination: NodeId, now: SimTime) -> bool:
        """Whether the way from a node leads back to it."""
        ways, here = [agent.ways(now) for agent in self.agents], node
        for _ in ways:
            if here == destination or destination not in ways[here]:
                return False
            (here,) = ways[here][destination]
            if here == node:
                return True
        return False  # a loop of others, which they find


def dsdv_run(
    nodes: int,
    links: Edges,
    workload: Workload,
    *,
    changes: Iterable[LinkChange] = (),
    seed: int = 0,
    **parameters: str,
) -> tuple[Tables, list[Row]]:
    """A run over ideal links, until 5 s after the last publication."""
    end = max(each.until for each in workload.publications) + 4 * SECOND
    described = scenario([Role.NONE] * nodes, workload, seed=seed, time_limit=end, agent_parameters=parameters)
    tables, trace = Tables(), TraceWriter()
    Host(described, Dsdv, IdealBackend(nodes, links, end, changes), trace, wrappers=(tables.wrap,)).run()
    rows: list[Row] = trace.table().to_pylist()
    return tables, rows


def shortest(nodes: int, links: Edges) -> Mapping[tuple[NodeId, NodeId], int]:
    """The fewest hops of each pair that has a way."""
    found = {(a, b): hops for a in range(nodes) for b, hops in enumerate(distances(nodes, links, a))}
    return {pair: hops for pair, hops in found.items() if hops}


def metrics(tables: Tables) -> Mapping[tuple[NodeId, NodeId], int]:
    """The metric of each route that is not broken."""
    return {
        (agent.node, route.destination): route.metric
        for agent in tables.agents
        for route in agent.routes.values()
        if not route.is_broken
    }


@pytest.mark.parametrize("link_layer", ["true", "false"])
@given(connected_graphs(8), st.integers(0, 100))
@settings(max_examples=8)
def test_dsdv_knows_all_shortest_ways_and_delivers_to_every_pair(
    link_layer: str, graph: tuple[int, Edges], seed: int
) -> None:
    """Over links that stand; no table ever leads in a circle."""
    nodes, links = graph
    workload = among_all(nodes, [SETTLED])
    tables, rows = dsdv_run(nodes, links, workload, seed=seed, link_layer=link_layer)
    assert metrics(tables) == shortest(nodes, links)
    assert tables.loops == set()
    assert len(of(rows, "deliver")) == nodes * nodes
    assert of(rows, "drop") == []


@given(connected_graphs(7), st.data())
@settings(max_examples=12)
def test_dsdv_has_no_loop_while_links_come_and_go_and_settles_afterwards(
    graph: tuple[int, Edges], data: st.DataObject
) -> None:
    """Some links break and come back, at times as close as frames; then ways are the shortest again."""
    nodes, links = graph
    pairs = sorted({(min(link), max(link)) for link in links})
    times = st.integers(20_000, 60_000).map(lambda ms: ms * SECOND // 1000)
    breaks = data.draw(st.lists(st.tuples(st.sampled_from(pairs), times, times), max_size=6))
    stays = data.draw(st.booleans())
    changes = [LinkChange(min(two), *link, up=False) for link, *two in breaks]
    changes += [LinkChange(max(two), *link, up=True) for link, *two in breaks if stays]
    gone = set() if stays else {link for link, *_ in breaks}
    changes.sort(key=lambda change: change.at)
    workload = among_all(nodes, [60 * SECOND + 3 * SETTLED])
    tables, rows = dsdv_run(nodes, pairs, workload, changes=changes, seed=data.draw(st.integers(0, 9)))
    left = shortest(nodes, [link for link in pairs if link not in gone])
    assert tables.loops == set()
    assert metrics(tables) == left
    assert len(of(rows, "deliver")) == nodes + len(left)


RING = [(0, 0), (28, 0), (56, 0), (70, 24), (56, 48), (28, 48), (0, 48), (-14, 24)]
"""Eight nodes, each in reach of two at 35 m."""


@pytest.mark.parametrize("planarization", ["rng", "gg"])
@pytest.mark.parametrize("positions", ["requested", "oracle"])
def test_gpsr_goes_the_other_way_round_a_cut_ring_and_back(planarization: str, positions: str) -> None:
    """Node 1 walks away and comes back, then nodes 1 and 4: only while the ring is in two parts, packets are lost."""
    away = {1: [(20.0, 60.0), (80.0, 110.0)], 4: [(80.0, 110.0)]}
    nodes = tuple(NodeSettings(place, way(place, away.get(node, []))) for node, place in enumerate(RING))
    starts = [10 * SECOND, 40 * SECOND, 70 * SECOND, 95 * SECOND, 130 * SECOND]
    workload = Workload((Subscription(3, 0, Filter()),), among_all(8, starts).publications)
    workload = replace(workload, publications=tuple(each for each in workload.publications if each.node == 0))
    parameters = {"link_layer": "false", "planarization": planarization, "positions": positions}
    described = replace(
        scenario([Role.NONE] * 8, workload, time_limit=150 * SECOND, agent_parameters=parameters),
        nodes=nodes,
        ideal=IdealLinks(range_m=35.0),
    )
    trace = TraceWriter()
    Host(described, Gpsr, IdealFactory().make(described, Gpsr, Path()), trace).run()
    rows: list[Row] = trace.table().to_pylist()
    hops = {row["notification_id"]: row["hops"] for row in of(rows, "deliver")}
    assert hops == {"0.0": 3, "0.1": 5, "0.2": 3, "0.4": 3}
    assert {row["detail"] for row in of(rows, "drop")} <= {"unreachable", "position unknown", "no neighbour"}
    assert [row["notification_id"] for row in of(rows, "drop")] == ["0.3"]


def way(place: tuple[float, float], away: list[tuple[float, float]]) -> GivenWay:
    """Go far away at the first of each two times, and be back at the second."""
    points, far = [WayPoint(0, *place)], (1000.0 + place[0], 1000.0)
    for leaves, returns in away:
        points += [WayPoint(leaves, *place), WayPoint(leaves + 1, *far)]
        points += [WayPoint(returns - 1, *far), WayPoint(returns, *place)]
    return GivenWay(tuple(points))
