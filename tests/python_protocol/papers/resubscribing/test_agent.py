"""The whole agent, over bare ideal links on trees that change."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings

from roambus.bridge.scenario.definition import Command, Publication, Workload
from roambus.bridge.scenario.plans import ParentChange
from roambus.python_protocol.events import Subscribe, Unsubscribe
from roambus.python_protocol.filters import Filter
from roambus.python_protocol.papers.resubscribing import Resubscribing
from roambus.python_protocol.vocabulary import SECOND, Role
from tests.support.moving_trees import Plan, carry_out, plans
from tests.support.trees import run_on_tree

P, S, B = Role.PUBLISHER, Role.SUBSCRIBER, Role.BROKER


def whole(plan: Plan) -> Plan:
    """The plan without what parts the network."""
    return replace(plan, steps=tuple(step for step in plan.steps if step.kind not in ("cut", "join")))


@given(plans(crossing=False, faults=False).map(whole))
@settings(max_examples=60)
def test_everything_comes_once_after_any_migrations_with_quiet_between(plan: Plan) -> None:
    """Every broker's probe reaches each subscriber that wants it, whoever has moved, and every table is right."""
    result = carry_out(Resubscribing, plan)
    assert result.undelivered() == set()
    assert result.phantoms() is None
    assert result.doubled() == set()
    assert result.restless() == []


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
