"""A path names one run, or the message says what to name."""

from __future__ import annotations

from pathlib import Path

import pytest

from roambus.bridge.system.errors import UserError
from roambus.extensions.viewer.observations import find_source, read_rows
from roambus.extensions.viewer.tests.films import row, write_rows


def test_a_run_is_found_from_above_inside_and_by_its_trace(tree_run: Path) -> None:
    """It is the same run each time, with its scenario and record."""
    results = tree_run.parents[2]
    found = [find_source(path) for path in (results, tree_run, tree_run / "trace.parquet")]
    assert found[0] == found[1] == found[2]
    assert found[0].title == "agent=mft seed=0"
    assert found[0].scenario is not None
    assert found[0].record == tree_run / "frames.roambus"


def test_a_trace_that_stands_alone_is_a_run(tmp_path: Path) -> None:
    """Nothing but its rows is known then."""
    source = find_source(write_rows(tmp_path, [row(0.0, 0, "publish")]))
    assert (source.scenario, source.record) == (None, None)


def test_a_folder_without_or_with_several_runs_says_so(tmp_path: Path, tree_run: Path) -> None:
    """With what to name instead."""
    with pytest.raises(UserError, match=r"nowhere: there is no such run; make one with roambus run --out"):
        find_source(tmp_path / "nowhere")
    with pytest.raises(UserError, match=r"there is no trace\.parquet in or below it"):
        find_source(tmp_path)
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        write_rows(tmp_path / name, [])
    with pytest.raises(UserError, match=r"holds 2 runs: name one, such as .*/a, .*/b$"):
        find_source(tmp_path)


@pytest.mark.parametrize("content", [b"", b"PAR1", b"no trace at all" * 10])
def test_a_file_that_is_no_trace_is_refused(tmp_path: Path, content: bytes) -> None:
    """In one line that names it."""
    path = tmp_path / "trace.parquet"
    path.write_bytes(content)
    with pytest.raises(UserError, match=r"trace\.parquet: damaged .*; make the run again$"):
        read_rows(path)
