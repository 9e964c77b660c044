"""Hands an agent messages that it does not know: of another protocol, or of a later version of its own."""

from __future__ import annotations

from collections.abc import Iterator

from roambus.bridge.host.agents import handler_of, make_agents, place_of
from roambus.bridge.scenario.scenario import Scenario
from roambus.experiments.vetting.finding import Finding, of_error
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.events import Received, Sited, Started, TimerFired
from roambus.python_protocol.messages.fields import U8
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.simtime import MILLISECOND

CHECK = "unknown messages"


class Stranger(Message, tag=255, name="STRANGER"):
    """A message that no agent knows."""

    number: U8


def check_strangers(agent_class: type[Agent], scenario: Scenario) -> Iterator[Finding]:
    """A finding if an agent raises for a message, or a timer, that is none of its own."""
    sited = () if scenario.sites is None else (Sited(scenario.sites),)
    for agent in make_agents(scenario, agent_class):
        handle = handler_of(agent)
        stranger = Received((agent.node + 1) % len(scenario.nodes), Stranger(agent.node), -80.0, 10.0)
        unknown = (stranger, stranger, TimerFired("a timer of nobody's"))
        for now, event in enumerate((Started(), *sited, *unknown)):
            try:
                list(handle(event, now * MILLISECOND))
            except Exception as error:
                if event in unknown:
                    text = f"on {event}, {type(error).__name__}: {error}{place_of(error, agent, event, None)}"
                    yield of_error(CHECK, Exception(f"{text}: what an agent does not know, it ignores"))
                return
