"""The whole agents of the family over bare ideal links, on a tree that the scenario gives."""

from __future__ import annotations

import pytest

from roambus.bridge.scenario.definition import Publications, Subscription, Workload
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.filters import Filter
from roambus.python_protocol.roles import Role
from roambus.python_protocol.simtime import SECOND
from tests.support.family import broker_agents
from tests.support.runs import of
from tests.support.trees import run_on_tree

P, S, B = Role.PUBLISHER, Role.SUBSCRIBER, Role.BROKER
BINARY = {1: 0, 2: 0, 3: 1, 4: 1, 5: 2, 6: 2}
AGENTS = broker_agents()
WORKLOAD = Workload(
    tuple(Subscription(node, SECOND, Filter()) for node in (0, 3, 5, 7, 8)),
    tuple(Publications(node, 2 * SECOND, 5 * SECOND, SECOND, (("topic", "n"),), 20) for node in (0, 7, 8)),
)


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("link_layer", ["true", "false"])
def test_everything_arrives_once_on_a_static_tree(agent: type[Agent], link_layer: str) -> None:
    """Brokers with and without clients on their nodes, clients with and without one role; own publications included."""
    roles = [B | P | S, B, B, B | S, B, B | S, B, P | S, P | S]
    rows = run_on_tree(agent, BINARY | {7: 4, 8: 6}, roles, WORKLOAD, parameters={"link_layer": link_layer})
    assert len(of(rows, "publish")) == 9
    delivered = sorted((row["node"], row["notification_id"]) for row in of(rows, "deliver"))
    ids = [row["notification_id"] for row in of(rows, "publish")]
    assert delivered == sorted((node, event_id) for node in (0, 3, 5, 7, 8) for event_id in ids)
    assert of(rows, "drop") == []


@pytest.mark.parametrize("agent", AGENTS)
def test_the_trace_tells_for_whom_a_notification_was_taken_on(agent: type[Agent]) -> None:
    """Metrics count these pairs as attempted."""
    roles = [B | P | S, B, B, B | S, B, B | S, B, P | S, P | S]
    rows = run_on_tree(agent, BINARY | {7: 4, 8: 6}, roles, WORKLOAD)
    pairs = {(row["notification_id"], node) for row in of(rows, "route") for node in row["detail"].split()}
    assert pairs == {(row["notification_id"], node) for row in of(rows, "publish") for node in "03578"}
