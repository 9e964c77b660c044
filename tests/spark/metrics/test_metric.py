"""The declaration of a metric says how readers see it, and comes back from its text."""

from __future__ import annotations

from roambus.spark.metrics.catalogue import METRICS
from roambus.spark.metrics.metric import Metric, Scale, Support, declarations, declared


def test_a_title_has_its_unit_in_brackets() -> None:
    """Counts and shares have none."""
    assert Metric("delay_s", "delay", "How long it takes.", unit="s").axis_title == "delay (s)"
    assert Metric("messages", "messages", "How many there are.").axis_title == "messages"


def test_declarations_come_back_from_their_text() -> None:
    """Without the functions, and without choices of the catalogue that tables do not have."""
    read = declared(declarations(METRICS))
    assert [(entry.column, entry.axis_title, entry.kind) for entry in read] == [
        (entry.column, entry.axis_title, entry.kind) for entry in METRICS
    ]
    assert [entry.support for entry in read] == [entry.support for entry in METRICS]


def test_a_share_has_a_scale_of_its_own() -> None:
    """From 0 to 1; a skewed number has a logarithm."""
    plain, skewed = (Metric("a", "a", "A.", skewed=is_skewed).support for is_skewed in (False, True))
    share = Metric("a", "a", "A.", scale=Scale.SHARE).support
    assert (plain, skewed, share) == (Support.ANY, Support.POSITIVE, Support.SHARE)
