"""Routing protocols in networks of ideal links that stand: everything is delivered once, where a way exists."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from math import hypot
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roambus.bridge.backends.ideal.backend import IdealFactory
from roambus.bridge.host.event_loop import Host
from roambus.bridge.scenario.definition import Workload
from roambus.bridge.scenario.ideal import IdealLinks
from roambus.bridge.scenario.nodes import NodeSettings
from roambus.bridge.scenario.plans import LinkChange
from roambus.bridge.trace.parquet import TraceWriter
from roambus.extensions.routing.dsdv import Dsdv
from roambus.extensions.routing.dsr import Dsr
from roambus.extensions.routing.gpsr import Gpsr
from roambus.extensions.routing.olsr import Olsr
from roambus.python_protocol.aodv import Aodv
from roambus.python_protocol.parts.unicast import Router
from roambus.python_protocol.roles import Role
from roambus.python_protocol.simtime import SECOND
from tests.support.graphs import connected_graphs, edges
from tests.support.runs import Edges, Row, distances, of, publishing, run
from tests.support.scenarios import scenario

MODES: list[tuple[type[Router], dict[str, str]]] = [
    (Dsdv, {}),
    (Dsdv, {"link_layer": "false", "sequence_triggers": "false"}),
    (Olsr, {}),
    (Olsr, {"link_layer": "false"}),
    (Dsr, {}),
    (Dsr, {"link_layer": "false", "cached_replies": "false"}),
]
EVERYWHERE: list[tuple[type[Router], dict[str, str]]] = [
    (Aodv, {}),
    (Aodv, {"link_layer": "false", "link_feedback": "false"}),
    (Dsdv, {}),
    (Olsr, {}),
    (Olsr, {"wait_at": "source"}),
    (Dsr, {}),
    (Dsr, {"link_layer": "false", "promiscuous": "true"}),
    (Dsr, {"promiscuous": "true", "cached_replies": "false"}),
]
START = 45 * SECOND
"""By then tables have settled."""


def delivered(rows: list[Row]) -> list[tuple[int, str, int]]:
    """The deliveries: node, notification and hops."""
    return sorted((row["node"], row["notification_id"], row["hops"]) for row in of(rows, "deliver"))


@pytest.mark.parametrize(("agent", "mode"), MODES)
@given(connected_graphs(9), st.integers(0, 100))
@settings(max_examples=5)
def test_everything_arrives_once_in_a_static_connected_graph(
    agent: type[Router], mode: dict[str, str], graph: tuple[int, Edges], seed: int
) -> None:
    """Every subscriber gets every notification; tables lead along the shortest ways."""
    nodes, links = graph
    workload = publishing(0, range(nodes), start=START, until=START + 3 * SECOND)
    rows = run(agent, nodes, links, workload, time_limit=START + 10 * SECOND, parameters=mode, seed=seed)
    published = [row["notification_id"] for row in of(rows, "publish")]
    got = delivered(rows)
    assert [row[:2] for row in got] == sorted((node, entry) for node in range(nodes) for entry in published)
    assert of(rows, "drop") == []
    if agent is not Dsr:
        ways = distances(nodes, links, 0)
        assert all(hops == ways[node] for node, _, hops in got)


@st.composite
def graphs(draw: st.DrawFn) -> tuple[int, Edges]:
    """A number of nodes from 2 to 12, and any links."""
    nodes = draw(st.integers(2, 12))
    return nodes, draw(st.lists(edges(nodes), max_size=3 * nodes))


@pytest.mark.parametrize(("agent", "mode"), EVERYWHERE)
@given(graphs(), st.integers(0, 100))
@settings(max_examples=5)
def test_every_pair_that_has_a_way_is_delivered(
    agent: type[Router], mode: dict[str, str], graph: tuple[int, Edges], seed: int
) -> None:
    """On static graphs, connected or not: every node publishes to all, and no other pair is delivered."""
    nodes, links = graph
    each = [publishing(node, range(nodes), start=START, until=START + SECOND) for node in range(nodes)]
    workload = Workload(each[0].subscriptions, tuple(chain(*(one.publications for one in each))))
    rows = run(agent, nodes, links, workload, time_limit=START + 15 * SECOND, parameters=mode, seed=seed)
    ways = [distances(nodes, links, node) for node in range(nodes)]
    wanted = {
        (node, row["notification_id"])
        for row in of(rows, "publish")
        for node in range(nodes)
        if ways[row["node"]][node] is not None
    }
    assert {row[:2] for row in delivered(rows)} == wanted


@pytest.mark.parametrize(("agent", "mode"), MODES)
def test_another_way_is_found_after_a_break(agent: type[Router], mode: dict[str, str]) -> None:
    """In a ring of six nodes one link goes; what is published later arrives the other way."""
    links: Edges = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)]
    change = LinkChange(START + 2 * SECOND, 1, 2, up=False)
    workload = publishing(0, [2], start=START, until=START + 30 * SECOND)
    rows = run(agent, 6, links, workload, changes=[change], time_limit=START + 40 * SECOND, parameters=mode)
    hops = {int(row["notification_id"].split(".")[1]): row["hops"] for row in of(rows, "deliver")}
    assert hops[0] == 2
    assert hops[max(hops)] == 4
    assert len(hops) >= 25


# GPSR: places

RANGE_M = 35.0


@st.composite
def connected_places(draw: st.DrawFn) -> list[tuple[float, float]]:
    """Places in metres, each within the range of an earlier one."""
    where = [draw(st.sampled_from([(200.25, 200.5), (5000.0, 10.0), (448251.6, 5411932.5)]))]
    offsets = st.tuples(st.floats(-30, 30), st.floats(-30, 30)).filter(
        lambda offset: 1 <= hypot(*offset) <= RANGE_M - 1
    )
    for count in range(draw(st.integers(1, 14))):
        (x, y), (dx, dy) = where[draw(st.integers(0, count))], draw(offsets)
        where.append((x + dx, y + dy))
    return where


def over_places(where: list[tuple[float, float]], parameters: dict[str, str], seed: int) -> list[Row]:
    """A run of GPSR: the first node publishes to all."""
    workload = publishing(0, range(len(where)), start=10 * SECOND, until=12 * SECOND)
    return run_at(where, workload, parameters, seed=seed, time_limit=20 * SECOND)


def run_at(
    where: list[tuple[float, float]], workload: Workload, parameters: dict[str, str], *, time_limit: int, seed: int = 0
) -> list[Row]:
    """A run of GPSR on unit disks."""
    described = replace(
        scenario([Role.NONE] * len(where), workload, seed=seed, time_limit=time_limit, agent_parameters=parameters),
        nodes=tuple(NodeSettings((float(x), float(y))) for x, y in where),
        ideal=IdealLinks(range_m=RANGE_M),
    )
    trace = TraceWriter()
    Host(described, Gpsr, IdealFactory().make(described, Gpsr, Path()), trace).run()
    rows: list[Row] = trace.table().to_pylist()
    return rows


@pytest.mark.parametrize("planarization", ["rng", "gg"])
@given(connected_places(), st.integers(0, 100))
@settings(max_examples=25)
def test_gpsr_finds_a_way_wherever_there_is_one(
    planarization: str, where: list[tuple[float, float]], seed: int
) -> None:
    """On unit disks, whatever their voids."""
    where = list(dict.fromkeys(where))
    rows = over_places(where, {"planarization": planarization, "link_layer": "false"}, seed)
    published = [row["notification_id"] for row in of(rows, "publish")]
    assert [row[:2] for row in delivered(rows)] == sorted(
        (node, row) for node in range(len(where)) for row in published
    )


def test_requests_for_positions_do_not_flood_the_network() -> None:
    """20 nodes publish to all others at once, five times: a request asks for all, and everybody learns from it."""
    where = [(30.0 * (node % 5), 30.0 * (node // 5)) for node in range(20)]
    each = [
        publishing(node, range(20), start=10 * SECOND, until=35 * SECOND, interval=5 * SECOND) for node in range(20)
    ]
    workload = replace(each[0], publications=tuple(its.publications[0] for its in each))
    rows = run_at(where, workload, {}, time_limit=40 * SECOND)
    requests = [row for row in of(rows, "send") if row["message_type"] == "LOCREQ"]
    assert len(of(rows, "deliver")) == 20 * 20 * 5
    assert 0 < len(requests) < 20 * 20 * 5


def test_greedy_forwarding_alone_ends_at_a_void() -> None:
    """The neighbours are all farther from the destination."""
    where = [(60.0, 50.0), (80.0, 30.0), (60.0, 5.0), (30.0, 5.0), (5.0, 25.0), (10.0, 50.0)]
    rows = over_places(where, {"perimeter": "false"}, 0)
    assert {node for node, *_ in delivered(rows)} < set(range(6))
    assert {node for node, *_ in delivered(over_places(where, {}, 0))} == set(range(6))


# Explored


BARE = "link_layer=false broadcast_jitter=0s"
STANDING = {
    "dsdv": f"agent dsdv {BARE} aggregation_time=0s update_interval=1000s update_jitter=0s settling_time=0s",
    "olsr": f"agent olsr {BARE} hello_interval=1s tc_interval=1s",
    "dsr": f"agent dsr {BARE} reply_delay=0s",
    "gpsr": f"agent gpsr {BARE} beacon_interval=1000s",
}
"""Each agent without chance."""
SQUARE = """
messages fast
slot 1s
links n1-n2 n2-n3 n1-n4 n4-n3
setup
  n1 is at 0 0
  n2 is at 20 10
  n3 is at 40 0
  n4 is at 20 1
  n3 subscribes f1
  wait 6500ms
may 1 cut
may 2 times n1 publishes e1
for 900ms
must nothing twice
"""


def exploration_of(text: str, states: int | None = None) -> Any:
    """The search of a question, by the extension that explores."""
    bounds = pytest.importorskip("roambus.extensions.exploring.checker").Bounds
    explored = pytest.importorskip("roambus.extensions.exploring.tests.exploring").explored
    return explored(text, bounds() if states is None else bounds(states=states))


@pytest.mark.parametrize("agent", STANDING)
def test_no_order_of_a_cut_and_two_publications_delivers_twice(agent: str) -> None:
    """On a square; a table of DSDV never leads in a circle either."""
    loops = "must no loops\n" if agent == "dsdv" else ""
    exploration = exploration_of(STANDING[agent] + SQUARE + loops, states=4000)
    assert exploration.counterexamples == []
    assert exploration.checker.figures.ended_by is None or agent == "olsr"


GRAPHS = ("n1-n2 n2-n3 n3-n4", "n1-n2 n1-n3 n1-n4", "n1-n2 n2-n3 n3-n4 n4-n1", "n1-n2 n2-n3 n1-n3 n3-n4")
STILL = """
messages fast
links {graph}
setup
  n4 subscribes f1
may n1 publishes e1
may n3 publishes e1
for 900ms
must everything delivered
must nothing twice
"""


def test_dsr_delivers_everything_once_where_nothing_moves() -> None:
    """In every order of two publications; the other protocols have timers for ever, so no state of theirs is quiet."""
    for graph in GRAPHS:
        exploration = exploration_of(STANDING["dsr"] + STILL.format(graph=graph))
        assert exploration.counterexamples == []
        assert exploration.checker.figures.ended_by is None
    one_hop = exploration_of(f"{STANDING['dsr']} net_diameter=1" + STILL.format(graph=GRAPHS[0]))
    assert one_hop.counterexamples
