"""Probabilities, expected numbers of claims, and power."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from docs.writers.factorial import ranking
from docs.writers.factorial.design import NAMES, UNCOUNTED, every_reading, readings
from docs.writers.factorial.model import Prediction, part_models
from docs.writers.factorial.quantities import row_means, with_choices
from docs.writers.factorial.ranking import at_least, detectable, holding, power_table, ranked, top, verdicts_left_out
from docs.writers.factorial.tables import verdict_table
from tests.docs.writers.factorial.made_up import margins

KNOWN = Prediction(np.array([0.0, 1.0]), np.zeros(2))


def test_a_margin_of_zero_holds_at_the_rate_of_error() -> None:
    """Half of 5 %: the other half is on the other side."""
    assert holding(KNOWN, 1.0, 10)[0] == pytest.approx(0.025, abs=0.004)


def test_the_probability_is_that_of_drawn_seeds() -> None:
    """Student's test of ten normal values, drawn often, holds as often."""
    values = np.random.default_rng(1).normal(1.0, 1.0, (20_000, 10))
    needed = 2.262 * values.std(axis=1, ddof=1) / np.sqrt(10)
    assert holding(KNOWN, 1.0, 10)[1] == pytest.approx((values.mean(axis=1) > needed).mean(), abs=0.015)


def test_doubt_of_the_model_moves_probabilities_towards_a_half() -> None:
    """A margin that is large beside its seeds, and small beside its doubt."""
    assert holding(Prediction(np.array([1.0]), np.array([100.0])), 0.01, 10)[0] == pytest.approx(0.54, abs=0.02)


def test_more_seeds_see_smaller_margins() -> None:
    """Ten seeds see one standard deviation with 80 % (Cohen), and three need far more."""
    assert detectable(1.0, 10) == pytest.approx(1.0, abs=0.03)
    assert detectable(1.0, 3) > 3 * detectable(1.0, 10) > 4.5 * detectable(1.0, 30)
    assert detectable(0.0, 3) == 0


def test_the_probability_of_so_many_claims_counts_all_ways() -> None:
    """Of two claims with 0.5 each, one or more hold with 0.75."""
    halves = np.full((2, 1), 0.5)
    assert [float(at_least(halves, number)[0]) for number in (0, 1, 2)] == pytest.approx([1, 0.75, 0.25])


def test_the_reading_that_makes_a_claim_hold_is_ranked_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second claim needs acknowledgements that do not count, and the first one load."""
    monkeypatch.setattr(ranking, "every_reading", _few)
    table = margins({1: lambda row: 2.0 * row["load"] - 1.0, 2: lambda _: 0.25}, uncounted=-0.5)
    rows = with_choices(row_means(table), readings())
    best = ranked(rows).iloc[0]
    assert best["load"]
    assert not best[UNCOUNTED]
    assert best["changes"] == 1
    assert best["expected"] == pytest.approx(2, abs=0.1)
    chosen = top(ranked(rows), 2)
    assert chosen["name"].tolist() == ["top-01", "top-02"]
    assert not chosen.duplicated(NAMES).any()


def _few() -> pd.DataFrame:
    """The readings that change load, or profile, or both, or neither."""
    table = _EVERY()
    return table[table.drop(columns=["load", "profile"]).sum(axis=1) == 0].reset_index(drop=True)


_EVERY = every_reading


def test_verdicts_of_rows_left_out_are_expected_about_as_often_as_found() -> None:
    """Half of the rows hold here, by load."""
    table = margins({1: lambda row: 2.0 * row["load"] - 1.0})
    models = part_models(with_choices(row_means(table[table[UNCOUNTED] == 0]), readings()))
    said = verdict_table(table[table[UNCOUNTED] == 0], readings()).set_index("reading")
    checked = verdicts_left_out(models, said)
    assert checked["found"].tolist() == [8, 8]
    assert checked["expected"].to_numpy() == pytest.approx([8, 8], abs=1)


def test_power_counts_the_rows_that_lean_unseen() -> None:
    """Margins of half a standard deviation: three and ten seeds do not see them, and a hundred do."""
    table = margins({1: lambda _: 0.5}, noise=1.0, seeds=10)
    models = part_models(with_choices(row_means(table[table[UNCOUNTED] == 0]), readings()))
    power = power_table(models, (3, 10, 100))
    assert (power["leaning, unseen with 3 seeds"] == power["leaning"]).all()
    assert (power["leaning, unseen with 100 seeds"] <= 4).all()
