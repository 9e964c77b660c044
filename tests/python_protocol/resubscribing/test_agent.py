"""The whole agent, over bare ideal links on trees that change."""

from __future__ import annotations

from hypothesis import given, settings

from bridge.scenario import Command, ParentChange, Publication, Workload
from python_protocol.events import Subscribe, Unsubscribe
from python_protocol.filters import Filter
from python_protocol.resubscribing import Resubscribing
from python_protocol.roles import Role
from python_protocol.simtime import SECOND
from tests.support.moving_trees import Plan, carry_out, plans
from tests.support.runs import of
from tests.support.trees import run_on_tree

P, S, B = Role.PUBLISHER, Role.SUBSCRIBER, Role.BROKER
KINDS = ("move", "roam", "subscribe", "unsubscribe", "publish")


@given(plans(kinds=KINDS, crossing=False))
@settings(max_examples=60)
def test_everything_comes_once_after_any_migrations_with_quiet_between(plan: Plan) -> None:
    """Every broker's probe reaches each subscriber that wants it once, and nobody else, whoever has moved."""
    assert carry_out(Resubscribing, plan).undelivered() == set()


def test_a_client_between_brokers_misses_nothing() -> None:
    """What is published while it has no broker is stored where it was last, and follows its SUB."""
    workload = Workload(
        commands=(
            Command(SECOND, 3, Subscribe(Filter())),
            Command(3 * SECOND, 0, Publication((("topic", "n"),))),
        )
    )
    moves = [ParentChange(2 * SECOND, 3, None), ParentChange(4 * SECOND, 3, 2)]
    rows = run_on_tree(Resubscribing, {1: 0, 2: 0, 3: 1}, [B | P, B, B, S], workload, moves=moves)
    (delivery,) = of(rows, "deliver")
    assert (delivery["node"], delivery["notification_id"]) == (3, "0.0")
    assert delivery["time_s"] > 4


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
