"""The agents of the broker family that are installed: the core's, and those of extensions."""

from __future__ import annotations

from roambus.bridge.agents import load_agent
from roambus.bridge.system.code import AGENTS, is_own, named
from roambus.python_protocol.brokers.agent import BrokerAgent


def broker_agents() -> list[type[BrokerAgent]]:
    """Those that come with roambus, in the order of their names."""
    names = sorted(name for name, point in named(AGENTS).items() if is_own(point))
    return [agent for agent in map(load_agent, names) if issubclass(agent, BrokerAgent)]
