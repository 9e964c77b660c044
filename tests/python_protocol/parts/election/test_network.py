"""Leader election in networks of ideal links: one leader and one tree in each partition, soon and for good."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roambus.bridge.scenario.plans import Fault, FaultKind, LinkChange
from roambus.python_protocol.parts.election import ElectionParameters, Leadership
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.settings import parse_parameters
from roambus.python_protocol.simtime import MILLISECOND, SECOND, SimTime
from roambus.python_protocol.trace_rows import CRASH, MIGRATE
from tests.python_protocol.parts.election.network import FOLLOW, HEARTBEAT, Network, assert_settled, places, unrest
from tests.support.graphs import connected_graphs, edges
from tests.support.runs import Edges, of
from tests.support.settling import settling_rounds

QUIET = 30 * SECOND
"""How long a network that has settled is watched: thirty rounds."""
SEVEN_AND_ONE: Edges = [(0, 1), (1, 2), (2, 3), (3, 6), (6, 5), (5, 4), (4, 0), (7, 3), (7, 6)]
"""A ring of seven, and a broker opposite to 0 with two ways of three hops to it, which are linked, too."""

seeds = st.integers(0, 1000)
times = st.integers(0, 15_000).map(lambda ms: ms * MILLISECOND)
parameter_sets = st.sampled_from(
    [
        {},
        {"relay_jitter": "10ms", "parent_window": "100ms"},
        {"allowed_heartbeat_loss": "0"},
        {"heartbeat_interval": "2s", "parent_window": "1s", "leader_time_out_min": "5s", "leader_time_out_max": "6s"},
    ]
)


@st.composite
def clocks(draw: st.DrawFn, nodes: int) -> Mapping[NodeId, SimTime]:
    """What the nodes' clocks show at the start: all the same, or anything within a minute."""
    shown = st.lists(st.integers(0, 60_000), min_size=nodes, max_size=nodes)
    return {node: ms * MILLISECOND for node, ms in enumerate(draw(st.just([]) | shown))}


@st.composite
def histories(draw: st.DrawFn, most: int = 12) -> Network:
    """Brokers and clients whose links come and go and which crash and come back, several at a time, and then quiet."""
    nodes, links = draw(connected_graphs(most))
    clients = draw(st.sets(st.integers(0, nodes - 1), max_size=nodes // 2))
    down = st.sampled_from(list(links)).map(lambda ends: (*ends, False))
    anything = st.tuples(edges(nodes), st.booleans()).map(lambda change: (*change[0], change[1]))
    changes = [LinkChange(draw(times), *change) for change in draw(st.lists(down | anything, max_size=8))]
    return Network(nodes, links, clients, changes, draw(faults(nodes)), draw(clocks(nodes)))


@st.composite
def faults(draw: st.DrawFn, nodes: int) -> list[Fault]:
    """Up to two nodes crash or freeze, and recover."""
    found = []
    for node in draw(st.sets(st.integers(0, nodes - 1), max_size=2)):
        found += outage(node, 1 + draw(times), draw(times), draw(st.sampled_from([FaultKind.CRASH, FaultKind.FREEZE])))
    return sorted(found, key=lambda fault: fault.at)


def outage(node: NodeId, start: SimTime, length: SimTime, kind: FaultKind = FaultKind.CRASH) -> list[Fault]:
    return [Fault(start, node, kind), Fault(start + length + 1, node, FaultKind.RECOVER)]


def settled_at(network: Network, parameters: Mapping[str, str] | None = None) -> SimTime:
    """By when the network must have come to rest."""
    parsed = parse_parameters(ElectionParameters, parameters or {})
    return network.last_change + settling_rounds(parsed, network.depth()) * parsed.heartbeat_interval


def leaderships(network: Network, at: SimTime, seed: int) -> list[Leadership]:
    """Which one each node follows at a time."""
    return [place.leadership for place in places(network.run(at, seed=seed), network.nodes)]


@given(histories(), seeds, parameter_sets)
@settings(max_examples=50)
def test_a_network_settles_within_its_bound_and_stays_so(
    network: Network, seed: int, parameters: dict[str, str]
) -> None:
    """Whatever happened before: each partition has one leader and its tree by then, and nothing changes any more."""
    settled = settled_at(network, parameters)
    rows = network.run(settled + QUIET, seed=seed, parameters=parameters)
    assert unrest(rows, after=settled / SECOND) == []
    assert_settled(network, places(rows, network.nodes))


@given(connected_graphs(12), seeds)
@settings(max_examples=50)
def test_a_stable_network_has_no_migrations(graph: tuple[int, Edges], seed: int) -> None:
    """Once it has come to rest, all of its ways are the shortest, and no parent changes."""
    network = Network(*graph)
    settled = settled_at(network)
    rows = network.run(settled + QUIET, seed=seed)
    assert [row for row in of(rows, MIGRATE) if row["time_s"] > settled / SECOND] == []
    assert_settled(network, places(rows, network.nodes))


@pytest.mark.parametrize("seed", [5, 11, 35])
def test_a_round_that_comes_late_to_a_parent_moves_nobody(seed: int) -> None:
    """The two ways of a ring can differ by more than a relay's jitter; a node then waits for its parent's copy."""
    network = Network(8, SEVEN_AND_ONE)
    rows = network.run(100 * SECOND, seed=seed)
    assert {place.leadership.leader for place in places(rows, 8)} == {0}
    assert unrest(rows, after=30) == []


@given(histories(), seeds)
@settings(max_examples=20)
def test_the_published_election_settles_on_its_leaders(network: Network, seed: int) -> None:
    """With `sticky_parent` false, too, nobody follows another leader after that time; only the parents change."""
    parameters = {"sticky_parent": "false"}
    settled = settled_at(network, parameters)
    rows = network.run(settled + QUIET, seed=seed, parameters=parameters)
    assert [row for row in of(rows, FOLLOW) if row["time_s"] > settled / SECOND] == []
    found = places(rows, network.nodes)
    for partition in network.partitions():
        (leadership,) = {found[broker].leadership for broker in partition}
        assert leadership.leader in partition


@given(histories(), seeds)
@settings(max_examples=50)
def test_a_node_sends_each_round_once(network: Network, seed: int) -> None:
    """No heartbeat circulates for ever, be its leader lost or not; only a crash makes a node forget what it sent."""
    rows = network.run(network.last_change + 20 * SECOND, seed=seed)
    sent = Counter((row["node"], row["detail"]) for row in of(rows, HEARTBEAT))
    crashes = Counter(row["node"] for row in of(rows, CRASH))
    assert all(times <= 1 + crashes[node] for (node, _), times in sent.items())


def test_the_last_round_of_a_lost_leader_does_not_go_round_for_ever() -> None:
    """In a ring that it takes longer to go round than the time-out, each node would follow it whenever it comes by.

    The leader is lost at 25 s; its last rounds are under way for 4 s.
    """
    line: Edges = [(node, node + 1) for node in range(1, 85)]
    joins, leaves = LinkChange(10 * SECOND, 0, 1, up=True), LinkChange(25 * SECOND + 1, 0, 1, up=False)
    closes = LinkChange(25 * SECOND + 1, 85, 1, up=True)
    behind = dict.fromkeys(range(1, 86), 100 * SECOND)
    rows = Network(86, line, (), [joins, leaves, closes], (), behind).run(50 * SECOND)
    followers = [row for row in of(rows, FOLLOW) if row["peer"] == 0 and row["node"] != 0]
    assert {row["node"] for row in followers} == set(range(1, 86))
    assert max(row["time_s"] for row in followers) < 30
    (leadership,) = {place.leadership for place in places(rows, 86)[1:]}
    assert leadership.leader != 0


@given(connected_graphs(9), st.data(), seeds)
@settings(max_examples=25)
def test_a_merge_keeps_the_oldest_leader(graph: tuple[int, Edges], data: st.DataObject, seed: int) -> None:
    """Of however many partitions: all follow the leadership that began first by the clock of its leader."""
    nodes, links = graph
    cut = data.draw(st.sets(st.sampled_from(list(links)), min_size=1))
    shown = data.draw(clocks(nodes))
    parting = [LinkChange(12 * SECOND, a, b, up=False) for a, b in cut]
    parted = Network(nodes, links, (), parting, (), shown)
    merging = settled_at(parted)
    joining = [LinkChange(merging + data.draw(times), a, b, up=True) for a, b in cut]
    merged = Network(nodes, links, (), [*parting, *joining], (), shown)
    rows = merged.run(settled_at(merged), seed=seed)
    before = [place.leadership for place in places(rows, nodes, merging / SECOND)]
    assert {place.leadership for place in places(rows, nodes)} == {min(before)}
    if not shown:
        assert min(before) == places(rows, nodes, 12)[0].leadership


@given(connected_graphs(8), seeds)
@settings(max_examples=15)
def test_a_leader_that_was_cut_off_alone_leads_again(graph: tuple[int, Edges], seed: int) -> None:
    """It went on leading itself, so it is older than whoever replaced it."""
    nodes, links = graph
    first = leaderships(Network(nodes, links), 12 * SECOND, seed)[0]
    own = [ends for ends in links if first.leader in ends]
    parting = [LinkChange(12 * SECOND, a, b, up=False) for a, b in own]
    merging = settled_at(Network(nodes, links, (), parting))
    joining = [LinkChange(merging, a, b, up=True) for a, b in own]
    network = Network(nodes, links, (), [*parting, *joining])
    rows = network.run(settled_at(network), seed=seed)
    others = {place.leadership for place in places(rows, nodes, merging / SECOND)} - {first}
    assert min(others) > first
    assert {place.leadership for place in places(rows, nodes)} == {first}


@given(connected_graphs(8), st.data(), seeds)
@settings(max_examples=15)
def test_a_leader_that_comes_back_after_a_crash_follows_its_successor(
    graph: tuple[int, Edges], data: st.DataObject, seed: int
) -> None:
    """It listens first; so it ends no leadership, not even with a clock that is behind the others'."""
    nodes, links = graph
    shown = data.draw(clocks(nodes))
    first = leaderships(Network(nodes, links, (), (), (), shown), 12 * SECOND, seed)[0]
    back = 12 * SECOND + settled_at(Network(nodes, links))
    network = Network(nodes, links, (), (), outage(first.leader, 12 * SECOND, back - 12 * SECOND), shown)
    rows = network.run(settled_at(network), seed=seed)
    found = places(rows, nodes, back / SECOND)
    successor = min(found[node].leadership for node in range(nodes) if node != first.leader)
    assert {place.leadership for place in places(rows, nodes)} == {successor}


@pytest.mark.parametrize("seed", range(3))
def test_a_partition_gets_a_second_leader_and_a_merge_leaves_the_older_one(seed: int) -> None:
    """A line of four, in two from 10 s to 25 s: the leader from before is the one that stays."""
    changes = [LinkChange(10 * SECOND, 1, 2, up=False), LinkChange(25 * SECOND, 1, 2, up=True)]
    network = Network(4, [(0, 1), (1, 2), (2, 3)], (), changes)
    rows = network.run(35 * SECOND, seed=seed)
    (first,) = {place.leadership for place in places(rows, 4, 10)}
    left, also_left, right, also_right = (place.leadership for place in places(rows, 4, 25))
    assert left == also_left
    assert right == also_right
    assert min(left, right) == first
    assert left != right
    assert {place.leadership for place in places(rows, 4)} == {first}


def test_a_lost_leader_is_replaced_within_four_rounds() -> None:
    """While rounds came regularly the time-out is at its lower bound: 2.5 s, a quarter of that, and a flood."""
    for seed in range(5):
        (first,) = set(leaderships(Network(8, SEVEN_AND_ONE), 12 * SECOND, seed))
        network = Network(8, SEVEN_AND_ONE, faults=[Fault(12 * SECOND, first.leader, FaultKind.CRASH)])
        followed = of(network.run(40 * SECOND, seed=seed), FOLLOW)
        assert 14 < max(row["time_s"] for row in followed) < 16


def test_the_published_election_does_not_come_to_rest() -> None:
    """Two brokers in a square can both be the first to pass a round on: that is why parents are sticky."""
    square = Network(4, [(0, 1), (0, 2), (3, 1), (3, 2), (1, 2)])
    migrations = {}
    for sticky in ("true", "false"):
        rows = square.run(30 * SECOND, parameters={"sticky_parent": sticky})
        migrations[sticky] = [row for row in of(rows, MIGRATE) if row["time_s"] > 10]
    assert migrations["true"] == []
    assert len(migrations["false"]) >= 5


def test_clients_hang_on_brokers_and_join_no_partitions() -> None:
    """Two brokers that hear each other only through a client each lead; the client follows the older one."""
    network = Network(3, [(0, 1), (1, 2)], clients=[1])
    left, client, right = places(network.run(20 * SECOND), 3)
    assert (left.leadership.leader, right.leadership.leader) == (0, 2)
    assert client.leadership == min(left.leadership, right.leadership)
    assert client.parent == client.leadership.leader
