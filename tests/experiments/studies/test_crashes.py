"""The sentences on crashes: their settings, the pairs left out, and runs without a later publication."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from roambus.bridge.runs.layout import TRACE_FILE, TRACES
from roambus.bridge.trace.schema import CRASH, PUBLISH
from roambus.experiments.measurements import Measurements
from roambus.experiments.studies.conditions import conditions
from roambus.experiments.studies.crashes import crashes
from roambus.experiments.studies.study import SweepResults
from tests.experiments.measured import measurements, of_thesis


def trace(results: Path, config: str, seed: int, *rows: tuple[float, str]) -> None:
    """Write the times and events of a run."""
    file = results / TRACES / "agent=mft" / f"config={config}" / "speed=8" / f"seed={seed}" / TRACE_FILE
    file.parent.mkdir(parents=True)
    pq.write_table(pa.table({"time_s": [time for time, _ in rows], "event": [event for _, event in rows]}), file)


def crashing(**given: Any) -> Measurements:
    found = measurements(configs=("C2",), speeds=("8",), seeds=2, agents=("mft",))
    sweep = {**found.sweep, "set": {**found.sweep["set"], **given}}
    return replace(found, runs=found.runs.assign(down_for_good=[3, 4]), sweep=sweep)


def test_a_run_in_which_all_publishers_crash_is_named(tmp_path: Path) -> None:
    """It is in the mean, though it shows nothing of the time after the crash."""
    trace(tmp_path, "C2", 0, (5.0, PUBLISH), (10.0, CRASH), (15.0, PUBLISH))
    trace(tmp_path, "C2", 1, (5.0, PUBLISH), (10.0, CRASH), (10.0, CRASH))
    assert crashes(crashing(crash_share=0.3, crash_at=10), tmp_path) == (
        "Nodes crash in 2 of 2 runs (crash_share 0.3; crash_at 10). "
        "Pairs of a node that stays down are not expected (7). "
        "The means hold runs in which nothing was published after the crash: config C2, speed 8, seed 1."
    )


def test_a_caption_names_a_few_runs(tmp_path: Path) -> None:
    """It counts the others, and knows also crashes of a template without these settings."""
    for seed in range(6):
        trace(tmp_path, "C2", seed, (10.0, CRASH))
    text = crashes(crashing(), tmp_path)
    assert text.startswith("Nodes crash in 6 of 6 runs. ")
    assert text.endswith("config C2, speed 8, seed 3 and 2 more.")


def test_captions_end_with_the_crashes(tmp_path: Path) -> None:
    """With those of any sweep, also without a study, and without the traces as far as the metrics know."""
    found = crashing(crash_share=0.3, crash_at=10)
    known = "Nodes crash (crash_share 0.3; crash_at 10). Pairs of a node that stays down are not expected (7)."
    assert conditions(SweepResults(found, None, tmp_path)) == known
    assert conditions(of_thesis(found)).endswith(known)


def test_without_a_crash_there_is_no_sentence(tmp_path: Path) -> None:
    """A share of 0 is none, and a damaged trace says nothing."""
    trace(tmp_path, "C2", 0, (5.0, PUBLISH))
    (tmp_path / TRACES / "agent=mft" / "config=C2" / "speed=8" / "seed=1").mkdir()
    (tmp_path / TRACES / "agent=mft" / "config=C2" / "speed=8" / "seed=1" / TRACE_FILE).write_bytes(b"nonsense")
    found = crashing(crash_share=0)
    assert crashes(replace(found, runs=found.runs.assign(down_for_good=0)), tmp_path) == ""
