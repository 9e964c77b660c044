"""Suppositions about the numbers are tested on the sweeps that are there for them."""

from __future__ import annotations

from random import Random
from typing import Any

import pandas as pd
import pytest

from docs.writers.explanations import SUPPOSITIONS, check_suppositions
from roambus.experiments.claims import Verdict
from roambus.experiments.measurements import Measurements
from roambus.experiments.sweeps.sweep import expand
from roambus.experiments.sweeps.sweep_file import read_sweep
from roambus.spark.aggregation.aggregate import mean_points
from roambus.spark.metrics import catalogue as c

METRICS = (
    c.EXPECTED,
    c.ATTEMPTED,
    c.DELIVERY_RATE_ALL,
    c.DELIVERY_RATE_THESIS,
    c.DELAY_MEAN_S,
    c.HOPS_MEAN,
    c.MESSAGES_PER_NODE,
    c.migrations.column,
    "sent_RREQ",
)
SWEEPS = sorted({sweep for sweep, _ in SUPPOSITIONS})


def measured(name: str, **changes: float) -> Measurements:
    """Runs at every point of a sweep of ours: all metrics about 1, those of an agent named in `changes` about that."""
    rows = []
    for point in expand(read_sweep(name)):
        about = changes.get(point.agent.label.replace("-", "_"), 1.0)
        near: dict[str, Any] = {m: about * (1 + 0.001 * Random(f"{point}/{m}").uniform(-1, 1)) for m in METRICS}
        rows.append({"agent": point.agent.label, **dict(point.axes), "seed": point.seed, **near})
    runs = pd.DataFrame(rows)
    agents: dict[str, list[object]] = {choice.label: [] for choice in read_sweep(name).agents}
    return Measurements(runs, mean_points(runs), {"agents": agents})


def test_every_supposition_finds_its_runs() -> None:
    """Each sweep of ours has all the points that suppositions about it compare."""
    found = check_suppositions({name: measured(name) for name in SWEEPS})
    assert len(found) == len(SUPPOSITIONS)
    assert [(claim.number, claim.evidence) for claim in found if claim.verdict is Verdict.NOT_MEASURED] == []


def test_what_was_not_run_is_not_measured() -> None:
    """And the text says which sweep is missing."""
    found = check_suppositions({})
    assert {claim.verdict for claim in found} == {Verdict.NOT_MEASURED}
    assert found[0].evidence == ("roambus sweep explain-mft was not run",)


def verdict(text: str, sweeps: dict[str, Measurements]) -> Verdict:
    return next(claim.verdict for claim in check_suppositions(sweeps) if text in claim.text)


@pytest.mark.parametrize(("published", "expected"), [(1.0, Verdict.HOLDS), (2.0, Verdict.DOES_NOT_HOLD)])
def test_little_is_tested_on_both_sides(published: float, expected: Verdict) -> None:
    """Corrections that change nothing hardly change anything; corrections that double the messages do."""
    sweep = {"explain-mft": measured("explain-mft", mft_published=published)}
    assert verdict("Corrections", sweep) is expected


@pytest.mark.parametrize(("first", "expected"), [(3.0, Verdict.HOLDS), (1.5, Verdict.DOES_NOT_HOLD)])
def test_twice_is_a_threshold(first: float, expected: Verdict) -> None:
    """Half as many migrations again are not twice as many."""
    sweep = {"explain-mft": measured("explain-mft", mft_first_copy=first)}
    assert verdict("the first neighbour heard", sweep) is expected
