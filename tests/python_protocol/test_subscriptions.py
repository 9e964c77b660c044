"""Subscriptions of a node's application: a filter counts once, however often the application subscribes to it."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

import pytest

from roambus.bridge.agents import load_agent, own_agents
from roambus.python_protocol.actions import Action, Deliver
from roambus.python_protocol.events import Crashed, Publish, Recovered, Started, Subscribe, Unsubscribe
from roambus.python_protocol.filters import Filter, Notification, NotificationId, parse_filter
from roambus.python_protocol.roles import Role
from roambus.python_protocol.simtime import SECOND

NEWS, ALL = parse_filter("topic = 'news'"), Filter()
NAMES = {"flooding", "gossip", "gossip-repair", "mft-lean", "aodv", "epidemic", "spray", "prophet", "mft"}
AGENTS = pytest.mark.parametrize("name", sorted(NAMES.intersection(own_agents())))


def delivered(name: str, *events: object) -> int:
    """How many notifications a node delivers that publishes itself after these events."""
    kind = load_agent(name)
    agent = kind(3, Role.PUBLISHER | Role.SUBSCRIBER | Role.BROKER, kind.parameters_type(), Random(1))
    actions: list[Action] = []
    for time, event in enumerate([Started(), *events, *published()]):
        actions += agent.handle(event, time * SECOND)  # type: ignore[arg-type]  # events of all kinds
    return sum(isinstance(action, Deliver) for action in actions)


def published() -> Iterable[Publish]:
    return [Publish(Notification(NotificationId(3, number), (("topic", "news"),)), (3,)) for number in range(2)]


@AGENTS
def test_a_filter_that_is_subscribed_to_twice_ends_with_one_unsubscription(name: str) -> None:
    """As metrics count what is expected."""
    assert delivered(name, Subscribe(NEWS), Subscribe(NEWS)) == 2
    assert delivered(name, Subscribe(NEWS), Subscribe(NEWS), Unsubscribe(NEWS)) == 0


@AGENTS
def test_another_filter_that_matches_stays(name: str) -> None:
    """Filters are told apart by their constraints, not by what they match."""
    assert delivered(name, Subscribe(NEWS), Subscribe(ALL), Unsubscribe(NEWS), Unsubscribe(NEWS)) == 2


@AGENTS
def test_subscriptions_survive_a_crash(name: str) -> None:
    """The application subscribes only once."""
    assert delivered(name, Subscribe(NEWS), Crashed(), Recovered()) == 2
