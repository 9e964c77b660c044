"""The claims about caching: numbers that agree with them, and numbers that do not."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

import pandas as pd
import pytest

from roambus.experiments.claims import ClaimTest, Verdict, check
from roambus.experiments.figures.figure import look_up
from roambus.experiments.measurements import Measurements
from roambus.extensions.caching.study import metrics as c
from roambus.extensions.caching.study.claims import ABSENCE_CLAIMS, BROKERS_CLAIMS, RATE_CLAIMS, SIZE_CLAIMS
from roambus.extensions.caching.study.study import brokers_plans, size_plans
from roambus.spark.aggregation.aggregate import mean_points
from roambus.spark.metrics.catalogue import METRICS

Make = Callable[[Mapping[str, str], Random], dict[str, float]]
LOADS = {"load": ("0.1", "1", "100")}
AGENTS = ("dropping", "plain")
CASES: list[tuple[Mapping[str, Sequence[str]], Sequence[ClaimTest]]] = [
    ({**LOADS, "absence": ("2", "5", "10", "20")}, ABSENCE_CLAIMS),
    ({**LOADS, "rate": ("0.5", "1", "2")}, RATE_CLAIMS),
    ({**LOADS, "size": ("5", "50"), "absence": ("2", "20")}, SIZE_CLAIMS),
    ({**LOADS, "brokers": ("3", "7", "15")}, BROKERS_CLAIMS),
]


def measured(axes: Mapping[str, Sequence[str]], make: Make) -> Measurements:
    """Four seeds of each place."""
    runs = []
    for agent, *place in itertools.product(AGENTS, *axes.values()):
        at = {"agent": agent, **dict(zip(axes, place, strict=True))}
        runs += [{**at, "seed": seed, **make(at, Random(f"{at}/{seed}"))} for seed in range(4)]
    sweep: dict[str, Any] = {
        "axes": {axis: list(values) for axis, values in axes.items()},
        "agents": {agent: [agent, {}] for agent in AGENTS},
    }
    frame = pd.DataFrame(runs)
    return Measurements(frame, mean_points(frame), sweep, metrics=(*METRICS, *c.POPULATION.metrics))


def as_the_paper_says(at: Mapping[str, str], random: Random) -> dict[str, float]:
    """Gain and losses follow what is varied; absorption is exponential in both senses."""
    noise, load = random.uniform(0, 0.01), float(at["load"])
    absence, rate, brokers = (float(at.get(axis, 1)) for axis in ("absence", "rate", "brokers"))
    gain = 360 + 10 * math.log2(load) + 50 * math.log2(brokers) - 10 * math.log2(absence) - 10 * math.log2(rate)
    return {
        c.ABSORPTION_S: math.exp(absence / 10) / rate + noise,
        c.ABSORPTION_MEDIAN: math.log(2) + noise,
        c.ABSORPTION_TAIL: math.log(10) + noise,
        c.GAIN_PERCENT: noise + (gain if at["agent"] == "plain" else 0),
        c.LOST_RATIO: 0.1 * math.log2(absence * rate) + noise,
    }


def contrary(at: Mapping[str, str], random: Random) -> dict[str, float]:
    """All the other way round: what is varied does the opposite, times are all alike, and copies are not dropped."""
    noise, load = random.uniform(0, 0.01), float(at["load"])
    varied = math.log2(math.prod(float(at.get(axis, 1)) for axis in ("absence", "rate")))
    gain = 100 - 10 * math.log2(load) + 10 * varied - 10 * math.log2(float(at.get("brokers", 1)))
    return {
        c.ABSORPTION_S: (10 - varied if "absence" in at else 10 + varied) + noise,
        c.ABSORPTION_MEDIAN: 1 + noise,
        c.ABSORPTION_TAIL: 1 + noise,
        c.GAIN_PERCENT: noise + (gain if at["agent"] == "plain" else 5),
        c.LOST_RATIO: 1 - 0.1 * varied + noise,
    }


@pytest.mark.parametrize(("axes", "claims"), CASES, ids=["absence", "rate", "size", "brokers"])
def test_verdicts_follow_the_numbers(axes: Mapping[str, Sequence[str]], claims: Sequence[ClaimTest]) -> None:
    """Each claim holds on numbers as the paper has them, and on contrary ones it does not, but for a curve."""
    found = [claim.verdict for claim in check(claims, measured(axes, as_the_paper_says))]
    assert found == [Verdict.HOLDS] * len(claims)
    against = {claim.text: claim.verdict for claim in check(claims, measured(axes, contrary))}
    curves = {text for text in against if text.endswith("its curve.")}
    assert {against[text] for text in against.keys() - curves} == {Verdict.DOES_NOT_HOLD}


def test_a_curve_that_bends_downwards_is_not_exponential() -> None:
    """The absorption time over the logarithm of the absence."""
    flat = measured(
        CASES[0][0], lambda at, random: {c.ABSORPTION_S: math.log(float(at["absence"])) + random.random() / 99}
    )
    (curve,) = [claim for claim in ABSENCE_CLAIMS if claim.text.endswith("its curve.")]
    assert [claim.verdict for claim in check([curve], flat)] == [Verdict.DOES_NOT_HOLD]


def test_figures_over_sizes_and_brokers_have_a_line_for_each_absence_or_load() -> None:
    """Three metrics at each of three loads, and one figure of the gain."""
    sizes, brokers = (measured(CASES[place][0], as_the_paper_says) for place in (2, 3))
    assert [len(look_up(sizes, plan).series) for plan in size_plans(sizes)] == [2] * 9
    assert [len(look_up(brokers, plan).series) for plan in brokers_plans(brokers)] == [3]
