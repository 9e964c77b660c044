"""The whole agent, over bare ideal links on trees that change."""

from __future__ import annotations

from roambus.bridge.scenario.definition import Command, Publication, Workload
from roambus.bridge.scenario.plans import ParentChange
from roambus.extensions.first_approach.resubscribing import Resubscribing
from roambus.python_protocol.events import Subscribe, Unsubscribe
from roambus.python_protocol.filters import Filter
from roambus.python_protocol.roles import Role
from roambus.python_protocol.simtime import SECOND
from tests.support.trees import run_on_tree

P, S, B = Role.PUBLISHER, Role.SUBSCRIBER, Role.BROKER


def test_an_unsubscription_without_a_broker_is_said_to_the_next() -> None:
    """Nothing of it is left anywhere: the notification goes nowhere."""
    workload = Workload(
        commands=(
            Command(SECOND, 3, Subscribe(Filter())),
            Command(3 * SECOND, 3, Unsubscribe(Filter())),
            Command(5 * SECOND, 0, Publication((("topic", "n"),))),
        )
    )
    moves = [ParentChange(2 * SECOND, 3, None), ParentChange(4 * SECOND, 3, 2)]
    rows = run_on_tree(Resubscribing, {1: 0, 2: 0, 3: 1}, [B | P, B, B, S], workload, moves=moves)
    assert [row["event"] for row in rows if row["time_s"] > 5 and row["event"] in ("route", "send", "deliver")] == []
