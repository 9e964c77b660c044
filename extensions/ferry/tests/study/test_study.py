"""The study of ferries: its islands, its figures and its claims, on small tables and runs."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from pathlib import Path

import pandas as pd
import pytest

from roambus.bridge.agents import load_agent
from roambus.bridge.backend import BackendFactory
from roambus.bridge.backends.ideal.backend import IdealFactory
from roambus.bridge.backends.radio.backend import RadioFactory
from roambus.bridge.formats.ini import parse_scenario
from roambus.bridge.host.event_loop import Host
from roambus.bridge.mobility.random_waypoint import RandomWaypoint
from roambus.bridge.mobility.steered import Steered
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.trace.parquet import TraceWriter
from roambus.experiments.claims import Verdict, check
from roambus.experiments.inventory import TEMPLATES
from roambus.experiments.measurements import Measurements
from roambus.experiments.templates.template import Values, find_template
from roambus.extensions.ferry.study.claims import CLAIMS, CRASH_CLAIMS
from roambus.extensions.ferry.study.metrics import (
    BYTES_A_DELIVERY,
    FERRY,
    LONGEST_QUEUE,
    METRES_FLOWN,
    QUIET_DELAY,
)
from roambus.extensions.ferry.study.study import crash_plans, ferry_plans
from roambus.python_protocol.simtime import SECOND
from roambus.spark.aggregation.aggregate import mean_points
from roambus.spark.metrics import catalogue as c

Effects = Mapping[tuple[str, str], tuple[float, float, float, float, float]]
"""Of an agent with so many ferries: delivery, delay, bytes, longest queue, delay from quiet islands."""
AS_CLAIMED: Effects = {
    ("ferry-fixed", "1"): (0.95, 100, 100, 8, 100),
    ("ferry-fixed", "4"): (0.99, 30, 100, 2, 30),
    ("ferry-need", "1"): (0.90, 60, 100, 8, 150),
    ("ferry-need", "4"): (0.98, 40, 100, 2, 60),
    ("epidemic", "1"): (0.40, 200, 500, 30, 200),
    ("epidemic", "4"): (0.80, 90, 500, 30, 90),
}


def measurements(effects: Effects, halved: float = 0.5) -> Measurements:
    """Three seeds at two speeds and kinds of traffic; the faster has so much of the delay."""
    runs = pd.DataFrame(
        {
            "agent": agent,
            "ferries": ferries,
            "speed": speed,
            "traffic": traffic,
            "seed": seed,
            c.DELIVERY_RATE_ALL: rate + 0.001 * seed * len(agent) * float(ferries),
            c.DELAY_MEAN_S: delay * (1 if speed == "5" else halved) + 0.1 * seed * len(agent),
            BYTES_A_DELIVERY: size + seed * len(agent),
            LONGEST_QUEUE: queue * (1 + 0.01 * seed * float(ferries)),
            QUIET_DELAY: quiet + seed * len(agent),
            METRES_FLOWN: 1000.0 + seed,
        }
        for ((agent, ferries), (rate, delay, size, queue, quiet)), speed, traffic, seed in itertools.product(
            effects.items(), ("5", "10"), ("even", "uneven"), range(3)
        )
    )
    return Measurements(runs, mean_points(runs), metrics=(*c.METRICS, *FERRY.metrics))


def crashes(after: float) -> Measurements:
    """Delivery of 0.95 without a crash, and with one this."""
    runs = pd.DataFrame(
        {"agent": agent, "crash": crash, "seed": seed, c.DELIVERY_RATE_ALL: rate + 0.001 * seed * len(crash)}
        for agent, (crash, rate), seed in itertools.product(
            ("ferry-fixed", "ferry-need"), (("none", 0.95), ("one", after)), range(3)
        )
    )
    return Measurements(runs, mean_points(runs))


def test_claims_hold_where_the_numbers_are_as_claimed() -> None:
    """Each has a verdict of its own."""
    assert [claim.verdict for claim in check(CLAIMS, measurements(AS_CLAIMED))] == [Verdict.HOLDS] * len(CLAIMS)
    assert [claim.verdict for claim in check(CRASH_CLAIMS, crashes(0.90))] == [Verdict.HOLDS]


@pytest.mark.parametrize(
    ("agent", "ferries", "effects", "number"),
    [
        ("ferry-need", "4", (0.50, 40, 100, 2, 60), 1),
        ("ferry-need", "1", (0.90, 60, 900, 8, 150), 2),
        ("epidemic", "4", (0.20, 90, 500, 30, 90), 4),
        ("ferry-fixed", "4", (0.99, 30, 100, 1, 30), 5),
        ("ferry-need", "1", (0.90, 160, 100, 8, 150), 6),
        ("ferry-need", "1", (0.90, 60, 100, 8, 50), 7),
        ("ferry-need", "4", (0.98, 20, 100, 2, 60), 8),
    ],
)
def test_a_claim_does_not_hold_where_the_numbers_are_otherwise(
    agent: str, ferries: str, effects: tuple[float, float, float, float, float], number: int
) -> None:
    """It is the one that these numbers are about."""
    claims = check(CLAIMS, measurements({**AS_CLAIMED, (agent, ferries): effects}))
    assert claims[number - 1].verdict is Verdict.DOES_NOT_HOLD


def test_a_faster_ferry_that_is_no_better_breaks_its_claim() -> None:
    """The delay at 10 m/s is one and a half times that at 5 m/s."""
    assert check(CLAIMS, measurements(AS_CLAIMED, 1.5))[2].verdict is Verdict.DOES_NOT_HOLD


@pytest.mark.parametrize("after", [0.5, 0.99])
def test_a_crash_that_costs_half_or_nothing_breaks_its_claim(after: float) -> None:
    """Delivery has to fall, and to stay above 0.8."""
    assert check(CRASH_CLAIMS, crashes(after))[0].verdict is Verdict.DOES_NOT_HOLD


def test_there_is_a_figure_for_each_metric_speed_and_traffic() -> None:
    """Over ferries; and one of crashes."""
    plans = list(ferry_plans(measurements(AS_CLAIMED)))
    assert len({plan.name for plan in plans}) == len(plans) == 24
    assert {plan.x for plan in plans} == {"ferries"}
    assert [plan.x for plan in crash_plans(crashes(0.9))] == ["crash"]


# The template


def islands(agent: str, **variables: str | float) -> Scenario:
    template = find_template("islands")
    given: Values = {"seed": 0, "agent": agent, "agent_parameters": "", "ferries": 2, **variables}
    return parse_scenario(template.render(given), template.file, TEMPLATES)


@pytest.mark.parametrize(
    ("agent", "movement", "kind"),
    [
        ("ferry-need", "own", Steered),
        ("epidemic", "own", RandomWaypoint),
        ("ferry-fixed", "waypoint", RandomWaypoint),
        ("epidemic", "agent", Steered),
    ],
)
def test_ferries_go_by_their_agent_or_at_random(agent: str, movement: str, kind: type[object]) -> None:
    """Islands stand still; a ferry that roams has no tour."""
    scenario = islands(agent, movement=movement)
    moving = [node for node, settings in enumerate(scenario.nodes) if isinstance(settings.mobility, kind)]
    assert moving == [16, 17]
    is_touring = agent.startswith("ferry-") and movement == "own"
    assert ("islands" in scenario.agent_parameters) == is_touring


def test_islands_are_out_of_range_and_want_each_other_in_pairs() -> None:
    """Quiet ones publish an eighth as often, and the last ferry crashes."""
    scenario = islands("ferry-fixed", quiet=8, crash_at=200)
    interests = [
        (publication.node // 4, dict(publication.attributes)["topic"]) for publication in scenario.workload.publications
    ]
    assert set(interests) == {(island, island) for island in range(4)}
    assert [publication.interval // SECOND for publication in scenario.workload.publications[::4]] == [15, 15, 120, 120]
    assert [(fault.node, fault.at) for fault in scenario.faults] == [(17, 200 * SECOND)]


@pytest.mark.parametrize("agent", ["ferry-fixed", "ferry-need"])
@pytest.mark.parametrize("factory", [IdealFactory(), RadioFactory()], ids=["ideal", "radio"])
def test_ferries_deliver_between_islands(agent: str, factory: BackendFactory, tmp_path: Path) -> None:
    """On both back-ends, all that was published a tour and more before the end."""
    scenario, kind = islands(agent, speed=15, publish_until=20, time_limit=100), load_agent(agent)
    trace = TraceWriter()
    Host(scenario, kind, factory.make(scenario, kind, TEMPLATES), trace).run()
    rows = trace.table().to_pandas()
    published, got = (rows[rows.event == event] for event in ("publish", "deliver"))
    assert len(published) == 10
    assert len(got) == published.detail.str.split().str.len().sum()
