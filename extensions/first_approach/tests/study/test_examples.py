"""The cost of the thesis' simple migration (the thesis, figures 3.1 and 4.1), counted from the trace of a whole run."""

from __future__ import annotations

from pathlib import Path

import pytest

from roambus.bridge.runs.layout import find_traces
from roambus.bridge.scenario.definition import Subscription, Workload
from roambus.bridge.scenario.plans import ParentChange
from roambus.extensions.first_approach.agent import FirstApproach
from roambus.extensions.first_approach.resubscribing import Resubscribing
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.filters import parse_filter
from roambus.python_protocol.mft import MftPubSub
from roambus.python_protocol.roles import Role
from roambus.python_protocol.simtime import SECOND
from roambus.spark.aggregation.aggregate import metrics_of
from roambus.spark.aggregation.traces import list_traces
from roambus.spark.metrics import catalogue as c
from tests.spark.synthetic import write_trace
from tests.support.runs import Row
from tests.support.trees import run_on_tree

FIGURE_3_1 = {1: 0, 2: 0, 3: 1, 4: 1, 5: 2, 6: 2}
"""b1 is node 0, and so on; b3 (node 2) goes from b1 to b2 (node 1)."""


def simple_migration(agent: type[Agent]) -> list[Row]:
    """The trace's rows; s_i subscribes to f_i at b_i."""
    subscriptions = tuple(Subscription(node, SECOND, parse_filter(f"topic = {node}")) for node in range(7))
    roles = [Role.SUBSCRIBER | Role.BROKER] * 7
    return run_on_tree(agent, FIGURE_3_1, roles, Workload(subscriptions), moves=[ParentChange(2 * SECOND, 2, 1)])


@pytest.mark.usefixtures("session")
def test_the_simple_migration(tmp_path: Path) -> None:
    """Thirteen messages by the first approach (section 3.4), two by MFT-PubSub (4.4), or three SUBs over four links."""
    agents: dict[str, type[Agent]] = {"first": FirstApproach, "mft": MftPubSub, "resubscribing": Resubscribing}
    for name, agent in agents.items():
        migrating = [message.message_type for message in agent.migration_messages]
        write_trace(tmp_path, f"agent={name}/seed=0", simple_migration(agent), migrating=migrating)
    metrics, _ = metrics_of(tmp_path, list_traces(find_traces(tmp_path))[0])
    metrics = metrics.set_axis([run.split("/")[0].removeprefix("agent=") for run in metrics.index]).loc[list(agents)]
    assert metrics[c.migrations.column].to_list() == [1, 1, 1]
    assert dict(zip(agents, metrics[c.messages_per_migration.column], strict=True)) == {
        "first": 13,
        "mft": 2,
        "resubscribing": 12,
    }
