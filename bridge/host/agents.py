"""The agents of a run: how they are made, and what their author is told when one raises."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from random import Random
from types import GeneratorType
from typing import Any

from roambus.bridge.agents.imports import unable_to_exit
from roambus.bridge.errors import AgentError, UserError
from roambus.bridge.host.blame import name_of, place_of, raised_at
from roambus.bridge.host.codec import CodecError
from roambus.bridge.interrupts import is_raised
from roambus.bridge.scenario.scenario import Scenario
from roambus.python_protocol.actions import Action
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.events import Event
from roambus.python_protocol.parameters import parse_parameters
from roambus.python_protocol.simtime import SimTime, format_time
from roambus.python_protocol.sites import EXAMPLE as EXAMPLE_SITES

Handle = Callable[[Event, SimTime], Iterable[Action]]
_ANSWERS = (list, tuple, GeneratorType)


def make_agents(scenario: Scenario, agent_class: type[Agent]) -> list[Agent]:
    """An agent for each node, its generator seeded from (run seed, node); raises UserError."""
    name = scenario.agent or agent_class.__name__
    parameters = _parameters(scenario, agent_class, name)
    if agent_class.needs_sites and scenario.sites is None:
        raise UserError(f'agent {name} needs sites; write them in the ini, such as SN.sites = "{EXAMPLE_SITES}"')
    try:
        with unable_to_exit():
            return [
                agent_class(node, settings.roles, parameters[node], Random(f"agent/{scenario.seed}/{node}"))
                for node, settings in enumerate(scenario.nodes)
            ]
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt) and not is_raised(error):
            raise
        cause = f"{_name(error)}{raised_at(error, agent_class)}"
        raise UserError(f"agent {name}: it cannot be made of (node, roles, parameters, random): {cause}") from error


def _parameters(scenario: Scenario, agent_class: type[Agent], name: str) -> list[Any]:
    """Those of each node; nodes that are set alike share them. Raises UserError."""
    shared = _parsed(agent_class, scenario.agent_parameters, f"agent {name}")
    others = {
        node: _parsed(agent_class, texts, f"agent {name}, node {node}")
        for node, texts in scenario.other_parameters.items()
    }
    return [others.get(node, shared) for node in range(len(scenario.nodes))]


def _parsed(agent_class: type[Agent], texts: Mapping[str, str], where: str) -> Any:
    try:
        return parse_parameters(agent_class.parameters_type, texts)
    except ValueError as error:
        raise UserError(f"{where}: {error}") from None


def handler_of(agent: Agent) -> Handle:
    """What the host calls with each event: `handle`, whose answer is looked at if the agent has its own."""
    if type(agent).handle is Agent.handle:
        return agent.handle  # it cannot answer with anything but actions

    def handle(event: Event, now: SimTime) -> Iterable[Action]:
        actions: Any = agent.handle(event, now)
        if type(actions) not in _ANSWERS and (not isinstance(actions, Iterable) or isinstance(actions, str | Mapping)):
            raise TypeError(f"handle has returned {actions!r}: return the actions, and () if there are none")
        return actions  # type: ignore[no-any-return]  # what it is was looked at

    return handle


def describe_failure(
    agent: Agent, now: SimTime, event: Event | None, error: BaseException, actions: object = ()
) -> BaseException:
    """What to raise for what came out of an agent: its author is told in one line where, and on what.

    `actions` is what it had answered. An interruption by a signal stays one, and tells what it has interrupted.
    """
    place = place_of(error, agent, event, actions)
    what = "what it had delayed" if event is None else event
    text = f"agent {name_of(type(agent))}, node {agent.node}, simulation time {format_time(now)}, on {what}"
    if isinstance(error, KeyboardInterrupt) and not is_raised(error):
        return KeyboardInterrupt(f"interrupted: {text}{place}")
    told = f"{place}: {error}" if isinstance(error, CodecError) else f": {_name(error)}{place}"
    return AgentError(f"{text}{told}", agent.node, now, str(event))


def _text(error: BaseException) -> str:
    """What the error says, if it can; in one line, so that the place after it is seen."""
    try:
        return " ".join(str(error).split())
    except Exception:  # an agent's own class of errors can be as wrong as the agent
        return "it cannot even be written"


def _name(error: BaseException) -> str:
    """The error in one line; what would end the process, and not only the run, is told as that."""
    text = f"{type(error).__name__}: {_text(error)}"
    return text if isinstance(error, Exception) else f"the agent raised {text}, which would end more than the run"
