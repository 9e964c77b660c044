"""Whole runs over ideal links, for agents' tests."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from roambus.bridge.backends.ideal import IdealBackend
from roambus.bridge.host.event_loop import Host
from roambus.bridge.scenario.definition import Publications, Subscription, Workload
from roambus.bridge.scenario.plans import Fault, LinkChange
from roambus.bridge.trace.parquet import TraceWriter
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.filters import Filter
from roambus.python_protocol.roles import NodeId, Role
from roambus.python_protocol.simtime import SECOND, SimTime
from tests.support.scenarios import scenario

Row = dict[str, Any]
Edges = Sequence[tuple[NodeId, NodeId]]


def run(
    agent: type[Agent],
    nodes: int,
    links: Edges,
    workload: Workload,
    *,
    roles: Sequence[Role] | None = None,
    changes: Iterable[LinkChange] = (),
    faults: Sequence[Fault] = (),
    time_limit: SimTime = 30 * SECOND,
    parameters: Mapping[str, str] | None = None,
    seed: int = 0,
) -> list[Row]:
    """The trace's rows of a run over ideal links; without `roles` the nodes have none."""
    described = scenario(
        roles or [Role.NONE] * nodes,
        workload,
        seed=seed,
        time_limit=time_limit,
        agent_parameters=dict(parameters or {}),
        faults=tuple(faults),
    )
    trace = TraceWriter()
    Host(described, agent, IdealBackend(nodes, links, time_limit, changes, faults=faults), trace).run()
    rows: list[Row] = trace.table().to_pylist()
    return rows


def publishing(
    publisher: NodeId, subscribers: Iterable[NodeId], *, start: SimTime, until: SimTime, interval: SimTime = SECOND
) -> Workload:
    """One publisher, and subscribers that want everything from the start."""
    return Workload(
        tuple(Subscription(node, 0, Filter()) for node in subscribers),
        (Publications(publisher, start, until, interval, (("topic", "news"),), 20),),
    )


def of(rows: Iterable[Row], event: str) -> list[Row]:
    """The rows of one kind."""
    return [row for row in rows if row["event"] == event]


def distances(nodes: int, links: Edges, source: NodeId) -> list[int | None]:
    """Hops from `source` to each node; None if there is no way."""
    neighbours: list[set[NodeId]] = [set() for _ in range(nodes)]
    for a, b in links:
        neighbours[a].add(b)
        neighbours[b].add(a)
    found: list[int | None] = [None] * nodes
    found[source] = 0
    waiting = deque([source])
    while waiting:
        node = waiting.popleft()
        for neighbour in neighbours[node]:
            if found[neighbour] is None:
                found[neighbour] = (found[node] or 0) + 1
                waiting.append(neighbour)
    return found
