"""Agents that move their nodes: their runs let them, on a field with room. All other runs stay as they are."""

from __future__ import annotations

import inspect
import sys
from dataclasses import replace

from roambus.bridge.backends.ideal.backend import graph_of
from roambus.bridge.mobility.steered import Steered
from roambus.bridge.scenario.definition import Scenario
from roambus.python_protocol.agent import Agent, Process
from roambus.python_protocol.events import Arrived

SIDE_M = 200.0
"""Of the field. The radio has a table of the losses between its cells, which bounds their number."""
FASTEST_MPS = 1e4
_ASKS = ("go_to(", "halt(", "GoTo(")
"""Texts in the source of an agent that moves."""


def moves(agent_class: type[Agent]) -> bool:
    """Return whether an agent handles arrivals, or its modules ask for movement."""
    modules = {cls.__module__ for cls in agent_class.__mro__} - {Agent.__module__, Process.__module__, "builtins"}
    sources = (inspect.getsource(sys.modules[name]) for name in modules)
    return Arrived in agent_class.handlers or any(text in source for source in sources for text in _ASKS)


def let_move(scenario: Scenario, agent_class: type[Agent]) -> Scenario:
    """Return the scenario in which the agents move their nodes, if they do; ideal links stay those of the start."""
    if not moves(agent_class):
        return scenario
    links = graph_of(scenario)
    up = [(change.a, change.b) for change in links.changes if change.up and not change.at]
    ideal = scenario.ideal if scenario.tree else replace(scenario.ideal, range_m=0.0, links=(*links.links, *up))
    nodes = tuple(replace(node, mobility=Steered(FASTEST_MPS)) for node in scenario.nodes)
    channel = replace(scenario.channel, only_static_nodes=False)
    return replace(scenario, field_m=(SIDE_M, SIDE_M), channel=channel, nodes=nodes, ideal=ideal)
