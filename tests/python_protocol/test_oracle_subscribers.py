"""Who the subscribers are is known to the scenario; the agents that use it say so, and no others do."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from random import Random

import pytest

from roambus.bridge.agents import load_agent, own_agents
from roambus.python_protocol.actions import Note
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.events import Event, Publish, Started
from roambus.python_protocol.filters import Notification, NotificationId
from roambus.python_protocol.roles import NodeId, Role
from roambus.python_protocol.settings import parameter_settings, parse_parameters
from roambus.python_protocol.simtime import SECOND

GIVEN = {"sites": "only:0..2/3"}
"""Values of parameters that must be given."""


def publishing(kind: type[Agent], subscribers: tuple[NodeId, ...]) -> tuple[Sequence[object], bytes]:
    """What a node asks for when it publishes twice, without what it notes, and all that it knows then."""
    given = {name: text for name, text in GIVEN.items() if name in parameter_settings(kind.parameters_type)}
    broker = Role.NONE if given else Role.BROKER  # at a site, brokers have no application
    parameters = parse_parameters(kind.parameters_type, given)
    agent = kind(3, Role.PUBLISHER | Role.SUBSCRIBER | broker, parameters, Random(1))
    news = [Notification(NotificationId(3, number), (("topic", "news"),)) for number in range(2)]
    events: list[Event] = [Started(), *(Publish(notification, subscribers) for notification in news)]
    actions = [action for time, event in enumerate(events) for action in agent.handle(event, time * SECOND)]
    return [action for action in actions if not isinstance(action, Note)], pickle.dumps(vars(agent))


@pytest.mark.parametrize("name", own_agents())
def test_only_agents_that_say_so_use_what_the_scenario_tells(name: str) -> None:
    """All others do and know the same, whoever the subscribers are."""
    kind = load_agent(name)
    differs = publishing(kind, ()) != publishing(kind, (7, 9))
    assert differs == kind.oracle_subscribers
