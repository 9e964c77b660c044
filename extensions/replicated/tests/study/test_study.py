"""The claims about replicated brokers: numbers that agree with them, and numbers that do not."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

import pandas as pd
import pytest

from roambus.experiments.claims import ClaimTest, Verdict, check
from roambus.experiments.figures.figure import look_up
from roambus.experiments.measurements import Measurements
from roambus.extensions.replicated.study.claims import FAULT_CLAIMS, ORDER_CLAIMS, ROUTING_CLAIMS, SITES_CLAIMS
from roambus.extensions.replicated.study.metrics import (
    EVENT_MESSAGES,
    EXTRA,
    LATE_PER_CENT,
    LONGEST_DELAY_S,
    SITE_BYTES,
    SITE_MESSAGES,
)
from roambus.extensions.replicated.study.study import STUDY
from roambus.python_protocol.simtime import parse_time, to_seconds
from roambus.spark.aggregation.aggregate import mean_points
from roambus.spark.metrics import catalogue as c

Make = Callable[[Mapping[str, str], Random], dict[str, float]]
SHARES, SIZES, TIME_OUTS = ("0", "0.5", "1"), ("3", "7"), ("50ms", "200ms")
EVERYWHERE = ("each-crash", "each-freeze", "sequencer-freeze")
FAULTS = ("leader-crash", "leader-freeze", "replica-crash", "replica-freeze")


def measured(agents: Sequence[str], axes: Mapping[str, Sequence[str]], make: Make) -> Measurements:
    """Four seeds of each place."""
    runs = []
    for agent, *place in itertools.product(agents, *axes.values()):
        at = {"agent": agent, **dict(zip(axes, place, strict=True))}
        runs += [{**at, "seed": seed, **make(at, Random(f"{at}/{seed}"))} for seed in range(4)]
    sweep: dict[str, Any] = {
        "template": "replicated.ini.j2",
        "axes": {axis: list(values) for axis, values in axes.items()},
        "agents": {agent: [agent, {}] for agent in agents},
        "seeds": [0, 1, 2, 3],
    }
    frame = pd.DataFrame(runs)
    return Measurements(frame, mean_points(frame), sweep, metrics=(*c.METRICS, *EXTRA.metrics))


def as_the_paper_says(at: Mapping[str, str], random: Random) -> dict[str, float]:
    agent, noise = at["agent"], random.uniform(0, 0.1)
    flooded = 14.0
    sent = flooded * float(at.get("interested", 1)) if agent == "filtering" else flooded
    wait = 3 * to_seconds(parse_time(at.get("time_out", "1s"))) if at.get("fault") == "leader-freeze" else 0.0
    return {
        SITE_MESSAGES: sent,
        SITE_BYTES: 30 * sent,
        EVENT_MESSAGES: 100 + noise + (50 if agent == "total" else 0),
        c.DELAY_MEAN_S: 0.01 + noise / 100 + (0.01 if agent == "total" else 0),
        LONGEST_DELAY_S: 0.02 + noise / 100 + wait,
        LATE_PER_CENT: noise + (5 if agent == "total" else 1),
        c.EXPECTED: 100,
        c.DELIVERED: 100,
        c.duplicates.column: 0,
    }


def contrary(at: Mapping[str, str], random: Random) -> dict[str, float]:
    """All the other way round."""
    numbers = as_the_paper_says(at, random)
    agent = at["agent"]
    numbers[SITE_MESSAGES] = {"filtering": 20.0, "filtering-updates": 3.0}.get(agent, 14.0)
    numbers[EVENT_MESSAGES] -= 90 if agent == "total" else 0
    numbers[c.DELAY_MEAN_S] -= 0.019 if agent == "total" else 0
    numbers[LONGEST_DELAY_S] = 0.5 if at.get("fault", "").endswith("crash") else 0.3 + random.uniform(0, 0.01)
    numbers[c.DELIVERED] = 90
    numbers[LATE_PER_CENT] = random.uniform(0, 0.1) + (1 if agent == "total" else 5)
    return numbers


CASES = [
    (("flooding", "filtering", "filtering-updates"), {"interested": SHARES}, ROUTING_CLAIMS),
    (("none", "fifo", "total"), {"sites": SIZES}, ORDER_CLAIMS),
    (("replicated",), {"fault": FAULTS, "time_out": TIME_OUTS}, FAULT_CLAIMS),
    (("none", "fifo", "total"), {"fault": EVERYWHERE}, SITES_CLAIMS),
]


@pytest.mark.parametrize(("agents", "axes", "claims"), CASES, ids=["routing", "order", "faults", "sites"])
def test_verdicts_follow_the_numbers(
    agents: Sequence[str], axes: Mapping[str, Sequence[str]], claims: Sequence[ClaimTest]
) -> None:
    """Each claim holds on numbers as the paper has them, and on contrary ones it does not."""
    for make, verdict in ((as_the_paper_says, Verdict.HOLDS), (contrary, Verdict.DOES_NOT_HOLD)):
        found = check(claims, measured(agents, axes, make))
        assert [claim.verdict for claim in found] == [verdict] * len(claims), found


@pytest.mark.parametrize(
    ("case", "sweep"), list(zip(CASES, STUDY.sweeps, strict=True)), ids=["routing", "order", "faults", "sites"]
)
def test_every_figure_has_all_lines(case: tuple[Any, ...], sweep: Any) -> None:
    """One for each variant, or for each kind of failure."""
    agents, axes, _ = case
    numbers = measured(agents, axes, as_the_paper_says)
    lines = len(axes["fault"]) if len(agents) == 1 else len(agents)
    figures = [look_up(numbers, plan) for plan in sweep.plans(numbers)]
    assert [len(figure.series) for figure in figures] == [lines] * len(figures)
    assert figures
    assert all("|" in text for text in sweep.tables(numbers).values())
