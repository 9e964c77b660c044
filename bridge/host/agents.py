"""The agents of a run: how they are made, and what their author is told when one raises."""

from __future__ import annotations

import traceback
from pathlib import Path
from random import Random

from roambus.bridge.errors import AgentError, UserError
from roambus.bridge.scenario.scenario import Scenario
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.events import Event
from roambus.python_protocol.parameters import parse_parameters
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime, format_time
from roambus.python_protocol.sites import EXAMPLE as EXAMPLE_SITES

_HOST = Path(__file__).parent


def make_agents(scenario: Scenario, agent_class: type[Agent]) -> list[Agent]:
    """An agent for each node, its generator seeded from (run seed, node); raises UserError."""
    name = scenario.agent or agent_class.__name__
    try:
        parameters = parse_parameters(agent_class.parameters_type, scenario.agent_parameters)
    except ValueError as error:
        raise UserError(f"agent {name}: {error}") from None
    if agent_class.needs_sites and scenario.sites is None:
        raise UserError(f'agent {name} needs sites; write them in the ini, such as SN.sites = "{EXAMPLE_SITES}"')
    try:
        return [
            agent_class(node, settings.roles, parameters, Random(f"agent/{scenario.seed}/{node}"))
            for node, settings in enumerate(scenario.nodes)
        ]
    except Exception as error:
        problem = f"agent {name}: it cannot be made of (node, roles, parameters, random): {_cause(error)}"
        raise UserError(problem) from error


def describe_failure(node: NodeId, now: SimTime, event: Event | None, error: Exception) -> AgentError:
    """An error with one line that tells the author of an agent where it raised, and on what."""
    text = f"node {node}, simulation time {format_time(now)}, on {event}: {_cause(error)}"
    return AgentError(text, node, now, str(event))


def _cause(error: Exception) -> str:
    """The error, and the agent's line that raised it."""
    frames = [one for one in traceback.extract_tb(error.__traceback__) if Path(one.filename).parent != _HOST]
    place = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno} in {frames[-1].name}" if frames else ""
    return f"{type(error).__name__}: {error}{place}"
