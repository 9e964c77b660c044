"""Sweeps that are hit by `kill -9` at random moments end as if nobody had hit them; see benchmarks/sweep_kills.py."""

from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession

from benchmarks.sweep_kills import set_stage, trials


@pytest.mark.slow
def test_a_sweep_killed_at_random_moments_ends_as_an_undisturbed_one(tmp_path: Path, session: SparkSession) -> None:
    """The sweep, a worker or both; traces, sweep.json and metrics are the same, byte for byte, and nothing is left."""
    stage = set_stage(tmp_path, "ideal")
    outcomes = list(trials(stage, 1, Random(1)))
    assert len(outcomes) == 1
    assert [trial for trial in outcomes if trial.complaints] == []
