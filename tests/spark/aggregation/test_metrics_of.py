"""The metrics of chosen runs, wherever they come from."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from pyspark.sql import SparkSession

from roambus.bridge.runs.layout import find_traces
from roambus.bridge.system.errors import RoambusError
from roambus.spark.aggregation.aggregate import aggregate, metrics_of
from roambus.spark.aggregation.traces import list_traces
from tests.spark.synthetic import random_trace, write_trace

RUNS = [f"agent=a/nodes=4/seed={seed}" for seed in range(3)]


@pytest.fixture
def results(tmp_path: Path) -> Path:
    for seed, run in enumerate(RUNS):
        write_trace(tmp_path, run, random_trace(seed, publications=5))
    return tmp_path


@pytest.mark.slow
def test_metrics_are_computed_or_taken_from_the_store(results: Path, session: SparkSession) -> None:
    """They are the same either way, and what other runs have in the store stays."""
    traces, _ = list_traces(find_traces(results))
    expected, _ = metrics_of(results / "another-store", traces)
    first, problems = metrics_of(results, traces[:2])
    assert problems == {}
    pd.testing.assert_frame_equal(first[expected.columns], expected.iloc[:2], check_dtype=False)
    assert aggregate(results) == []
    pd.testing.assert_frame_equal(
        metrics_of(results, traces[2:], master="no master is asked for")[0][expected.columns],
        expected.iloc[2:],
        check_dtype=False,
    )


def test_a_trace_whose_pages_are_damaged_is_reported(results: Path, session: SparkSession) -> None:
    """The others have their metrics."""
    traces, _ = list_traces(find_traces(results))
    content = bytearray(traces[0].file.read_bytes())
    content[len(content) // 4] ^= 1
    traces[0].file.write_bytes(content)
    metrics, problems = metrics_of(results, traces)
    assert list(problems) == [traces[0].file]
    assert list(metrics.index) == RUNS[1:]


def test_an_aggregation_takes_what_a_comparison_has_computed(results: Path, session: SparkSession) -> None:
    """Without Spark, unless everything is to be read afresh."""
    metrics_of(results, list_traces(find_traces(results))[0])
    assert aggregate(results, "no master is asked for") == []
    with pytest.raises(RoambusError, match="no master is asked for"):
        aggregate(results, "no master is asked for", afresh=True)
