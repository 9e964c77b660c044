"""Leader election in networks of ideal links: one leader and one tree in each partition."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.scenario import LinkChange, Workload
from python_protocol.actions import Action, Note
from python_protocol.agent import Agent
from python_protocol.codec import MessageSet
from python_protocol.election import Election, ElectionParameters, ElectionTimer, Heartbeat
from python_protocol.events import Event, Received, Started, TimerFired
from python_protocol.notes import MIGRATE
from python_protocol.overlay import Outcome, ParentChanged
from python_protocol.roles import NodeId, Role
from python_protocol.simtime import SECOND, SimTime
from tests.support.graphs import connected_graphs
from tests.support.runs import Edges, Row, distances, of, run

LEADER = "leader"


class Electing(Agent):
    """Takes part in the election, traces its parents and its leaders, and does nothing else."""

    parameters_type = ElectionParameters
    messages = MessageSet((Heartbeat,))

    def __init__(self, node: NodeId, roles: Role, parameters: ElectionParameters, random: Random) -> None:
        super().__init__(node, roles, parameters, random)
        self._election = Election(node, Role.BROKER in roles, parameters, random)
        self._leadership = self._election.leadership

    def handle(self, event: Event, now: SimTime) -> Iterable[Action]:
        actions, changes = self._outcome(event, now)
        parents = [Note(MIGRATE, peer=change.parent) for change in changes if isinstance(change, ParentChanged)]
        return [*actions, *parents, *self._note_leader()]

    def _outcome(self, event: Event, now: SimTime) -> Outcome:
        if isinstance(event, Started):
            return self._election.start(now)
        if isinstance(event, Received):
            assert isinstance(event.message, Heartbeat)
            return self._election.receive(event.sender, event.message, event.rssi_dbm, now)
        assert isinstance(event, TimerFired)
        assert isinstance(event.key, ElectionTimer)
        return self._election.timer(event.key, now)

    def _note_leader(self) -> list[Note]:
        if self._election.leadership == self._leadership:
            return []
        self._leadership = self._election.leadership
        return [Note(LEADER, peer=self._leadership.leader)]


def elect(
    nodes: int,
    links: Edges,
    *,
    until: SimTime,
    clients: Iterable[NodeId] = (),
    changes: Iterable[LinkChange] = (),
    seed: int = 0,
) -> list[Row]:
    """The trace of an election among brokers, but for the `clients`."""
    roles = [Role.BROKER] * nodes
    for node in clients:
        roles[node] = Role.SUBSCRIBER
    return run(Electing, nodes, links, Workload(), roles=roles, changes=changes, time_limit=until, seed=seed)


def last(rows: Iterable[Row], event: str, nodes: int, until: float = float("inf")) -> list[NodeId | None]:
    """What each node has at a time."""
    found: list[NodeId | None] = [None] * nodes
    for row in of(rows, event):
        if row["time_s"] <= until:
            found[row["node"]] = row["peer"]
    return found


def depths(parents: Sequence[NodeId | None], links: Edges) -> list[int]:
    """Steps from each node to the root of its tree, over links that there are; a cycle fails."""
    there = {frozenset(ends) for ends in links}

    def depth(node: NodeId, seen: frozenset[NodeId]) -> int:
        parent = parents[node]
        assert node not in seen, f"cycle {sorted(seen)}"
        if parent is None:
            return 0
        assert frozenset((node, parent)) in there
        return 1 + depth(parent, seen | {node})

    return [depth(node, frozenset()) for node in range(len(parents))]


def components(nodes: int, links: Edges) -> list[set[NodeId]]:
    """The partitions of a graph."""
    found: list[set[NodeId]] = []
    for node in range(nodes):
        if not any(node in component for component in found):
            reached = distances(nodes, links, node)
            found.append({other for other in range(nodes) if reached[other] is not None})
    return found


@given(connected_graphs(8), st.data(), st.integers(0, 100))
@settings(max_examples=25)
def test_every_partition_gets_one_leader_and_a_tree(graph: tuple[int, Edges], data: st.DataObject, seed: int) -> None:
    """Whatever links break after 8 s: soon one node of each partition leads, and all parents lead to it."""
    nodes, links = graph
    cut = data.draw(st.sets(st.sampled_from(list(links))))
    left = [ends for ends in links if ends not in cut and ends[::-1] not in cut]
    changes = [LinkChange(8 * SECOND, a, b, up=False) for a, b in cut]
    rows = elect(nodes, links, changes=changes, until=26 * SECOND, seed=seed)
    leaders, parents = last(rows, LEADER, nodes), last(rows, MIGRATE, nodes)
    depths(parents, left)
    for partition in components(nodes, left):
        (leader,) = {leaders[node] for node in partition}
        assert [node for node in partition if parents[node] is None] == [leader]


@given(connected_graphs(8), st.integers(0, 100))
@settings(max_examples=15)
def test_a_stable_network_comes_to_rest_in_a_tree_of_shortest_ways(graph: tuple[int, Edges], seed: int) -> None:
    """After as many rounds as it is deep no parent changes any more, and no way to the leader is shorter."""
    nodes, links = graph
    rows = elect(nodes, links, until=25 * SECOND, seed=seed)
    assert [row for row in of(rows, MIGRATE) if row["time_s"] > 13] == []
    (leader,) = set(last(rows, LEADER, nodes))
    assert leader is not None
    assert depths(last(rows, MIGRATE, nodes), links) == distances(nodes, links, leader)


def test_the_letter_of_the_thesis_does_not_come_to_rest() -> None:
    """Two brokers in a square can both be the first to pass a round on: that is why parents are sticky."""
    square: Edges = [(0, 1), (0, 2), (3, 1), (3, 2), (1, 2)]
    migrations = {}
    for sticky in ("true", "false"):
        parameters = {"sticky_parent": sticky}
        rows = run(Electing, 4, square, Workload(), roles=[Role.BROKER] * 4, parameters=parameters)
        migrations[sticky] = [row for row in of(rows, MIGRATE) if row["time_s"] > 10]
    assert migrations["true"] == []
    assert len(migrations["false"]) >= 5


@given(connected_graphs(8), st.data(), st.integers(0, 100))
@settings(max_examples=15)
def test_clients_hang_on_brokers_and_join_no_partitions(
    graph: tuple[int, Edges], data: st.DataObject, seed: int
) -> None:
    """The tree goes over brokers alone; whoever hears a broker has one, and nobody has a client, as its parent."""
    nodes, links = graph
    clients = data.draw(st.sets(st.integers(0, nodes - 1)))
    rows = elect(nodes, links, clients=clients, until=16 * SECOND, seed=seed)
    leaders, parents = last(rows, LEADER, nodes), last(rows, MIGRATE, nodes)
    depths(parents, links)
    assert not clients & set(parents)
    hear_a_broker = {a for ends in links for a, b in (ends, ends[::-1]) if b not in clients}
    assert {node for node in clients if parents[node] is not None} == clients & hear_a_broker
    between_brokers = [ends for ends in links if not clients & set(ends)]
    for partition in components(nodes, between_brokers):
        if not partition & clients:
            (leader,) = {leaders[node] for node in partition}
            assert leader in partition


@pytest.mark.parametrize("seed", range(3))
def test_a_partition_gets_a_second_leader_and_a_merge_leaves_the_older_one(seed: int) -> None:
    """A line of four, in two from 10 s to 25 s: the leader from before is the one that stays."""
    line: Edges = [(0, 1), (1, 2), (2, 3)]
    changes = [LinkChange(10 * SECOND, 1, 2, up=False), LinkChange(25 * SECOND, 1, 2, up=True)]
    rows = elect(4, line, changes=changes, until=35 * SECOND, seed=seed)
    (first,) = set(last(rows, LEADER, 4, until=10))
    parted = last(rows, LEADER, 4, until=25)
    assert parted[0] == parted[1]
    assert parted[2] == parted[3]
    assert len(set(parted) & {first}) == 1
    assert len(set(parted)) == 2
    assert set(last(rows, LEADER, 4)) == {first}
    depths(last(rows, MIGRATE, 4), line)
