"""Values that a metric of one's own cannot have are one line with its name, file and line; names are checked, too."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from roambus.bridge.system.errors import UserError
from roambus.spark.aggregation.computation import EXTRA, measure
from roambus.spark.metrics.extra import Extra, own_metrics
from roambus.spark.metrics.metric import Kind, Metric, Scale, metric
from roambus.spark.metrics.run import Run
from tests.spark.synthetic import deliver, publish, write_trace


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return write_trace(tmp_path, "agent=a/seed=0", [publish(1.0, 0, "0.0", [1]), deliver(1.5, 1, "0.0", 1)])


def returning(value: object, **options: Any) -> Metric:
    def mine(_: Run) -> Any:
        if isinstance(value, BaseException):
            raise value
        return value

    return metric("mine", **options)(mine)


ODD: list[tuple[object, dict[str, Any], str]] = [
    (2.7, {"kind": Kind.COUNT}, "returns 2.7, which is not a whole number"),
    (-3, {"kind": Kind.COUNT}, "returns -3, which is below 0"),
    (2.5, {"kind": Kind.WHOLE}, "returns 2.5, which is not a whole number"),
    (2.0, {"scale": Scale.SHARE}, "returns 2.0, which is not from 0 to 1"),
    (-1, {"scale": Scale.LOGARITHMIC}, "returns -1, which is below 0"),
    ([1, 2], {}, "returns a list, which is not a number"),
    (pd.Series([1.0, 2.0]), {}, "returns a Series, which is not a number"),
    (1j, {}, "returns a complex, which is not a number"),
    (10**400, {}, "returns an integer of 1329 bits"),
    (float("inf"), {}, "returns inf"),
    (KeyboardInterrupt(), {}, "fails: KeyboardInterrupt ("),
    (SystemExit(0), {}, "fails: SystemExit: 0 ("),
    (ValueError(), {}, "fails: ValueError ("),
]


@pytest.mark.parametrize(("value", "options", "problem"), ODD, ids=range(len(ODD)))
def test_an_odd_value_is_one_line(trace: Path, value: object, options: dict[str, Any], problem: str) -> None:
    """It names the metric, its file and its line."""
    (line,) = measure(trace, 1.0, Extra((returning(value, **options),))).values()
    assert f"{trace}: mine ({__file__}:" in line
    assert problem in line
    assert "\n" not in line


@pytest.mark.parametrize("value", [None, float("nan"), pd.NA])
def test_nothing_to_measure_is_no_value(trace: Path, value: object) -> None:
    """None, NaN and pandas' own word for it mean the same."""
    assert measure(trace, 1.0, Extra((returning(value),)))[EXTRA] == {}


def test_a_cached_function_is_a_metric(trace: Path) -> None:
    """What goes wrong in it is told by the function inside."""

    @metric("mine")
    @cache
    def mine(_: Run) -> float:
        raise ValueError("no")

    (line,) = measure(trace, 1.0, Extra((mine,))).values()
    assert f"mine ({__file__}:" in line


def test_a_metric_that_changes_a_table_changes_no_other_metric(trace: Path) -> None:
    """Every metric has tables of its own, values and columns."""

    @metric("first")
    def first(run: Run) -> float:
        pairs = run.pairs
        pairs.loc[:, "delay_s"] = 98.0
        pairs["hops"] = 9.0
        deliveries = run.deliveries
        deliveries["hops"] = 7.0
        del deliveries["time_s"]
        return 1.0

    @metric("second")
    def second(run: Run) -> float:
        return float(run.pairs.delay_s.sum() + run.deliveries.hops.sum())

    assert measure(trace, 1.0, Extra((first, second)))[EXTRA] == {"first": 1.0, "second": 1.5}


HEAD = "from roambus import Kind, Scale, metric\n"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            '@metric("x", scale="share")\ndef x(run):\n    return 1\n',
            r"mine.py:2: TypeError: scale='share' is not a Scale",
        ),
        (
            '@metric("x", kind="count")\ndef x(run):\n    return 1\n',
            r"mine.py:2: TypeError: kind='count' is not a Kind",
        ),
        ('@metric("x")\ndef agent(run):\n    return 1\n', "results have agent for something else"),
        ('@metric("x")\ndef seed(run):\n    return 1\n', "results have seed for something else"),
        ('@metric("x")\ndef sent_PUB(run):\n    return 1\n', "results have sent_PUB for something else"),
    ],
)
def test_a_wrong_declaration_is_refused_when_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, problem: str
) -> None:
    """In one line, before anything is computed."""
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(HEAD + text)
    with pytest.raises(UserError, match=problem):
        own_metrics("mine.py")
