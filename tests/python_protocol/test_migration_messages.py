"""Messages that migrations cause: the agents declare them, and metrics count them."""

from __future__ import annotations

import pytest

from roambus.bridge.agents import load_agent, own_agents
from roambus.python_protocol.brokers.broker import Pub


@pytest.mark.parametrize("name", own_agents())
def test_an_agent_declares_messages_of_its_own(name: str) -> None:
    """A message that the agent never sends would count for nothing."""
    kind = load_agent(name)
    assert set(kind.migration_messages) <= set(kind.messages)


MIGRATING = {"mft", "first-approach", "phoenix", "resubscribing", "caching"}


@pytest.mark.parametrize("name", sorted(MIGRATING.intersection(own_agents())))
def test_protocols_that_migrate_say_what_a_migration_costs(name: str) -> None:
    """Notifications are no cost of migrations."""
    kind = load_agent(name)
    assert kind.migration_messages
    assert Pub not in kind.migration_messages
