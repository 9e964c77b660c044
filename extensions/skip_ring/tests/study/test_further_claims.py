"""The further claims about the skip ring: numbers that agree with them, numbers that do not, and what is run."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

import pandas as pd
import pytest

from roambus.bridge.scenario.plans import FaultKind
from roambus.experiments.claims import ClaimTest, Verdict, check
from roambus.experiments.figures.figure import look_up
from roambus.experiments.measurements import Measurements
from roambus.extensions.skip_ring.study import claims as f
from roambus.extensions.skip_ring.study.claims import STEADY_CLAIMS
from roambus.extensions.skip_ring.study.measurements import (
    BY_SUBSCRIBERS,
    INFORMED,
    KNOWN_SENT,
    MOST_JOINS,
    RESTORED,
    ROUNDS_TO_INFORM,
    ROUNDS_TO_RESTORE,
    TWO_CONSECUTIVE,
)
from roambus.extensions.skip_ring.study.metrics import ANSWERS_PER_ROUND
from roambus.extensions.skip_ring.study.scenario import skip_ring_crashes
from roambus.extensions.skip_ring.study.study import STUDY
from roambus.extensions.skip_ring.tests.study.test_study import scenario_of
from roambus.python_protocol.events import Subscribe, Unsubscribe
from roambus.python_protocol.simtime import SECOND
from roambus.spark.aggregation.aggregate import mean_points
from roambus.spark.metrics.catalogue import METRICS

Make = Callable[[Mapping[str, str], Random], dict[str, float]]
SIZES = ("8", "16", "32")
CASES: dict[str, tuple[Mapping[str, Sequence[str]], Sequence[ClaimTest]]] = {
    "skip-ring-publications": ({"start": tuple(f.FULL_STARTS), "subscribers": SIZES}, f.PUBLICATION_CLAIMS),
    "skip-ring-joins": ({"subscribers": SIZES}, f.JOIN_CLAIMS),
    "skip-ring-crashes": ({"crashed": ("0.01", "0.75"), "subscribers": SIZES}, f.CRASH_CLAIMS),
    "skip-ring-topics": ({"topics": ("1", "2", "4"), "subscribers": SIZES}, f.TOPIC_CLAIMS),
}


def measured(name: str, make: Make) -> Measurements:
    """Four seeds of each place."""
    axes, runs = CASES[name][0], []
    for place in itertools.product(*axes.values()):
        at = {"agent": "skip-ring", **dict(zip(axes, place, strict=True))}
        runs += [{**at, "seed": seed, **make(at, Random(f"{at}/{seed}"))} for seed in range(4)]
    sweep: dict[str, Any] = {
        "axes": {axis: list(values) for axis, values in axes.items()},
        "agents": {"skip-ring": ["skip-ring", {}]},
    }
    (extra,) = [sweep.extra for sweep in STUDY.sweeps if sweep.name == name]
    return Measurements(pd.DataFrame(runs), mean_points(pd.DataFrame(runs)), sweep, metrics=(*METRICS, *extra.metrics))


def as_the_paper_says(at: Mapping[str, str], random: Random) -> dict[str, float]:
    return {
        INFORMED: 1,
        ROUNDS_TO_INFORM: 10 + random.random(),
        KNOWN_SENT: random.random() / 10,
        TWO_CONSECUTIVE: 1,
        MOST_JOINS: 2,
        RESTORED: 1,
        ROUNDS_TO_RESTORE: 10 + random.random(),
        ANSWERS_PER_ROUND: (1.6 + random.random() / 100) * float(at.get("topics", 1)),
    }


def contrary(at: Mapping[str, str], random: Random) -> dict[str, float]:
    """Not all get anything, joins concern many, rings are not restored, and the supervisor's work grows otherwise."""
    noise, topics = random.random() / 10, float(at.get("topics", 1))
    return {
        INFORMED: 0.8 + noise,
        KNOWN_SENT: 20 + noise,
        TWO_CONSECUTIVE: 0.5 + noise,
        MOST_JOINS: 5 + noise,
        RESTORED: 0.5 + noise,
        ANSWERS_PER_ROUND: topics**2 * float(at["subscribers"]) + noise,
    }


@pytest.mark.parametrize("name", CASES)
def test_verdicts_follow_the_numbers(name: str) -> None:
    """Each claim holds on numbers as the paper has them, and on contrary ones it does not."""
    claims = CASES[name][1]
    for make, verdict in ((as_the_paper_says, Verdict.HOLDS), (contrary, Verdict.DOES_NOT_HOLD)):
        assert [claim.verdict for claim in check(claims, measured(name, make))] == [verdict] * len(claims)


@pytest.mark.parametrize("name", CASES)
def test_every_figure_has_lines(name: str) -> None:
    """Of all sweeps that came later."""
    numbers = measured(name, as_the_paper_says)
    (sweep,) = [sweep for sweep in STUDY.sweeps if sweep.name == name]
    figures = [look_up(numbers, plan) for plan in sweep.plans(numbers)]
    assert figures
    assert all(figure.series for figure in figures)


def test_what_operations_cost_subscribers_may_not_grow() -> None:
    """By a message with each doubling."""
    (claim,) = [claim for claim in STEADY_CLAIMS if "the subscribers send" in claim.text]
    for growth, verdict in ((0.5, Verdict.HOLDS), (2, Verdict.DOES_NOT_HOLD)):
        runs = [
            {
                "agent": "skip-ring",
                "subscribers": size,
                "seed": seed,
                BY_SUBSCRIBERS: growth * place + (seed + place) % 3 / 100,
            }
            for place, size in enumerate(SIZES)
            for seed in range(3)
        ]
        sweep = {"axes": {"subscribers": list(SIZES)}, "agents": ["skip-ring"]}
        found = check([claim], Measurements(pd.DataFrame(runs), pd.DataFrame(), sweep))
        assert [claim.verdict for claim in found] == [verdict]


def test_a_share_of_the_subscribers_crashes_rounded_up() -> None:
    """At the time when all have settled; with a share of nothing nobody does."""
    scenario = scenario_of(subscribers=8, operations=0, publications=0, crashed=0.26, settled=30)
    assert len(scenario.faults) == 3
    assert {(fault.at, fault.kind) for fault in scenario.faults} == {(30 * SECOND, FaultKind.CRASH)}
    assert all(1 <= fault.node <= 8 for fault in scenario.faults)
    assert skip_ring_crashes(1, 8, 0) == []


def test_topics_go_round_among_the_subscribers() -> None:
    """And what somebody publishes is about the topic that it has."""
    scenario = scenario_of(subscribers=6, operations=0, publications=1, topics=3)
    wanted = {subscription.node: str(subscription.filter) for subscription in scenario.workload.subscriptions}
    assert wanted == {node: f"topic = {(node - 1) % 3 + 1}" for node in range(1, 7)}


def test_without_departures_there_are_joins_alone() -> None:
    """As many as are asked for."""
    scenario = scenario_of(subscribers=4, operations=4, publications=0, departing=False)
    kinds = [type(command.command) for command in scenario.workload.commands]
    assert (kinds.count(Subscribe), kinds.count(Unsubscribe)) == (4, 0)
