"""A second round of readings, from all that were run."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from docs.writers.factorial import ranking
from docs.writers.factorial.design import UNCOUNTED, changes, every_reading, reading_in, reading_of, readings
from docs.writers.factorial.quantities import row_means, with_choices
from docs.writers.factorial.rounds import NEXT, next_readings, pooled_margins, pooled_rows, single_changes
from roambus.spark.aggregation.aggregate import mean_points
from tests.docs.writers.factorial.made_up import margins
from tests.experiments.measured import measurements

DESIGNED = measurements(configs=("C2", "C4"), speeds=("2", "8"), seeds=3)
CONFIRMED = measurements(configs=("C2", "C4"), speeds=("2", "6", "8"), seeds=5)
LOAD, NOTHING = reading_of("load"), reading_of("")


def test_equal_readings_are_one_row_with_the_seeds_of_all() -> None:
    """Seeds that both have count once."""
    later = CONFIRMED.runs[CONFIRMED.runs["seed"] >= 3]
    rows = pooled_rows(pooled_margins([(LOAD, DESIGNED), (LOAD, replace(CONFIRMED, runs=later)), (NOTHING, CONFIRMED)]))
    assert set(rows["seeds"]) == {5}
    assert rows.groupby("reading")["load"].unique().map(list).to_dict() == {"": [False], "load": [True]}
    twice = pooled_rows(pooled_margins([(LOAD, DESIGNED), (LOAD, DESIGNED)]))
    assert set(twice["seeds"]) == {3}


def test_rows_are_at_the_speeds_of_the_design() -> None:
    """A confirmed reading has 6 m/s as well, which would change slopes and means; claim 5 has no row."""
    runs = CONFIRMED.runs[(CONFIRMED.runs["speed"] != "6") & (CONFIRMED.runs["seed"] < 3)]
    alone = pooled_rows(pooled_margins([(LOAD, replace(CONFIRMED, runs=runs, points=mean_points(runs)))]))
    seeds = CONFIRMED.runs[CONFIRMED.runs["seed"] < 3]
    pd.testing.assert_frame_equal(pooled_rows(pooled_margins([(LOAD, replace(CONFIRMED, runs=seeds))])), alone)
    assert 5 not in set(alone["claim"])
    assert 4 not in set(alone["claim"]), "it is about C16, which was not run"


def test_a_claim_that_one_reading_lacks_has_no_row() -> None:
    """Claim 4 is about C16."""
    large = measurements(configs=("C2", "C4", "C16"), speeds=("2", "8"), seeds=3)
    assert 4 in set(pooled_rows(pooled_margins([(LOAD, large)]))["claim"])
    assert 4 not in set(pooled_rows(pooled_margins([(LOAD, large), (NOTHING, DESIGNED)]))["claim"])


def test_the_next_readings_are_new_ones_with_most_chance_of_ten_claims(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reading of most claims is known, so it is not asked for again; ties keep the order of the ranking."""
    free = ["load", "profile", "places"]
    every = every_reading()
    few = every[every.drop(columns=free).sum(axis=1) == 0].reset_index(drop=True)
    monkeypatch.setattr(ranking, "every_reading", lambda: few)
    truths = {claim: (lambda row: 2.0 * row["load"] - 1.0) for claim in range(10)}
    rows = with_choices(row_means(margins(truths)), readings())
    chosen = next_readings(rows, [LOAD])
    assert chosen["name"].tolist() == [f"next-{place:02}" for place in range(1, NEXT + 1)]
    assert "load" not in [changes(reading_in(row)) for _, row in chosen.iterrows()]
    assert chosen["load"].all()
    assert chosen["10 or more"].is_monotonic_decreasing
    assert set(chosen[UNCOUNTED]) <= {0, 1}


def test_a_choice_is_measured_by_readings_that_differ_in_it_alone() -> None:
    """Load adds 2 with and without places; nothing differs from the first in jitter alone."""
    truth = {"": 0.0, "load": 2.0, "places": 5.0, "load places": 7.1, "jitter profile": 9.0}
    rows = [
        {"reading": words, UNCOUNTED: 0, "claim": 1, "part": "part", "seed": seed, "margin": mean + 0.1 * seed}
        for words, mean in truth.items()
        for seed in range(3)
    ]
    found = single_changes(pd.DataFrame(rows)).set_index("choice")
    assert found["pairs"].to_dict() == {"load": 2, "places": 2}
    assert found["change"].to_dict() == pytest.approx({"load": 2.05, "places": 5.05})
    assert found["significant"].all()


def test_a_choice_is_measured_on_common_seeds_only() -> None:
    """Seeds 3 to 5 of one reading and 0 to 2 of the other say nothing; messages are counted with acknowledgements."""
    rows = [
        {"reading": words, UNCOUNTED: way, "claim": 1, "part": "part", "seed": seed, "margin": float(way + seed % 2)}
        for words, seeds in (("", range(3)), ("load", range(3, 6)), ("load profile", range(3, 6)))
        for seed in seeds
        for way in (0, 1)
    ]
    found = single_changes(pd.DataFrame(rows))
    assert found["choice"].tolist() == ["profile"]
    assert found["seeds"].tolist() == [3]


def test_every_row_of_the_design_is_a_different_reading() -> None:
    """Else two rows would be pooled as one."""
    assert len({changes(reading) for reading in readings().values()}) == 32
