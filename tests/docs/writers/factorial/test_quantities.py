"""Margins, and the verdicts that follow from them."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from docs.writers.factorial.design import UNCOUNTED
from docs.writers.factorial.quantities import (
    CLAIM,
    CLAIMS,
    MARGIN,
    PART,
    READING,
    SEEDS,
    margins,
    pooled_sd,
    row_means,
    verdicts,
    without_acknowledgements,
)
from roambus.experiments.claims import Verdict, judge
from roambus.spark.metrics import catalogue as c
from tests.experiments.measured import measurements

MEASURED = measurements(configs=("C2", "C4", "C8"), speeds=("2", "8"), seeds=3)


def test_acknowledgements_that_do_not_count_are_no_messages() -> None:
    """A quarter of all here, of nodes as of the whole."""
    runs = MEASURED.runs.assign(sent_ACK=MEASURED.runs[c.MESSAGES] / 4)
    left = without_acknowledgements(replace(MEASURED, runs=runs)).runs
    for metric in (c.MESSAGES, c.MESSAGES_PER_NODE):
        assert left[metric].to_numpy() == pytest.approx(runs[metric].to_numpy() * 0.75)


def test_runs_without_acknowledgements_have_equal_margins_in_both_counts() -> None:
    """To the bit: effects that differ by rounding would count twice in a correction."""
    counted, uncounted = (margins(each) for each in (MEASURED, without_acknowledgements(MEASURED)))
    pd.testing.assert_frame_equal(counted, uncounted, check_exact=True)


def test_verdicts_from_margins_are_those_of_the_claims() -> None:
    """Each claim that these runs measure has the verdict that its own test gives."""
    said = verdicts(margins(MEASURED))
    assert {Verdict.HOLDS, Verdict.DOES_NOT_HOLD} <= set(said.values())
    for claim, verdict in said.items():
        assert verdict is judge(list(CLAIMS[claim].parts(MEASURED)))


def test_a_margin_is_positive_on_the_claimed_side() -> None:
    """Also for claims below their bound."""
    table = margins(MEASURED)
    for claim, verdict in verdicts(table).items():
        if verdict is Verdict.HOLDS:
            assert (table[table[CLAIM] == claim].groupby(PART)[MARGIN].mean() > 0).all()


def test_a_seed_without_the_runs_of_a_claim_has_no_margin_of_it() -> None:
    """The other seeds keep theirs."""
    runs = MEASURED.runs
    lacking = replace(MEASURED, runs=runs[(runs["seed"] != 2) | (runs["config"] != "C2")])
    seeds = margins(lacking).groupby(CLAIM)["seed"].agg(set)
    assert seeds.to_dict()[8] == {0, 1}


def test_the_pooled_spread_leaves_out_rows_of_one_seed() -> None:
    """Of values 1 and 3, and of one value, it is that of 1 and 3."""
    rows = [("01", 0, 1, "part", 0, 1.0), ("01", 0, 1, "part", 1, 3.0), ("02", 0, 1, "part", 0, 9.0)]
    means = row_means(pd.DataFrame(rows, columns=[READING, UNCOUNTED, CLAIM, PART, "seed", MARGIN]))
    assert means[SEEDS].tolist() == [2, 1]
    assert pooled_sd(means) == pytest.approx(2**0.5)
