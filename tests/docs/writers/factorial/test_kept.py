"""Runs that the pages keep."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from docs.writers.factorial.kept import is_there, keep, measured_readings, read_kept, table_of
from docs.writers.factorial.quantities import margins
from roambus.bridge.system.errors import UserError
from tests.experiments.measured import measurements, write_measurements

MEASURED = measurements(configs=("C2", "C4", "C16"), speeds=("2", "8"), seeds=3)


def test_kept_runs_give_the_same_margins(tmp_path: Path) -> None:
    """To the bit, in both counts of messages."""
    keep(MEASURED, tmp_path / "kept.csv")
    kept = margins(read_kept(tmp_path / "kept.csv", tmp_path))
    pd.testing.assert_frame_equal(kept, margins(MEASURED), check_exact=True)


def test_new_results_replace_kept_runs(tmp_path: Path) -> None:
    """And without results the kept ones are read."""
    table = table_of("mine", tmp_path)
    keep(measurements(configs=("C2",), speeds=("2",), seeds=1), table)
    (alone,) = measured_readings(["mine"], tmp_path, tmp_path)
    assert alone[1].seeds == 1
    (tmp_path / "results" / "mine" / "metrics").mkdir(parents=True)
    write_measurements(MEASURED, tmp_path / "results" / "mine")
    (renewed,) = measured_readings(["mine"], tmp_path, tmp_path)
    assert renewed[1].seeds == 3
    assert len(pd.read_csv(table)) == len(MEASURED.runs)


def test_sizes_stand_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    """C4 before C16."""
    keep(MEASURED, tmp_path / "kept.csv")
    assert pd.read_csv(tmp_path / "kept.csv")["config"].unique().tolist() == ["C2", "C4", "C16"]


def test_a_reading_that_was_never_run_is_refused(tmp_path: Path) -> None:
    """The message says what to do."""
    assert not is_there("later", tmp_path, tmp_path)
    with pytest.raises(UserError, match="later: no metrics, and no runs are kept"):
        list(measured_readings(["later"], tmp_path, tmp_path))
