"""Whole networks of the skip ring over ideal links, and their comparison with its definition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from random import Random
from typing import Any

from roambus.bridge.backends.ideal import IdealBackend
from roambus.bridge.host.event_loop import Host
from roambus.bridge.scenario.definition import Command, Publication, Workload
from roambus.bridge.scenario.ideal import IdealLinks
from roambus.bridge.scenario.plans import Fault
from roambus.bridge.trace.parquet import TraceWriter
from roambus.extensions.skip_ring.corrupted import CorruptedSkipRing, skip_ring
from roambus.extensions.skip_ring.messages import Topic
from roambus.extensions.skip_ring.subscriber import Subscriber
from roambus.python_protocol.events import Subscribe
from roambus.python_protocol.filters import parse_filter
from roambus.python_protocol.roles import NodeId, Role
from roambus.python_protocol.simtime import MILLISECOND, SECOND, SimTime
from tests.support.runs import Row
from tests.support.scenarios import scenario

SUPERVISOR: NodeId = 0
ANY_TOPIC = parse_filter("topic = 1")
EVERYTHING = "labels+neighbours+shortcuts+database+messages+tries"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run leaves: the trace's rows, and the agents as they are in the end."""

    rows: list[Row]
    agents: list[CorruptedSkipRing]

    def subscribers(self, topic: Topic = 1) -> dict[NodeId, Subscriber]:
        """By node: those in the ring of a topic."""
        found = {agent.node: agent.members.get(topic) for agent in self.agents}
        return {node: member for node, member in found.items() if member is not None}

    def publications(self, topic: Topic = 1) -> dict[NodeId, list[str]]:
        """By node: what its trie holds."""
        members = {agent.node: agent.members.get(topic) for agent in self.agents}
        return {
            node: [str(publication.id) for publication in member.publications.trie.publications()]
            for node, member in members.items()
            if member is not None
        }

    def of(self, event: str) -> list[Row]:
        """The rows of one kind."""
        return [row for row in self.rows if row["event"] == event]

    def last_change_s(self) -> float:
        """When a label or edge changed for the last time."""
        return max((float(row["time_s"]) for row in self.of("overlay")), default=0.0)


def run(
    subscribers: int,
    *,
    rounds: int,
    corruption: str = "none",
    commands: Sequence[Command] = (),
    faults: Sequence[Fault] = (),
    parameters: Mapping[str, str] | None = None,
    seed: int = 0,
) -> Outcome:
    """Node 0 is the supervisor; nodes 1 to `subscribers` subscribe to topic 1 at the start, all nodes are linked."""
    nodes = subscribers + 1
    joins = [Command(0, node, Subscribe(ANY_TOPIC)) for node in range(1, nodes)]
    described = scenario(
        [Role.BROKER, *[Role.SUBSCRIBER | Role.PUBLISHER] * subscribers],
        Workload(commands=(*joins, *commands)),
        seed=seed,
        time_limit=rounds * SECOND,
        agent_parameters={"corruption": corruption, "nodes": str(nodes), **(parameters or {})},
        faults=tuple(faults),
    )
    agents: list[CorruptedSkipRing] = []
    links = combinations(range(nodes), 2)
    backend = IdealBackend(nodes, links, described.time_limit, ideal=IdealLinks(10 * MILLISECOND), faults=faults)
    trace = TraceWriter()
    Host(described, _kept(agents), backend, trace).run()
    return Outcome(trace.table().to_pylist(), agents)


def _kept(agents: list[CorruptedSkipRing]) -> type[CorruptedSkipRing]:
    class Kept(CorruptedSkipRing):
        def __init__(self, node: NodeId, roles: Role, parameters: Any, random: Random) -> None:
            super().__init__(node, roles, parameters, random)
            agents.append(self)

    return Kept


def published(at: SimTime, node: NodeId, topic: int = 1) -> Command:
    """A node publishes."""
    return Command(at, node, Publication((("topic", topic),)))


def assert_skip_ring(subscribers: Mapping[NodeId, Subscriber]) -> None:
    """Labels and edges are exactly those of the definition."""
    nodes = {member.ring.label or "": node for node, member in subscribers.items()}
    assert {label: _labels_of(subscribers[node], nodes) for label, node in nodes.items()} == {
        label: (place.left, place.right, place.ring, place.shortcuts)
        for label, place in skip_ring(len(subscribers)).items()
    }


def _labels_of(subscriber: Subscriber, nodes: Mapping[str, NodeId]) -> tuple[object, ...]:
    """Its edges by labels; one to a node that does not have the label that it is stored under is none of these."""
    ring, shortcuts = subscriber.ring, subscriber.shortcuts.nodes
    edges = [
        neighbour and (neighbour.label if nodes.get(neighbour.label) == neighbour.node else neighbour)
        for neighbour in (ring.left, ring.right, ring.ring)
    ]
    return (
        *edges,
        frozenset(label if nodes.get(label) == node else (label, node) for label, node in shortcuts.items()),
    )
