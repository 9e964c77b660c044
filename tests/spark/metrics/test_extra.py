"""What is measured beside the catalogue: in the tables, kept like all metrics, and wrong only with a message."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pyspark.sql import SparkSession

from roambus.bridge.runs.layout import SWEEP_FILE
from roambus.bridge.system.errors import RoambusError, UserError
from roambus.experiments.comparing.loading import load
from roambus.experiments.comparing.selection import check_metric
from roambus.experiments.measurements import read_measurements
from roambus.spark.aggregation import aggregate as aggregation
from roambus.spark.aggregation.aggregate import aggregate
from roambus.spark.metrics import travel
from roambus.spark.metrics.extra import Extra, own_metrics
from roambus.spark.metrics.metric import metric
from roambus.spark.metrics.run import Run
from tests.spark.synthetic import deliver, publish, write_trace

NO_MASTER = "no master is asked for"


@metric("last", "s")
def last_s(run: Run) -> float:
    """When the last delivery came."""
    return float(run.deliveries.time_s.max())


@metric("deliveries")
def count(run: Run) -> float:
    """How many there were."""
    return len(run.deliveries) or float("nan")


EXTRA = Extra((last_s, count))
OWN = """\
from roambus import metric

import helper


@metric("last", unit="s")
def last_s(run):
    \"\"\"When the last delivery came.\"\"\"
    return helper.last(run.deliveries)
"""
HELPER = "def last(deliveries):\n    return deliveries.time_s.max()\n"


@pytest.fixture
def results(tmp_path: Path, session: SparkSession) -> Path:
    """Two deliveries with seed 0, none with seed 1."""
    published = [publish(1.0, 0, "0.0", [3, 2])]
    folder = tmp_path / "results"
    write_trace(folder, "agent=a/nodes=9/seed=0", [*published, deliver(2.5, 3, "0.0", 2), deliver(1.5, 2, "0.0", 1)])
    write_trace(folder, "agent=a/nodes=9/seed=1", published)
    return folder


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of a user's with a metric, and beside it what that imports."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "helper", raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "helper.py").write_text(HELPER)
    file = tmp_path / "mine.py"
    file.write_text(OWN)
    return file


def measured(results: Path, name: str) -> pd.DataFrame:
    return pd.read_csv(results / "metrics" / f"{name}.csv")


def test_metrics_stand_beside_the_others(results: Path) -> None:
    """In runs behind those of the catalogue, in points as means; a run without one counts in no mean."""
    assert aggregate(results, extra=EXTRA) == []
    runs = measured(results, "runs")
    np.testing.assert_equal(runs["last_s"].tolist(), [2.5, np.nan])
    assert list(runs.columns)[list(runs.columns).index("last_s") + 1] == "count"
    point = measured(results, "points").set_index("metric").loc["count"]
    assert (point["mean"], point["n"]) == (2, 1)


def test_what_is_known_is_not_read_again(results: Path) -> None:
    """Spark is not even started for traces as they were; without the study, or with another, everything is computed."""
    aggregate(results, extra=EXTRA)
    before = {file.name: file.read_bytes() for file in (results / "metrics").iterdir()}
    aggregate(results, NO_MASTER, extra=EXTRA)
    assert {file.name: file.read_bytes() for file in (results / "metrics").iterdir()} == before
    shutil.rmtree(results / "metrics")
    aggregate(results, extra=Extra((last_s,)))
    assert "last_s" in measured(results, "runs").columns
    aggregate(results)
    assert "last_s" not in measured(results, "runs").columns


def test_metrics_of_ones_own_are_computed_with_what_they_import(results: Path, own: Path) -> None:
    """No executor can import either of them: both are sent."""
    extra = own_metrics(str(own))
    assert [(entry.column, entry.axis_title, entry.meaning) for entry in extra.metrics] == [
        ("last_s", "last (s)", "When the last delivery came.")
    ]
    assert aggregate(results, extra=extra) == []
    np.testing.assert_equal(measured(results, "runs")["last_s"].tolist(), [2.5, np.nan])


def test_a_file_of_the_installation_is_a_file_of_ones_own(results: Path) -> None:
    """As the message of `compare` names it: it lies among modules that executors have under other names."""
    extra = own_metrics(str(travel.__file__))
    assert aggregate(results, extra=extra) == []
    assert {metric.column for metric in extra.metrics} <= set(read_measurements(results).runs)


def test_a_changed_helper_of_a_metric_computes_it_anew(results: Path, own: Path) -> None:
    """What the metric imports of its own project is part of what is known of it; what nobody imports is not."""
    before = own_metrics(str(own)).digest()
    (own.parent / "unused.py").write_text("")
    assert own_metrics(str(own)).digest() == before
    (own.parent / "helper.py").write_text(HELPER.replace("max", "min"))
    assert own_metrics(str(own)).digest() != before


def test_tables_say_what_metrics_of_ones_own_are(results: Path, own: Path) -> None:
    """So that figures and reports of them need not run their code."""
    aggregate(results, extra=own_metrics(str(own)))
    found = read_measurements(results).metric("last_s")
    assert (found.axis_title, found.meaning, found.compute) == ("last (s)", "When the last delivery came.", None)


def test_a_comparison_has_metrics_of_ones_own_that_were_aggregated(
    results: Path, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without their file, and without Spark; before, the error names the option."""
    (results / SWEEP_FILE).write_text(json.dumps({"measure": ["own.py"], "agents": {"a": ["a", {}]}}))
    aggregate(results)
    with pytest.raises(UserError, match=r"unknown metric 'last_s'.*; the sweep's own metrics need --measure own\.py"):
        check_metric(load(results).measured, "last_s")
    aggregate(results, extra=own_metrics(str(own)))
    monkeypatch.setattr(aggregation, "spark_session", None)
    found = load(results).measured
    check_metric(found, "last_s")
    assert found.points.query("metric == 'last_s'")["mean"].tolist() == [2.5]


def test_two_metrics_of_one_name_are_refused(own: Path) -> None:
    """Whichever of them came first."""
    with pytest.raises(UserError, match="there are two metrics last_s: give one of them another name"):
        EXTRA + own_metrics(str(own))


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (
            "helper.last(run.deliveries)",
            "1 / 0",
            r"last_s \(.*mine.py:6\) fails: ZeroDivisionError: .* \(.*mine.py:9\)",
        ),
        ("helper.last(run.deliveries)", "int(chr(0xD800))", r"last_s .* fails: ValueError: .*ud800"),
        ("helper.last(run.deliveries)", "'much'", "last_s .* returns a str, which is not a number"),
        ("helper.last(run.deliveries)", "float('inf')", "last_s .* returns inf: return NaN where there is nothing"),
    ],
)
def test_a_metric_that_fails_is_named(results: Path, own: Path, old: str, new: str, problem: str) -> None:
    """With its place, and the run: no traceback of Spark's."""
    own.write_text(OWN.replace(old, new))
    with pytest.raises(UserError, match=rf"trace.parquet: {problem}"):
        aggregate(results, extra=own_metrics(str(own)))


def test_a_metric_that_kills_its_python_is_named(results: Path, own: Path) -> None:
    """With the one run of the task for which it does."""
    own.write_text(OWN.replace("helper.last(run.deliveries)", "'seed=0' in str(run.file) or __import__('os')._exit(3)"))
    with pytest.raises(
        RoambusError, match=r"seed=1/trace.parquet: the Python .* was killed, .*: last_s \(.*mine.py:6\)$"
    ):
        aggregate(results, extra=own_metrics(str(own)))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (OWN.replace("def last_s", "def delivered"), "delivered is a metric of every run: give it another name"),
        ("from roambus import metric", r"no function there is a metric: write @metric\(TITLE\) over one"),
        ("import nowhere", "mine.py:1: ModuleNotFoundError"),
    ],
)
def test_a_file_that_is_no_use_is_refused(own: Path, text: str, problem: str) -> None:
    """Before anything is computed."""
    own.write_text(text)
    with pytest.raises(UserError, match=problem):
        own_metrics(str(own))


def test_a_package_that_is_not_there_is_named() -> None:
    """With what can be given instead."""
    with pytest.raises(UserError, match=r"unknown metrics 'none'.*or give path/to/file.py"):
        own_metrics("none")
