"""The metrics of real runs: the same in SQL, and in whatever order the runs came."""

from __future__ import annotations

import shutil
from pathlib import Path

import pandas as pd
import pytest
from pyspark.sql import SparkSession

from benchmarks.metrics_in_sql import metrics_in_sql
from roambus.bridge.backends.radio.backend import RadioFactory
from roambus.bridge.runs.layout import TRACES, find_traces
from roambus.bridge.runs.run import execute
from roambus.experiments.sweeps.runner import plan_runs
from roambus.experiments.sweeps.selection import override
from roambus.experiments.sweeps.sweep_file import read_sweep
from roambus.spark.aggregation import computation
from roambus.spark.aggregation.aggregate import aggregate
from roambus.spark.aggregation.computation import measure
from roambus.spark.metrics.catalogue import migrations
from roambus.spark.metrics.extra import NOTHING
from tests.spark.synthetic import assert_same

TABLES = ("runs.csv", "runs.parquet", "points.csv", "points.parquet")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The thesis' C2 and C4 for 20 s, by both of its protocols; clients and brokers move at 8 m/s."""
    results = tmp_path_factory.mktemp("real")
    small = {"agent": "mft,aodv", "config": "C2,C4", "speed": "8", "time_limit": "20", "publish_until": "14"}
    for plan in plan_runs(override(read_sweep("thesis"), small, seeds=1), results):
        execute(plan, RadioFactory())
    return results


def test_same_as_in_sql(runs: Path) -> None:
    """The numbers are exactly those of SQL in DuckDB, migrations among them."""
    files = find_traces(runs)
    rows, in_sql = {file: measure(file, 1.0, NOTHING) for file in files}, metrics_in_sql(files)
    assert max(row[migrations.column] for row in rows.values()) > 0
    for file in files:
        assert_same(rows[file], in_sql[file])


@pytest.mark.slow
def test_runs_that_come_and_go(
    runs: Path, tmp_path: Path, session: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Adding runs one aggregation after another gives every table that one of all gives, byte for byte.

    It does not matter either whether a run is a task of its own.
    """
    with monkeypatch.context() as patched:
        patched.setattr(computation, "SMALLEST_WORK", 0)
        patched.setattr(computation, "TASK_WORK", 0)
        aggregate(runs)
    first, *others = sorted(path.relative_to(runs) for path in (runs / TRACES).iterdir())
    for place in (*others, first):
        shutil.copytree(runs / place, tmp_path / place)
        assert aggregate(tmp_path) == []
    for table in TABLES:
        assert (tmp_path / "metrics" / table).read_bytes() == (runs / "metrics" / table).read_bytes()
    shutil.rmtree(tmp_path / first)
    aggregate(tmp_path)
    assert set(pd.read_csv(tmp_path / "metrics" / "runs.csv")["agent"]) == {others[0].name.split("=")[1]}
