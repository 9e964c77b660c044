"""Runs over ideal links whose agents can be looked at in the end."""

from __future__ import annotations

from random import Random
from typing import Any, TypeVar

from roambus.bridge.backends.ideal.backend import make_ideal
from roambus.bridge.host.event_loop import Host
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.trace.parquet import TraceWriter
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.roles import NodeId, Role
from tests.support.runs import Row

Seen = TypeVar("Seen", bound=Agent)


def run_seen(described: Scenario, agent: type[Seen]) -> tuple[dict[NodeId, Seen], list[Row]]:
    """Runs it to its end; returns the agents as they are then, by node, and the rows of the trace."""
    trace, agents = TraceWriter(), dict[NodeId, Seen]()
    seen = _seen(agent, agents)
    Host(described, seen, make_ideal(described), trace).run()
    return agents, trace.table().to_pylist()


def _seen(agent: type[Seen], agents: dict[NodeId, Seen]) -> type[Seen]:
    """The same agent, but each that is made can be looked at."""

    class SeenAgent(agent):  # type: ignore[misc, valid-type]  # a class that is only known here
        def __init__(self, node: NodeId, roles: Role, parameters: Any, random: Random) -> None:
            super().__init__(node, roles, parameters, random)
            agents[node] = self

    return SeenAgent
