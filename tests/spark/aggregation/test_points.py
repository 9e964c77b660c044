"""Points are means over seeds with Student's 95 % interval."""

import math

import numpy as np
import pandas as pd
import pytest

from roambus.spark.aggregation.aggregate import half_width, mean_points, natural_order


def runs(values: list[float]) -> pd.DataFrame:
    seeds = range(len(values))
    return pd.DataFrame({"agent": "a", "speed": "2", "seed": seeds, "delivered": values})


def test_interval_of_three_seeds() -> None:
    """1, 2, 3: mean 2, and t(0.975, 2) = 4.303 standard errors of 1/sqrt(3)."""
    (point,) = mean_points(runs([1, 2, 3])).to_dict("records")
    assert (point["agent"], point["speed"], point["metric"], point["mean"], point["n"]) == ("a", "2", "delivered", 2, 3)
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
    covered = [abs(sample.mean() - 7) <= half_width(list(sample)) for sample in samples]
    assert np.mean(covered) == pytest.approx(0.95, abs=0.01)


def test_natural_order() -> None:
    """Numbers within names are compared as numbers, also decimals, and numbers come before words."""
    names = ["C16", "C2", "10", "x", "2.5", "C4", "2"]
    assert sorted(names, key=natural_order) == ["2", "2.5", "10", "C2", "C4", "C16", "x"]
