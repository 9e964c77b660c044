"""What is said of runs that were asked for and have no trace."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from roambus.bridge.runs.layout import FAILED_FILE, SWEEP_FILE, TRACES
from roambus.bridge.system.errors import UserError
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
    again, never = missing(tmp_path, [])
    assert (
        never
        == f"{tmp_path}: 1 run is missing, such as {failed.with_name('seed=0')}: the same sweep adds what is missing"
    )
    assert again.endswith(
        f"it failed (see {failed / 'run.log'}): correct that, then run the sweep again with --retry-failed"
    )


def test_however_many_runs_were_never_made_they_have_one_line(tmp_path: Path) -> None:
    """With their number, one of them, and the command that makes them."""
    (tmp_path / SWEEP_FILE).write_text(json.dumps({**ASKED, "seeds": list(range(40))}))
    (line,) = missing(tmp_path, [], "roambus sweep mine.toml")
    assert line.startswith(f"{tmp_path}: 40 runs are missing, such as {tmp_path / TRACES}")
    assert line.endswith("/seed=0: roambus sweep mine.toml adds what is missing")


def test_a_run_whose_name_no_file_can_have_is_missing(tmp_path: Path) -> None:
    """A request can be damaged: a seed of hundreds of digits, or a value as long."""
    for damage in ({"seeds": [10**400]}, {"axes": {"nodes": ["9" * 400]}}, {"axes": {"n" * 400: ["2"]}}):
        (tmp_path / SWEEP_FILE).write_text(json.dumps({**ASKED, **damage}))
        assert "missing, such as" in missing(tmp_path, [])[0]


@pytest.mark.parametrize(
    "damage", [{"titles": {"mine": "\ud800"}}, {"axes": {"nodes": ["\ud800"]}}, {"sweep": "\ud800"}]
)
def test_half_a_character_in_a_request_is_refused(tmp_path: Path, damage: dict[str, object]) -> None:
    """Figures could not draw it."""
    (tmp_path / SWEEP_FILE).write_text(json.dumps({**ASKED, **damage}))
    with pytest.raises(UserError, match="half a character"):
        missing(tmp_path, [])
