"""What is said of runs that were asked for and have no trace."""

from __future__ import annotations

import json
from pathlib import Path

from roambus.bridge.runs.layout import FAILED_FILE, SWEEP_FILE, TRACES
from roambus.spark.aggregation.traces import missing

ASKED = {
    "template": "field.ini.j2",
    "set": {},
    "axes": {"nodes": ["2"]},
    "agents": {"mine": ["mine.py", {}]},
    "seeds": [0, 1],
}


def test_a_run_that_failed_needs_more_than_the_sweep_again(tmp_path: Path) -> None:
    """The sweep would leave it out; one that was never made needs no more than that."""
    (tmp_path / SWEEP_FILE).write_text(json.dumps(ASKED))
    failed = tmp_path / TRACES / "agent=mine" / "nodes=2" / "seed=1"
    failed.mkdir(parents=True)
    (failed / FAILED_FILE).write_text("key")
    never, again = missing(tmp_path, [])
    assert never.endswith("seed=0/trace.parquet: missing: run the sweep again to add it")
    assert again.endswith(
        f"it failed (see {failed / 'run.log'}): correct that, then run the sweep again with --retry-failed"
    )
