"""Whole runs of a broker protocol over bare ideal links, on a tree that the scenario gives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from roambus.bridge.backends.ideal.backend import make_ideal
from roambus.bridge.host.event_loop import Host
from roambus.bridge.scenario.definition import Workload
from roambus.bridge.scenario.plans import ParentChange
from roambus.bridge.trace.parquet import TraceWriter
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.roles import NodeId, Role
from roambus.python_protocol.simtime import SECOND, SimTime
from tests.support.runs import Row
from tests.support.scenarios import scenario


def run_on_tree(
    agent: type[Agent],
    parents: Mapping[NodeId, NodeId],
    roles: Sequence[Role],
    workload: Workload,
    *,
    moves: Iterable[ParentChange] = (),
    time_limit: SimTime = 10 * SECOND,
    parameters: Mapping[str, str] | None = None,
    seed: int = 0,
) -> list[Row]:
    """The trace's rows; links of 1 ms, without the link layer unless `parameters` say otherwise."""
    described = scenario(
        roles,
        workload,
        seed=seed,
        time_limit=time_limit,
        agent_parameters={"tree": "given", "link_layer": "false", **(parameters or {})},
    )
    tree = (*(ParentChange(0, node, parent) for node, parent in parents.items()), *moves)
    planted = replace(described, tree=tree)
    trace = TraceWriter()
    Host(planted, agent, make_ideal(planted), trace).run()
    rows: list[Row] = trace.table().to_pylist()
    return rows
