"""The study of LoRa: its sweeps, figures and claims, on small tables, and its quick version."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from pathlib import Path

import pandas as pd
import pytest

from roambus.command_line import commands
from roambus.experiments.claims import ClaimTest, Verdict, check
from roambus.experiments.measurements import Measurements
from roambus.experiments.sweeps.runner import plan_runs
from roambus.extensions.lora.study import claims as c
from roambus.extensions.lora.study.metrics import AIRTIME_S, LORA, TRANSMISSIONS, UTILISATION
from roambus.extensions.lora.study.study import STUDY
from roambus.spark.aggregation.aggregate import mean_points
from roambus.spark.metrics import catalogue

Values = Mapping[str, float]
ALIKE: Values = {
    catalogue.DELIVERY_RATE_ALL: 0.9,
    catalogue.DELAY_MEAN_S: 4.0,
    catalogue.ENERGY_PER_NODE_MJ: 20_000.0,
    catalogue.HOPS_MEAN: 2.0,
    AIRTIME_S: 10.0,
    UTILISATION: 0.1,
    TRANSMISSIONS: 20.0,
}

NOTHING: Mapping[str, Values] = {}


def measured(sweep: str, changes: Mapping[str, Values] = NOTHING) -> Measurements:
    """Three seeds of each point of a sweep; `changes` are of points by words, such as "lora-mft load=10"."""
    asked = next(part for part in STUDY.sweeps if part.name == sweep).asked
    axes = {axis.name: list(axis.values) for axis in asked.axes}
    rows = []
    for agent, *values in itertools.product([choice.label for choice in asked.agents], *axes.values()):
        place = {"agent": agent, **dict(zip(axes, map(str, values), strict=True))}
        found, known = dict(ALIKE), {agent, *(f"{axis}={value}" for axis, value in place.items())}
        for words, changed in changes.items():
            if set(words.split()) <= known:
                found |= changed
        rows += [
            {**place, "seed": seed, **{name: x * (1 + 0.001 * seed) for name, x in found.items()}} for seed in range(3)
        ]
    runs = pd.DataFrame(rows)
    return Measurements(runs, mean_points(runs), metrics=(*catalogue.METRICS, *LORA.metrics))


def verdicts(tests: tuple[ClaimTest, ...], found: Measurements) -> list[Verdict]:
    """The verdict on each claim."""
    return [claim.verdict for claim in check(tests, found)]


def test_each_sweep_can_be_planned_in_whole_and_in_the_quick_version() -> None:
    """And has ten seeds."""
    for part in STUDY.sweeps:
        assert len(part.asked.seeds) == 10
        assert len(plan_runs(STUDY.asked(part), Path("results"))) > 50


def test_figures_have_different_names_and_claims_name_theirs() -> None:
    """Through all sweeps."""
    plans = [plan.name for part in STUDY.sweeps for plan in part.plans(measured(part.name))]
    named = {claim.figure for part in STUDY.sweeps for claim in part.claims} - {""}
    assert len(set(plans)) == len(plans)
    assert named <= set(plans)


DELIVERED = catalogue.DELIVERY_RATE_ALL
FIELD: Mapping[str, Values] = {
    "lora-flooding": {AIRTIME_S: 60.0},
    "lora-flooding load=10": {DELIVERED: 0.6},
    "lora-gossip load=1": {DELIVERED: 0.95, AIRTIME_S: 20.0},
    "managed-flooding load=100": {DELIVERED: 0.2},
}


def test_claims_on_the_field_hold_where_the_numbers_are_as_claimed() -> None:
    """Each has a verdict of its own."""
    assert verdicts(c.CLAIMS, measured("lora", FIELD)) == [Verdict.HOLDS] * len(c.CLAIMS)


@pytest.mark.parametrize(
    ("words", "changed", "number"),
    [
        ("lora-flooding nodes=30", {AIRTIME_S: 15.0}, 1),
        ("lora-flooding nodes=30 load=1", {DELIVERED: 0.99}, 2),
        ("managed-flooding nodes=30 load=10", {DELIVERED: 0.3}, 3),
        ("managed-flooding nodes=30 load=100", {DELIVERED: 0.6}, 4),
        ("lora-flooding nodes=300 load=10", {DELIVERED: 0.9}, 5),
        ("managed-flooding nodes=300 load=1", {UTILISATION: 0.3}, 6),
        ("lora-gossip nodes=30 load=1", {AIRTIME_S: 50.0}, 7),
        ("managed-flooding nodes=30 load=1", {catalogue.ENERGY_PER_NODE_MJ: 10_000.0}, 8),
    ],
)
def test_a_claim_on_the_field_does_not_hold_where_the_numbers_are_otherwise(
    words: str, changed: Values, number: int
) -> None:
    """It is the one that these numbers are about."""
    found = measured("lora", {**FIELD, words: changed})
    assert verdicts(c.CLAIMS, found)[number - 1] is Verdict.DOES_NOT_HOLD


@pytest.mark.parametrize(
    ("sweep", "tests", "effects"),
    [
        ("lora-more", c.MORE_CLAIMS, {"load=1000": {DELIVERED: 0.05}}),
        (
            "lora-agents",
            c.AGENT_CLAIMS,
            {"lora-gossip-repair": {DELIVERED: 0.95, AIRTIME_S: 30.0}, "lora-mft": {AIRTIME_S: 80.0}},
        ),
        (
            "lora-presets",
            c.PRESET_CLAIMS,
            {
                "modem=LongFast load=30": {DELIVERED: 0.5},
                "modem=ShortFast": {DELIVERED: 0.8, catalogue.DELAY_MEAN_S: 0.8},
            },
        ),
        ("lora-speed", c.SPEED_CLAIMS, {"lora-mft movement=car": {DELIVERED: 0.4}}),
        ("lora-hops", c.HOP_CLAIMS, {"limit-3 side=20000": {DELIVERED: 0.8}}),
        (
            "lora-interest",
            c.INTEREST_CLAIMS,
            {"lora-mft-lean": {AIRTIME_S: 20.0}, "lora-mft-lean interest=0.03": {AIRTIME_S: 5.0}},
        ),
    ],
)
def test_other_claims_hold_where_the_numbers_are_as_claimed_and_not_where_all_is_alike(
    sweep: str, tests: tuple[ClaimTest, ...], effects: Mapping[str, Values]
) -> None:
    """A claim that nothing costs anything holds in both."""
    assert verdicts(tests, measured(sweep, effects)) == [Verdict.HOLDS] * len(tests)
    assert Verdict.DOES_NOT_HOLD in verdicts(tests, measured(sweep))


@pytest.mark.slow
def test_the_quick_study_runs_to_its_report(tmp_path: Path) -> None:
    """Every claim about a part that was run has a verdict, and no run fails."""
    out = tmp_path / "quick"
    commands(["reproduce", "lora", "--quick", "--workers", "1", "--out", str(out)], standalone_mode=False)
    assert (out / "report.html").is_file()
    assert len(list(out.rglob("trace.parquet"))) > 100
