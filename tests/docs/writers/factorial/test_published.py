"""Verdicts from published means alone are safe: an interval is never too narrow."""

from __future__ import annotations

import pytest

from docs.writers.factorial.published import (
    TESTS,
    Bounded,
    Estimate,
    parsed,
    published_sides,
    read_book,
    slope,
    verdict,
)
from docs.writers.factorial.sides import JUDGED, SENTENCES
from docs.writers.factorial.tables import REPRODUCTION
from roambus.experiments.claims import Side, Verdict
from roambus.experiments.studies.thesis.claims import doublings


@pytest.mark.parametrize(
    ("cell", "mean", "half"),
    [
        ("0.824 (0.764 to 0.889)", 0.824, 0.0655),
        ("1,143 ± 6", 1143, 6.5),
        ("1.000 ± 0.000", 1, 0.0005),
    ],
)
def test_a_cell_has_its_wider_side_and_half_of_its_last_digit(cell: str, mean: float, half: float) -> None:
    """Rounding is part of the doubt."""
    assert parsed(cell) == pytest.approx((mean, half))


def test_the_interval_of_a_slope_is_that_of_the_worst_correlation() -> None:
    """Over 0, 1 and 2 the ends count a half each."""
    assert slope([Estimate(0, 0.1), Estimate(5, 9), Estimate(4, 0.3)], [0, 1, 2]) == pytest.approx((2, 0.2))


@pytest.mark.parametrize(
    ("mean", "said"),
    [(1.2, Verdict.HOLDS), (0.8, Verdict.DOES_NOT_HOLD), (1.05, Verdict.NOT_SIGNIFICANT)],
)
def test_a_verdict_needs_more_than_the_interval(mean: float, said: Verdict) -> None:
    """The bound is 1, the interval 0.1."""
    assert verdict([Bounded(Estimate(mean, 0.1), Side.ABOVE, 1.0)]) is said


def test_the_exponents_of_the_published_means_are_the_published_exponents() -> None:
    """Claim 9 as judged is by size."""
    book = read_book(REPRODUCTION)
    for line, part in (("AODV", 0), ("MFT-PubSub", 1)):
        found, published = book.exponent(line, doublings), book.parts(9)[part]
        assert found.mean == pytest.approx(published.mean, abs=published.half)
        assert found.half >= published.half


def test_every_sentence_has_its_verdicts_and_sides_of_their_own() -> None:
    """Only the share that is begun at each size is not published."""
    table = published_sides(REPRODUCTION)
    unpublished = table[table["verdict"] == "not measured"]
    assert unpublished[["claim", "side"]].to_numpy().tolist() == [["16", "stricter"]]
    sides = {(sentence.claims, side) for sentence in SENTENCES for side in sentence.sides if side != JUDGED}
    assert set(TESTS) == sides - {("16", "stricter")}
