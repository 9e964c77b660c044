"""Trends over an axis."""

from __future__ import annotations

import pandas as pd
import pytest

from roambus.experiments.measurements import NotMeasuredError, slopes


def test_a_line_has_its_slope() -> None:
    """Each row has its own."""
    assert slopes(pd.DataFrame([[1.0, 3.0, 4.0], [0.1, 0.1, 0.2]]), [2, 6, 8]).tolist() == pytest.approx([0.5, 1 / 70])


def test_a_constant_has_a_slope_of_exactly_nothing() -> None:
    """Otherwise equal seeds would be significant, on the side that rounding falls to."""
    table = pd.DataFrame([[1.0, 1.0, 1.0], [0.1, 0.1, 0.1]])
    assert slopes(table, [2.0, 6.0, 8.0]).tolist() == [0.0, 0.0]


def test_one_value_is_no_trend() -> None:
    """The claim is not measured."""
    with pytest.raises(NotMeasuredError, match="at least two values"):
        slopes(pd.DataFrame([[1.0]]), [2.0])
