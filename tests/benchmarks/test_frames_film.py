"""A film of who sends what, from a trace."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from benchmarks.frames_film import OTHERS, Run, by_type, commonest_types, main
from roambus.bridge.trace.parquet import TraceWriter
from roambus.bridge.trace.schema import TraceRow
from roambus.python_protocol.vocabulary import MIGRATE, MOVE, SECOND, SEND


@pytest.fixture
def trace() -> TraceWriter:
    """Node 0 goes from 0,0 to 10,20 within ten seconds; node 1 stays at 5,5, and is its child from 2 s to 4 s."""
    writer = TraceWriter()
    for at, node, place in ((0, 0, "0 0"), (0, 1, "5 5"), (10, 0, "10 20")):
        writer.add(TraceRow(at * SECOND, node, MOVE, detail=place))
    writer.add(TraceRow(2 * SECOND, 1, MIGRATE, peer=0))
    writer.add(TraceRow(4 * SECOND, 1, MIGRATE))
    for at, node, kind in ((1, 0, "PUB"), (2, 1, "PUB"), (3, 1, "ACK")):
        writer.add(TraceRow(at * SECOND, node, SEND, kind, bytes=40))
    return writer


def test_nodes_are_where_they_have_come_to(trace: TraceWriter) -> None:
    """On a straight line from one place to the next."""
    run = Run("run", trace.table())
    assert np.allclose(run.places(5), [[5, 10], [5, 5]])


def test_the_tree_is_that_of_the_moment(trace: TraceWriter) -> None:
    """Who has lost its parent has none."""
    run = Run("run", trace.table())
    assert [run.parents_at(time) for time in (1, 3, 5)] == [{}, {1: 0}, {}]


def test_frames_are_counted_by_type(trace: TraceWriter) -> None:
    """The commonest come first; types without a colour are counted together."""
    run = Run("run", trace.table())
    assert commonest_types([run]) == ["PUB", "ACK"]
    assert run.frames(1, 3) == Counter(PUB=1, ACK=1)
    assert by_type(run.frames(0, 3), ["PUB"]) == {"PUB": 2, OTHERS: 1}


def test_a_film_of_two_runs_is_one_file(trace: TraceWriter, tmp_path: Path) -> None:
    """An animated GIF."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        trace.write(tmp_path / name / "trace.parquet", {})
    out = tmp_path / "film.gif"
    places = [str(tmp_path / name) for name in ("one", "two")]
    done = CliRunner().invoke(main, [*places, "--from", "1", "--to", "2", "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert out.read_bytes().startswith(b"GIF89a")


@pytest.mark.parametrize("options", [["--from", "3", "--to", "3"], []])
def test_what_cannot_be_shown_is_refused(options: list[str], tmp_path: Path) -> None:
    """No time, or no run."""
    done = CliRunner().invoke(main, [str(tmp_path), *options, "--out", str(tmp_path / "film.gif")])
    assert done.exit_code == 1
    assert "frames_film" in done.output
    assert not (tmp_path / "film.gif").exists()
