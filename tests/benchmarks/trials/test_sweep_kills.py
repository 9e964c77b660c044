"""Sweeps that are hit by `kill -9` at random moments end as if nobody had hit them; see `benchmarks.trials kills`."""

from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession

from benchmarks.trials.kills import set_stage, subjects, trials


@pytest.mark.slow
def test_a_sweep_killed_at_random_moments_ends_as_an_undisturbed_one(
    tmp_path: Path, session: SparkSession, stand_in: Path
) -> None:
    """The sweep, a worker or both; traces, sweep.json and metrics are the same, byte for byte, and nothing is left."""
    stage = set_stage(subjects(tmp_path, backend="ideal")["sweep on the radio"], tmp_path / "killed")
    outcomes = list(trials(stage, 1, Random(1)))
    assert len(outcomes) == 1
    assert [trial for trial in outcomes if trial.complaints] == []
