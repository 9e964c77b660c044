"""Points are means over seeds with 95 % intervals: Student's, or on the scale that a metric's values are on."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roambus.spark.aggregation.aggregate import mean_points, natural_order
from roambus.spark.aggregation.intervals import ends, interval
from roambus.spark.metrics.metric import Kind, Metric, Scale, Support


def runs(values: list[float]) -> pd.DataFrame:
    seeds = range(len(values))
    return pd.DataFrame({"agent": "a", "speed": "2", "seed": seeds, "hops_mean": values})


def test_interval_of_three_seeds() -> None:
    """1, 2, 3: mean 2, and t(0.975, 2) = 4.303 standard errors of 1/sqrt(3)."""
    (point,) = mean_points(runs([1, 2, 3])).to_dict("records")
    assert (point["agent"], point["speed"], point["metric"], point["mean"], point["n"]) == ("a", "2", "hops_mean", 2, 3)
    assert point["half_width"] == pytest.approx(4.302653 / math.sqrt(3), rel=1e-6)


def test_one_seed_has_no_interval() -> None:
    """A single run says nothing about how runs differ."""
    (point,) = mean_points(runs([5])).to_dict("records")
    assert (point["mean"], point["n"]) == (5, 1)
    assert math.isnan(point["half_width"])


def test_runs_without_a_value_do_not_count() -> None:
    """Seeds in which nothing could be measured are left out of n, and a metric without any value has no row."""
    (point,) = mean_points(runs([1, np.nan, 3])).to_dict("records")
    assert (point["mean"], point["n"]) == (2, 2)
    assert mean_points(runs([np.nan])).empty


def test_the_interval_covers_the_mean_in_95_of_100() -> None:
    """Over many samples of five normal values the interval misses the true mean one time in twenty."""
    samples = np.random.default_rng(1).normal(7, 2, (2000, 5))
    low, high = ends(samples, Support.ANY)
    assert np.mean((low <= 7) & (high >= 7)) == pytest.approx(0.95, abs=0.01)


@pytest.mark.parametrize("size", [10, 30])
def test_the_interval_of_a_skewed_metric_covers_the_mean_in_94_of_100(size: int) -> None:
    """Of lognormal and gamma delays, and of counts; Student's covers fewer, and is hardly narrower."""
    random = np.random.default_rng(2)
    for mean, samples in (
        (math.exp(0.125), random.lognormal(0, 0.5, (40_000, size))),
        (4, random.gamma(4, 1, (40_000, size))),
        (10, random.negative_binomial(3, 3 / 13, (40_000, size)).astype(float)),
    ):
        low, high = ends(samples, Support.POSITIVE)
        usual_low, usual_high = ends(samples, Support.ANY)
        covered = np.mean((low <= mean) & (high >= mean))
        assert covered >= 0.94
        assert covered > np.mean((usual_low <= mean) & (usual_high >= mean))
        assert np.mean(high - low) <= 1.15 * np.mean(usual_high - usual_low)


@given(
    values=st.lists(st.floats(0, 1), min_size=2, max_size=12),
    within=st.sampled_from([Support.SHARE, Support.POSITIVE]),
)
def test_intervals_stay_where_values_can_be(values: list[float], within: Support) -> None:
    """Those of rates within 0 and 1, those of counts not below 0; the mean lies in them."""
    low, high = interval(values, within)
    assert 0 <= low <= np.mean(values) + 1e-12
    assert high >= np.mean(values) - 1e-12
    assert within is not Support.SHARE or high <= 1


def test_an_interval_far_from_the_ends_is_nearly_students() -> None:
    """The scale matters near its ends only; there the interval leans inwards."""
    narrow = [0.49, 0.5, 0.51]
    assert interval(narrow, Support.SHARE) == pytest.approx(interval(narrow, Support.ANY), abs=2e-3)
    low, high = interval([0.95, 0.98, 0.99], Support.SHARE)
    assert 0.9733 - low > high - 0.9733
    assert interval([-1.0, 3.0], Support.POSITIVE) == interval([-1.0, 3.0], Support.ANY)


def test_pseudo_values_that_do_not_exist() -> None:
    """Of rates that are 1 but for one seed, and of counts that are 0 but for one, there is an interval nevertheless."""
    low, high = interval([1.0, 1.0, 1.0, 0.9], Support.SHARE)
    assert 0 < low < 0.975 < high <= 1
    low, high = interval([0.0, 0.0, 5.0], Support.POSITIVE)
    assert 0 < low < 5 / 3 < high < math.inf


@pytest.mark.parametrize("size", [3, 5, 10, 20])
@pytest.mark.parametrize("mean", [0.5, 0.9, 0.99, 0.999])
def test_the_interval_of_a_share_covers_it(mean: float, size: int) -> None:
    """Of 400 pairs in each seed, whose seeds vary a little; the counts are known."""
    random, pairs = np.random.default_rng(3), 400
    samples = random.binomial(pairs, random.beta(mean * 99, (1 - mean) * 99, (10_000, size))) / pairs
    low, high = ends(samples, Support.SHARE, pairs=np.full(len(samples), float(pairs * size)))
    assert np.mean((low <= mean) & (high >= mean)) >= 0.91


@pytest.mark.parametrize("size", [3, 5, 10, 20])
def test_a_rare_loss_that_no_seed_has_shown_is_in_the_interval(size: int) -> None:
    """One run in ten delivers half: with few seeds most samples are all 1, and their interval has 0.95 nevertheless."""
    samples = np.where(np.random.default_rng(4).random((10_000, size)) < 0.1, 0.5, 1.0)
    low, high = ends(samples, Support.SHARE)
    assert np.mean((low <= 0.95) & (high >= 0.95)) >= 0.95


def test_equal_shares_have_the_exact_bound() -> None:
    """Three seeds miss 63 % of all runs in one case of twenty: 1 - 0.05^(1/3), or 1 - 0.025^(1/3) on either side."""
    assert list(interval([1.0] * 3, Support.SHARE)) == pytest.approx([0.05 ** (1 / 3), 1])
    assert list(interval([0.0] * 3, Support.SHARE)) == pytest.approx([0, 1 - 0.05 ** (1 / 3)])
    reach = 0.5 * (1 - 0.025 ** (1 / 3))
    assert interval([0.5] * 3, Support.SHARE) == pytest.approx((0.5 - reach, 0.5 + reach))


def test_one_bad_seed_of_five_does_not_make_any_share_possible() -> None:
    """On the logit scale the interval of these went from 0.05 to 1."""
    low, _ = interval([0.99, 0.98, 0.97, 0.6, 0.99], Support.SHARE)
    assert 0.4 < low < 0.6


def test_an_interval_is_no_narrower_than_its_pairs_allow() -> None:
    """Three seeds of ten pairs each that lie together by chance are at most thirty independent ones."""
    together = [0.8, 0.81, 0.8]
    low, high = interval(together, Support.SHARE, pairs=30)
    assert low < 0.65
    assert high > 0.9
    assert interval(together, Support.SHARE).low > 0.75
    table = pd.DataFrame({"agent": "a", "speed": "2", "seed": range(3), "expected": 10, "delivery_rate_all": together})
    rate = mean_points(table).set_index("metric").loc["delivery_rate_all"]
    assert (rate["low"], rate["high"]) == pytest.approx((low, high))


def test_a_metric_says_where_its_values_can_be() -> None:
    """By its scale, by its kind, or because it is declared as skewed."""
    assert Metric("a", "a", "").support is Support.ANY
    assert Metric("a", "a", "", skewed=True).support is Support.POSITIVE
    assert Metric("a", "a", "", scale=Scale.LOGARITHMIC).support is Support.POSITIVE
    assert Metric("a", "a", "", kind=Kind.COUNT).support is Support.POSITIVE
    assert Metric("a", "a", "", scale=Scale.SHARE).support is Support.SHARE


def test_natural_order() -> None:
    """Numbers within names are compared as numbers, also decimals, and numbers come before words."""
    names = ["C16", "C2", "10", "x", "2.5", "C4", "2"]
    assert sorted(names, key=natural_order) == ["2", "2.5", "10", "C2", "C4", "C16", "x"]
