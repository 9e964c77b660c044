"""The model's intervals contain the truth of readings that were not run about as often as they say."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from docs.writers.factorial.design import NAMES, reading_of, readings
from docs.writers.factorial.effects import BARE, LINKED
from docs.writers.factorial.model import (
    OTHERS,
    Floats,
    coverage_table,
    foreseen,
    left_out,
    part_models,
    predict,
    quantile,
)
from docs.writers.factorial.quantities import row_means, with_choices
from tests.docs.writers.factorial.made_up import margins

RUN = np.array([[1.0 if row[name] else -1.0 for name in OTHERS] for row in readings().values() if not row["link"]])
PAIRS = list(itertools.combinations(range(len(OTHERS)), 2))
NOISE = 0.1
SEEDS_ERROR = np.full(len(RUN), NOISE**2)


def worlds(number: int, *, pairs: float) -> Iterator[tuple[Floats, Floats, Floats]]:
    """Means of the 16 rows, readings that were not run, and the truth there: effects of choices and of pairs."""
    for start in range(number):
        rng = np.random.default_rng(start)
        mains, both = rng.normal(0, 1, len(OTHERS)), rng.normal(0, pairs, len(PAIRS))
        asked = rng.choice([-1.0, 1.0], (200, len(OTHERS)))
        truth = [at @ mains + _products(at) @ both for at in (RUN, asked)]
        yield truth[0] + rng.normal(0, NOISE, len(RUN)), asked, truth[1]


def _products(at: Floats) -> Floats:
    return np.stack([at[:, first] * at[:, other] for first, other in PAIRS], axis=1)


@pytest.mark.parametrize("pairs", [0.1, 0.3, 0.6])
def test_intervals_of_readings_that_were_not_run_cover_about_95_percent(pairs: float) -> None:
    """With pairs of little effect, of some, and of as much as the choices together."""
    covered = []
    for means, asked, truth in worlds(12, pairs=pairs):
        found = predict(RUN, means, SEEDS_ERROR, asked)
        covered.append(np.abs(found.mean - truth) <= quantile(len(means)) * np.sqrt(found.variance))
    assert 0.93 <= np.mean(covered) <= 0.99


def test_main_effects_with_the_error_of_seeds_are_far_too_sure() -> None:
    """The interval that was used before: each effect's error, over the root of their number."""
    covered = []
    for means, asked, truth in worlds(12, pairs=0.3):
        halves = RUN.T @ means / len(means)
        error = NOISE / np.sqrt(len(means)) * np.sqrt(len(OTHERS) + 1) * stats.norm.ppf(0.975)
        covered.append(np.abs(means.mean() + asked @ halves - truth) <= error)
    assert np.mean(covered) < 0.3


def test_intervals_of_rows_left_out_cover_them() -> None:
    """About 95 % of the rows, from all others."""
    inside = []
    for means, _, _ in worlds(6, pairs=0.3):
        without = left_out(RUN, means, SEEDS_ERROR)
        inside.append(np.abs(means - without.mean) <= quantile(len(means) - 1) * np.sqrt(without.variance))
    assert 0.88 <= np.mean(inside) <= 1


def test_what_is_known_of_a_row_is_close_to_its_mean() -> None:
    """A row that was run has a narrower interval than one that was not."""
    means, asked, _ = next(worlds(1, pairs=0.3))
    ran, others = (predict(RUN, means, SEEDS_ERROR, at).variance for at in (RUN, asked))
    assert ran.mean() < others.mean()


def test_a_row_of_many_seeds_counts_more_than_one_of_few() -> None:
    """A prediction at a row is closer to its mean if that has no error of its own."""
    means, _, _ = next(worlds(1, pairs=0.3))
    errors = np.full(len(RUN), 4.0)
    sure = np.where(np.arange(len(RUN)) == 0, 1e-6, errors)
    first = [float(abs(predict(RUN, means, noise, RUN[:1]).mean - means[:1])[0]) for noise in (sure, errors)]
    assert first[0] < first[1] / 2


def test_equal_rows_are_predicted_exactly() -> None:
    """Without any variance there is no doubt, and no division by it."""
    found = predict(RUN, np.full(len(RUN), 3.0), np.zeros(len(RUN)), RUN)
    assert found.mean == pytest.approx(np.full(len(RUN), 3.0))
    assert found.variance == pytest.approx(np.zeros(len(RUN)), abs=1e-9)


def test_few_large_pairs_escape_the_intervals() -> None:
    """Two pairs as large as the choices act as others of their chains: rows left out cannot tell, new readings do."""
    left, new = [], []
    for start in range(12):
        rng = np.random.default_rng(start)
        mains, both = rng.normal(0, 1, len(OTHERS)), np.zeros(len(PAIRS))
        both[rng.choice(len(PAIRS), 5, replace=False)] = rng.choice([-1.0, 1.0], 5)
        asked = rng.choice([-1.0, 1.0], (200, len(OTHERS)))
        truth, means = (at @ mains + _products(at) @ both for at in (asked, RUN))
        found, without = predict(RUN, means, SEEDS_ERROR, asked), left_out(RUN, means, SEEDS_ERROR)
        new.append(np.abs(found.mean - truth) <= quantile(len(means)) * np.sqrt(found.variance))
        left.append(np.abs(means - without.mean) <= quantile(len(means) - 1) * np.sqrt(without.variance))
    assert np.mean(left) > 0.95
    assert 0.5 < np.mean(new) < 0.93


def test_readings_run_later_are_inside_or_outside_of_what_was_foreseen() -> None:
    """Load adds two: a reading with as much is inside, and one with ten times as much is not."""
    made = margins({1: lambda row: 2.0 * row["load"]}, noise=0.1)
    models = part_models(with_choices(row_means(made[made["without-acks"] == 0]), readings()))
    rows = [("load", 2.1, 10, reading_of("load")), ("load profile", 20.0, 10, reading_of("load profile"))]
    later = pd.DataFrame(
        [{"reading": name, "claim": 1, "part": "part", "mean": mean, "seeds": n, **way} for name, mean, n, way in rows]
    )
    table = foreseen(models, later).set_index("reading")
    assert table["inside"].to_dict() == {"load": True, "load profile": False}
    assert table.loc["load", "predicted"] == pytest.approx(2.0, abs=0.2)


def test_worlds_are_modelled_apart() -> None:
    """Large margins without a link layer do not widen the small ones with it."""
    small = margins({13: lambda row: 40.0 * row["load"] if row["link"] else 0.001 + 0.0005 * row["load"]}, noise=1e-5)
    models = {
        model.world: model
        for model in part_models(with_choices(row_means(small[small["without-acks"] == 0]), readings()))
    }
    asked = np.array([[1.0 if reading_of("load profile")[name] else -1.0 for name in NAMES if name != "link"]])
    found = models[LINKED].at(asked)
    assert found.mean[0] == pytest.approx(0.0015, abs=2e-4)
    assert np.sqrt(found.variance[0]) < 5e-4
    assert models[BARE].at(asked).mean[0] == pytest.approx(40, rel=0.2)
    table = coverage_table(list(models.values()))
    assert table["rows"].tolist() == [16, 16]
    assert (table["covered"] >= 14).all()
