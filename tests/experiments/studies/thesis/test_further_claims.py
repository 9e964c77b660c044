"""The rest of the thesis' text about its figures: each claim holds on numbers of which it is true, and on no others."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from roambus.experiments.claims import Claim, Verdict, check
from roambus.experiments.measurements import Measurements
from roambus.experiments.studies.thesis.claims import FURTHER_CLAIMS, THESIS_CLAIMS
from roambus.spark.metrics import catalogue as c
from tests.experiments.measured import measurements


def noise(*place: object) -> float:
    return 0.001 * Random(repr(place)).uniform(-1, 1)


def as_claimed(agent: str, config: str, speed: str, seed: int) -> dict[str, Any]:
    mft, size, v = agent == "mft", int(config[1:]), float(speed)
    per_node = 500 + (0 if mft else 40 * size**1.5)
    return {
        c.EXPECTED: 1000,
        c.ATTEMPTED: 900 + seed,
        c.DELIVERY_RATE_THESIS: 0.5 + (0.02 * v if mft else -0.02 * v) + (0.1 if mft else 0) + noise(agent, seed, v),
        c.DELAY_MEAN_S: (3 if config == "C4" else 1) + noise(config, seed),
        c.MESSAGES_PER_NODE: per_node + seed,
        c.MESSAGES: per_node * size + seed,
        "sent_RREQ": 0 if mft else 36 * size**2.5,
    }


def opposite(agent: str, config: str, speed: str, seed: int) -> dict[str, Any]:
    mft, size, v = agent == "mft", int(config[1:]), float(speed)
    per_node = 500 + 40 * size**1.5 * (1 + noise(config, seed))
    return {
        c.EXPECTED: 1000,
        c.ATTEMPTED: 1000,
        c.DELIVERY_RATE_THESIS: 0.5 + (-0.02 * v if mft else 0.02 * v) + noise(agent, seed, v),
        c.DELAY_MEAN_S: (1 if config == "C4" else 3) + noise(config, seed),
        c.MESSAGES_PER_NODE: per_node,
        c.MESSAGES: per_node * size,
        "sent_RREQ": 0 if mft else 10 * size,
    }


def further(measured: Measurements) -> list[Claim]:
    return check(FURTHER_CLAIMS, measured, len(THESIS_CLAIMS) + 1)


def verdicts(measured: Measurements) -> dict[int, Verdict]:
    return {claim.number: claim.verdict for claim in further(measured)}


def test_all_hold() -> None:
    """On a sweep that behaves as the text says; they are numbered after the ten."""
    assert verdicts(measurements(as_claimed)) == dict.fromkeys(range(11, 17), Verdict.HOLDS)


def test_none_holds() -> None:
    """On a sweep that behaves the other way round; all begun is no more than it could be."""
    found = verdicts(measurements(opposite))
    assert found.pop(16) is Verdict.NOT_SIGNIFICANT
    assert set(found.values()) == {Verdict.DOES_NOT_HOLD}


def test_small_sweeps_leave_some_open() -> None:
    """Without C32, or without any growth, the claims about them are not measured."""
    found = verdicts(measurements(as_claimed, configs=("C4",)))
    assert [number for number, verdict in found.items() if verdict is Verdict.NOT_MEASURED] == [14, 15, 16]


def test_a_share_is_of_the_growth() -> None:
    """AODV's messages per node grow by 40 (32^1.5 - 2^1.5), 36 of each 40 of them RREQs: 0.9."""
    (share,) = next(claim for claim in further(measurements(as_claimed)) if claim.number == 15).evidence
    assert float(share.split(": ")[1].split(" ")[0]) == pytest.approx(0.9, abs=0.001)


def test_a_sweep_over_other_axes_measures_none() -> None:
    """It is not the thesis' evaluation, and each claim says what is missing."""
    measured = measurements(as_claimed)
    renamed = measured.runs.rename(columns={"speed": "power"})
    claims = further(Measurements(renamed, measured.points))
    assert {claim.verdict for claim in claims} == {Verdict.NOT_MEASURED}
