"""Agents are tested against each other seed by seed, and p-values are adjusted by Holm."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from roambus.experiments.claims import holm
from roambus.experiments.comparing.tables import paired_tests
from roambus.experiments.measurements import Measurements

METRIC = "messages"
NUMBERS = st.floats(-100, 100).map(lambda value: round(value, 3))
WHOLE = st.integers(-99, 99)
P_VALUES = st.lists(st.floats(0, 1), max_size=12)
SAMPLES = st.lists(st.tuples(NUMBERS, NUMBERS), min_size=3, max_size=6)


def measured(values: Mapping[str, Mapping[int, float]], axis: str = "speed") -> Measurements:
    """One value of the axis; the metric of each agent by seed."""
    rows = [
        {"agent": agent, axis: "2", "seed": seed, METRIC: value}
        for agent, by_seed in values.items()
        for seed, value in by_seed.items()
    ]
    runs = pd.DataFrame(rows)
    return Measurements(runs, pd.DataFrame(), {"agents": dict.fromkeys(values)})


def of(sample: Sequence[tuple[float, float]]) -> Measurements:
    return measured(
        {agent: dict(enumerate(column)) for agent, column in zip("ab", zip(*sample, strict=True), strict=True)}
    )


def outcome(found: Measurements, *agents: str) -> dict[str, object]:
    (row,) = paired_tests(found, METRIC, list(combinations(agents or ("a", "b"), 2))).to_dict("records")
    return {str(name): value for name, value in row.items()}


def test_holms_own_procedure() -> None:
    """The smallest of four is multiplied by 4, the next by 3, and none is below one before it."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert holm([]) == []


@settings(max_examples=40)
@given(P_VALUES)
def test_adjusting_keeps_the_order_and_never_helps(p_values: list[float]) -> None:
    """Each is as large as before or larger, at most 1 and at most as by Bonferroni; the order stays."""
    adjusted = holm(p_values)
    for before, after in zip(p_values, adjusted, strict=True):
        assert before <= after <= min(1.0, before * len(p_values)) or math.isclose(after, before)
    ranked = [adjusted[place] for place in np.argsort(p_values, kind="stable")]
    assert all(low <= high for low, high in pairwise(ranked))


@settings(max_examples=40)
@given(P_VALUES, st.randoms(use_true_random=False))
def test_adjusting_does_not_depend_on_the_order(p_values: list[float], random: object) -> None:
    """Tests in another order have the same adjusted values."""
    order = list(range(len(p_values)))
    random.shuffle(order)  # type: ignore[attr-defined]  # hypothesis gives a random.Random
    adjusted = holm(p_values)
    assert holm([p_values[place] for place in order]) == [adjusted[place] for place in order]


@settings(max_examples=12)
@given(SAMPLES)
def test_the_test_is_students_for_pairs(sample: list[tuple[float, float]]) -> None:
    """The same p as SciPy's paired test, unless all differences are the same and there is none."""
    first, second = np.array(sample).T
    found = outcome(of(sample))
    assert found["difference"] == pytest.approx(np.mean(first - second), abs=1e-9)
    if np.ptp(first - second) > 1e-6:
        assert found["p"] == pytest.approx(stats.ttest_rel(first, second).pvalue)
        assert found["p_holm"] == found["p"]


@settings(max_examples=12)
@given(SAMPLES, st.randoms(use_true_random=False))
def test_the_order_of_runs_does_not_matter(sample: list[tuple[float, float]], random: object) -> None:
    """Runs are paired by their seed, wherever they stand."""
    found = of(sample)
    order = list(found.runs.index)
    random.shuffle(order)  # type: ignore[attr-defined]  # hypothesis gives a random.Random
    assert outcome(replace(found, runs=found.runs.loc[order])) == pytest.approx(outcome(found), nan_ok=True)


@settings(max_examples=12)
@given(SAMPLES)
def test_the_other_way_round(sample: list[tuple[float, float]]) -> None:
    """Swapping two agents turns the sign of the difference and nothing else."""
    there, back = outcome(of(sample), "a", "b"), outcome(of(sample), "b", "a")
    assert there["difference"] == -float(str(back["difference"]))
    assert (there["half_width"], there["p"], there["n"]) == pytest.approx((back["half_width"], back["p"], back["n"]))


@settings(max_examples=12)
@given(
    st.lists(st.tuples(st.integers(-99, 99), st.integers(-99, 99), st.integers(-9999, 9999)), min_size=3, max_size=6)
)
def test_what_a_seed_does_to_both_agents_does_not_count(sample: list[tuple[int, int, int]]) -> None:
    """A seed that is hard for everybody changes nothing: unpaired, it would hide every difference."""
    hard = [(a + shift, b + shift) for a, b, shift in sample]
    assert outcome(of(hard)) == outcome(of([(a, b) for a, b, _ in sample]))


def test_only_common_seeds_count() -> None:
    """A seed that one of the agents lacks, or has no value in, is left out."""
    found = outcome(measured({"a": {0: 1, 1: 2, 2: 4, 3: math.nan}, "b": {1: 1, 2: 2, 3: 5, 4: 9, 0: 1}}))
    assert (found["n"], found["difference"], found["note"]) == (3, 1, "")
    assert 0 < float(str(found["p"])) < 1


@pytest.mark.parametrize("common", [0, 1, 2])
def test_too_few_common_seeds_are_reported(common: int) -> None:
    """Instead of a p-value, which then does not count among those that are adjusted."""
    few = {seed: float(seed) for seed in range(common)}
    rows = paired_tests(
        measured({"a": {0: 1, 1: 2, 2: 4}, "b": {0: 2, 1: 2, 2: 9}, "c": few}),
        METRIC,
        list(combinations(["a", "b", "c"], 2)),
    )
    assert list(rows["n"]) == [3, common, common]
    assert list(rows["note"]) == ["", "fewer than 3 common seeds", "fewer than 3 common seeds"]
    assert list(rows["p"].isna()) == list(rows["p_holm"].isna()) == [False, True, True]
    assert rows["p_holm"][0] == rows["p"][0]


def test_all_tests_of_a_table_are_adjusted_together() -> None:
    """Three agents are three pairs."""
    values = {"a": {0: 1, 1: 2, 2: 4}, "b": {0: 2, 1: 4, 2: 9}, "c": {0: 9, 1: 9, 2: 10}}
    rows = paired_tests(measured(values), METRIC, list(combinations(list(values), 2)))
    assert list(zip(rows["agent"], rows["minus"], strict=True)) == [("a", "b"), ("a", "c"), ("b", "c")]
    assert list(rows["p_holm"]) == pytest.approx(holm(list(rows["p"])))


@pytest.mark.parametrize("axis", ["p", "note", "difference", "metric", "self", "measured", "place"])
def test_an_axis_may_be_called_like_a_column(axis: str) -> None:
    """Then it has a prefix, so that no column hides it."""
    found = outcome(measured({"a": {0: 1, 1: 2, 2: 4}, "b": {0: 2, 1: 4, 2: 9}}, axis))
    assert "2" in (found.get(axis), found.get(f"axis_{axis}"))
    assert found["n"] == 3
