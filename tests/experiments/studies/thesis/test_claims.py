"""Claims get the verdict that the numbers deserve: each of the four, from made-up sweeps."""

from __future__ import annotations

import math
from random import Random
from typing import Any

import pandas as pd
import pytest

from roambus.experiments.claims import Bound, ClaimTest, Part, Side, Verdict, check, format_claims, judge, make_part
from roambus.experiments.measurements import Measurements
from roambus.experiments.studies.study import SweepResults
from roambus.spark.aggregation.aggregate import mean_points
from roambus.spark.metrics import catalogue as c
from tests.experiments.measured import CONFIGS, measurements, of_thesis


def noise(*place: object) -> float:
    return Random(repr(place)).uniform(-1, 1)


def as_claimed(agent: str, config: str, speed: str, seed: int) -> dict[str, Any]:
    """Numbers for which every claim of the thesis is plainly true."""
    mft, doublings, v = agent == "mft", math.log2(int(config[1:])), float(speed)
    more_for_aodv = -200 if config == "C32" else 200
    delivered = 4000 - 30 * abs(v - 6) + (more_for_aodv if mft else 0) + noise(config, speed, seed)
    per_node = (3000.0 if mft else 500 * 2 ** (1.5 * doublings)) * (1 + 0.01 * noise(agent, config, seed))
    return {
        c.DELIVERED: delivered,
        c.DELIVERY_RATE_THESIS: 0.9 - 0.1 * doublings + (0.1 if mft else 0) + 0.001 * noise(config, speed, seed),
        c.DELAY_MEAN_S: 1 + 0.1 * noise(agent, config, seed),
        c.HOPS_MEAN: (3 if config == "C4" else 2) + 0.1 * noise(config, seed),
        c.MESSAGES_PER_NODE: per_node,
        c.MESSAGES_PER_BROKER: 2 * per_node,
        c.MESSAGES_PER_SUBSCRIBER: per_node,
        c.MESSAGES_PER_PUBLISHER: per_node,
    }


def opposite(agent: str, config: str, speed: str, seed: int) -> dict[str, Any]:
    """Numbers for which every claim is plainly false."""
    mft, doublings, v = agent == "mft", math.log2(int(config[1:])), float(speed)
    wobble = 1 + 0.001 * noise(agent, config, speed, seed)
    per_node = (500 * 2**doublings if mft else 800.0) * wobble
    return {
        c.DELIVERED: (3000 if mft else 4000) * wobble + 50 * abs(v - 6) - (2000 if config == "C32" and not mft else 0),
        c.DELIVERY_RATE_THESIS: (0.3 + 0.1 * doublings - 0.02 * v) * wobble + (0 if mft else 0.2),
        c.DELAY_MEAN_S: (5 if mft else 1) * wobble,
        c.HOPS_MEAN: (1 if config == "C4" else 2) * wobble,
        c.MESSAGES_PER_NODE: per_node - (500 if mft and config == "C2" else 0),
        c.MESSAGES_PER_BROKER: per_node / 2,
        c.MESSAGES_PER_SUBSCRIBER: per_node,
        c.MESSAGES_PER_PUBLISHER: per_node,
    }


def by_chance(agent: str, config: str, speed: str, seed: int) -> dict[str, Any]:
    """Numbers that depend on the run alone, on no property of it."""
    random = Random(repr((agent, config, speed, seed)))
    return {name: random.lognormvariate(0, 2) for name in as_claimed(agent, config, speed, seed)}


def verdicts(measured: Measurements) -> list[Verdict]:
    return [claim.verdict for claim in of_thesis(measured).claims()]


def test_all_hold() -> None:
    """On a sweep of the thesis' size that behaves as the thesis says, all ten claims hold."""
    assert verdicts(measurements(as_claimed)) == [Verdict.HOLDS] * 10


def test_none_holds() -> None:
    """On a sweep that behaves the other way round, none does."""
    assert verdicts(measurements(opposite)) == [Verdict.DOES_NOT_HOLD] * 10


def test_nothing_is_significant_by_chance() -> None:
    """Of runs that differ by chance alone no claim is found to hold."""
    found = verdicts(measurements(by_chance, seeds=3))
    assert Verdict.HOLDS not in found
    assert found.count(Verdict.NOT_SIGNIFICANT) >= 8


def test_quick_sweep() -> None:
    """Without C16, C32 and 6 m/s the claims about them are not measured, and each says what is missing."""
    claims = of_thesis(measurements(as_claimed, configs=("C2", "C4", "C8"), speeds=("2", "8"), seeds=3)).claims()
    assert [claim.number for claim in claims if claim.verdict is Verdict.NOT_MEASURED] == [3, 4, 5]
    missing = [claims[number - 1].evidence[0] for number in (3, 4, 5)]
    assert ["C32" in missing[0], "C16" in missing[1], "6 m/s" in missing[2]] == [True] * 3


def test_one_seed_decides_nothing() -> None:
    """A single seed gives numbers but no interval: nothing can be significant."""
    assert set(verdicts(measurements(as_claimed, seeds=1))) == {Verdict.NOT_SIGNIFICANT}


def test_seeds_with_a_run_missing_do_not_count() -> None:
    """A comparison uses only the seeds of which every run that it needs is there."""
    whole = measurements(as_claimed)
    lost = (whole.runs["agent"] == "aodv") & (whole.runs["config"] == "C8") & (whole.runs["seed"] == 3)
    runs = whole.runs[~lost]
    claims = of_thesis(Measurements(runs, mean_points(runs), whole.sweep)).claims()
    assert "(claimed < 0; 5 seeds" in claims[0].evidence[0]
    assert "(claimed < 0; 4 seeds" in claims[0].evidence[1]


@pytest.mark.parametrize("agents", [("mft",), ("flooding", "aodv")])
def test_an_agent_missing(agents: tuple[str, ...]) -> None:
    """Claims that compare with an agent that was not run are not measured."""
    assert verdicts(measurements(as_claimed, agents=agents))[5] is Verdict.NOT_MEASURED


def test_the_claims_are_judged_about_the_protocols_as_in_the_thesis_too() -> None:
    """Beside those with defaults, if they were run: here the ones are as claimed, and the others are not."""
    published = ("mft-as-published", "aodv-thesis")

    def both(agent: str, config: str, speed: str, seed: int) -> dict[str, Any]:
        plain = agent.partition("-")[0]
        return (as_claimed if agent in published else opposite)(plain, config, speed, seed)

    claims = of_thesis(measurements(both, agents=("mft", "aodv", *published))).claims()
    found = [(claim.verdict, claim.others["as in the thesis"].verdict) for claim in claims]
    assert set(found) == {(Verdict.DOES_NOT_HOLD, Verdict.HOLDS)}
    assert "      as in the thesis: holds\n" in format_claims(claims)
    assert not any(claim.others for claim in of_thesis(measurements(as_claimed)).claims())


def test_other_sweeps_have_no_claims() -> None:
    """Results of no study are not the thesis' evaluation, whatever their axes are."""
    assert SweepResults(measurements(as_claimed)).claims() == []


def test_claims_as_text() -> None:
    """The text has each claim's verdict, its reading and its numbers with interval, threshold and p."""
    text = format_claims(of_thesis(measurements(as_claimed)).claims())
    assert " 8. holds: At C2 AODV needs fewer messages than MFT-PubSub.\n" in text
    assert "With equal seeds, at C2 and 8 m/s AODV's messages per node are fewer.\n" in text
    assert "(claimed < 0; 5 seeds, p < 0.001)" in text
    assert len(CONFIGS) - 1 == text.count("mean hops, C4 minus ")


# The rule


def part(values: list[float], side: Side = Side.ABOVE, threshold: float = 0.0) -> Part:
    return make_part("x", pd.Series(values, dtype=float), side, threshold)


def test_a_part_is_a_t_test() -> None:
    """1, 2, 3 against 0: t = 2 sqrt(3), two-sided p = 0.0742 with 2 degrees of freedom."""
    tested = part([1, 2, 3])
    assert (tested.mean, tested.seeds, tested.supports) == (2, 3, True)
    assert tested.p == pytest.approx(0.07418, abs=1e-5)


@pytest.mark.parametrize(
    ("parts", "verdict"),
    [
        ([part([5, 5.1, 5.2])], Verdict.HOLDS),
        ([part([5, 5.1, 5.2], Side.BELOW)], Verdict.DOES_NOT_HOLD),
        ([part([5, 5.1, 5.2], Side.BELOW, 9)], Verdict.HOLDS),
        ([part([5, 5.1, 5.2]), part([-1, 1, 2])], Verdict.NOT_SIGNIFICANT),
        ([part([5, 5.1, 5.2]), part([-5, -5.1, -5.2])], Verdict.DOES_NOT_HOLD),
        ([part([2, 2, 2])], Verdict.HOLDS),
        ([part([0, 0, 0])], Verdict.NOT_SIGNIFICANT),
        ([part([5])], Verdict.NOT_SIGNIFICANT),
        ([part([5, 5.1, 5.2]), part([])], Verdict.NOT_MEASURED),
        ([], Verdict.NOT_MEASURED),
    ],
)
def test_verdict(parts: list[Part], verdict: Verdict) -> None:
    """All parts must be significant to hold, one significantly contrary part is enough not to."""
    assert judge(parts) is verdict


def test_many_contrary_parts_need_more_evidence() -> None:
    """A contrary p of 0.03 refutes a claim of one part, not one of four: Holm's correction."""
    contrary = Part("x", Bound(Side.ABOVE), -1.0, 0.9, 5, 0.03)
    supporting = Part("x", Bound(Side.ABOVE), 1.0, 0.1, 5, 0.001)
    assert judge([contrary]) is Verdict.DOES_NOT_HOLD
    assert judge([contrary, supporting, supporting, supporting]) is Verdict.NOT_SIGNIFICANT


def test_a_p_that_holms_correction_overrules_says_so() -> None:
    """Beside "not significant", p alone would look like a mistake; where a verdict is clear, p speaks for itself."""
    contrary = make_part("a", pd.Series([-5.0, -4.0, -3.2, -2.5]), Side.ABOVE)
    supporting = make_part("b", pd.Series([5.0, 4.0, 3.2, 2.5]), Side.ABOVE)
    several = [contrary, *[supporting] * 9]
    there = measurements(as_claimed, seeds=1)
    tests = [ClaimTest("t", "r", lambda _: several), ClaimTest("t", "r", lambda _: [contrary])]
    left_open, refuted = check(tests, there)
    assert (left_open.verdict, refuted.verdict) == (Verdict.NOT_SIGNIFICANT, Verdict.DOES_NOT_HOLD)
    assert left_open.evidence[0].endswith("4 seeds, p = 0.006; p = 0.064 with Holm's correction for 10 parts)")
    assert "Holm" not in "".join((*left_open.evidence[1:], *refuted.evidence))
