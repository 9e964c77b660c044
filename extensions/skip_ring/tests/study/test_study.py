"""The workload and the template of the skip ring's sweeps, and what counts as a claim that holds."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from roambus.bridge.formats.ini import parse_scenario
from roambus.bridge.keys import quote
from roambus.bridge.scenario.definition import Publication, Scenario
from roambus.bridge.scenario.plans import commands
from roambus.experiments.claims import Verdict, check
from roambus.experiments.inventory import TEMPLATES
from roambus.experiments.measurements import Measurements
from roambus.experiments.templates.template import find_template
from roambus.extensions.skip_ring.study import metrics as m
from roambus.extensions.skip_ring.study.claims import STEADY_CLAIMS
from roambus.extensions.skip_ring.study.measurements import BY_SUBSCRIBERS
from roambus.extensions.skip_ring.study.scenario import skip_ring_commands
from roambus.python_protocol.events import Subscribe, Unsubscribe
from roambus.python_protocol.roles import Role
from roambus.python_protocol.simtime import SECOND
from roambus.spark.metrics import catalogue as c


def scenario_of(**variables: float | str) -> Scenario:
    run: dict[str, int | float | str | bool] = {"seed": 1, "agent": "skip-ring", "agent_parameters": "round=1s"}
    return parse_scenario(find_template("skip-ring").render({**variables, **run}), Path("run.ini"), TEMPLATES)


@pytest.mark.parametrize("seed", range(5))
def test_only_who_is_there_publishes_and_leaves_and_only_who_is_not_joins(seed: int) -> None:
    """In turn, two seconds apart, after the publications."""
    there = set(range(1, 5))
    orders = commands(quote(skip_ring_commands(seed, 4, 60, 3, 6)))
    assert [order.at for order in orders] == [(60 + 2 * place) * SECOND for place in range(15)]
    assert [order.words[0] for order in orders] == ["publish"] * 3 + ["subscribe", "unsubscribe"] * 6
    for order in orders:
        assert (order.node in there) == (order.words[0] != "subscribe")
        there ^= {order.node} if order.words[0] != "publish" else set()


def test_the_same_seed_gives_the_same_workload() -> None:
    """And another one another."""
    assert skip_ring_commands(1, 8, 60, 5, 5) == skip_ring_commands(1, 8, 60, 5, 5)
    assert skip_ring_commands(1, 8, 60, 5, 5) != skip_ring_commands(2, 8, 60, 5, 5)


def test_a_scenario_from_nothing_has_a_supervisor_and_all_that_happens() -> None:
    """All can reach all; those that join later do not subscribe at the start."""
    scenario = scenario_of(subscribers=4, publications=2, operations=3)
    assert [node.roles for node in scenario.nodes] == [Role.BROKER, *[Role.PUBLISHER | Role.SUBSCRIBER] * 7]
    assert len(scenario.ideal.links) == 8 * 7 / 2
    assert {subscription.node for subscription in scenario.workload.subscriptions} == {1, 2, 3, 4}
    kinds = [type(command.command) for command in scenario.workload.commands]
    assert [kinds.count(kind) for kind in (Publication, Subscribe, Unsubscribe)] == [2, 3, 3]
    assert max(command.at for command in scenario.workload.commands) < scenario.time_limit


def test_a_scenario_from_a_corrupted_state_tells_the_agent_which() -> None:
    """And nothing else happens."""
    scenario = scenario_of(subscribers=4, start="labels", settled=30)
    assert scenario.agent_parameters == {"round": "1s", "corruption": "labels", "nodes": "5"}
    assert scenario.workload.commands == ()
    assert scenario.time_limit == 30 * SECOND


# Claims


def measured_steady(requests: float) -> Measurements:
    """Numbers as the lemmas have them, but for the requests."""
    runs = [
        {
            "agent": agent,
            "subscribers": str(size),
            "seed": seed,
            m.DEGREE_MAX: 2 * size.bit_length() - 3,
            m.DEGREE_MEAN: 4 - 6 / size,
            m.REQUESTS_PER_ROUND: requests + seed / 100,
            m.SENT_PER_NODE_ROUND: 4 - 3 / size,
            m.PER_SUBSCRIBE: 1.0,
            m.PER_UNSUBSCRIBE: 2.0 + seed / 100,
            m.FURTHER: 0.5 - seed / 100,
            m.CATCH_UP_ROUNDS: 1.3 + seed / 100,
            m.CAUGHT_UP: 1.0,
            BY_SUBSCRIBERS: 12 + seed / 100,
            m.ANSWERS_PER_ROUND: 1.6 + seed / 100,
            c.HOPS_MAX: size.bit_length() - 1,
        }
        for agent in ("skip-ring", "ring-only", "frequent")
        for size in (4, 8, 16)
        for seed in range(3)
    ]
    sweep = {"axes": {"subscribers": [4, 8, 16]}, "agents": ["skip-ring", "ring-only", "frequent"]}
    return Measurements(pd.DataFrame(runs), pd.DataFrame(), sweep)


def verdicts(measured: Measurements) -> list[Verdict]:
    return [claim.verdict for claim in check(STEADY_CLAIMS, measured)]


def test_claims_hold_on_numbers_as_the_lemmas_have_them() -> None:
    """All of them."""
    assert verdicts(measured_steady(0.6)) == [Verdict.HOLDS] * len(STEADY_CLAIMS)


def test_more_than_one_request_a_round_is_against_the_lemma() -> None:
    """And against nothing else."""
    against = [
        place for place, verdict in enumerate(verdicts(measured_steady(1.6))) if verdict is Verdict.DOES_NOT_HOLD
    ]
    first, second = (STEADY_CLAIMS[place].text for place in against)
    assert first.startswith("Configuration requests (lemma of section 3.2.1)")
    assert second == "The same, as published."
