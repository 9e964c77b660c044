"""What a run plays of a recording, and what of it the recording does not say."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from roambus.bridge.formats.recordings import Excerpt, at_first, choose, gaps, later, read_k7
from roambus.python_protocol.simtime import SECOND
from tests.support.recordings import k7, row


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def excerpt(folder: Path, rows: Sequence[str], start: int = 0, lasting: int = 100, pace: float = 1) -> Excerpt:
    (folder / "links.k7").write_text(k7(rows))
    recording = read_k7(folder / "links.k7")
    return Excerpt(choose(recording, None, 2), 2, start * SECOND, pace, lasting * SECOND)


ROWS = [row(0, 0, 1, -70, 1), row(30, 1, 0, -71, 0.9), row(60, 0, 1, -80, 0.5), row(300, 0, 1, -90, 0.1)]


def test_a_link_begins_with_its_last_row_up_to_the_start(folder: Path) -> None:
    """One that has none yet begins with its first."""
    assert at_first(excerpt(folder, ROWS)).tolist() == [0, 1]
    assert at_first(excerpt(folder, ROWS, start=60)).tolist() == [1, 2]


def test_a_row_comes_into_force_at_its_time(folder: Path) -> None:
    """If the run lasts so long."""
    rows, times = later(excerpt(folder, ROWS))
    assert (rows.tolist(), (times / SECOND).tolist()) == ([1, 2], [30, 60])


def test_a_recording_can_be_played_faster(folder: Path) -> None:
    """At ten times its pace, 300 s pass in 30 s; at none, nothing changes."""
    rows, times = later(excerpt(folder, ROWS, pace=10))
    assert (rows.tolist(), (times / SECOND).tolist()) == ([1, 2, 3], [3, 6, 30])
    assert later(excerpt(folder, ROWS, pace=0))[0].tolist() == []


def test_gaps_are_named(folder: Path) -> None:
    """Links without rows, ones that come late, and the end of the recording."""
    rows = [row(0, 0, 1, -70, 1), row(200, 0, 1, -70, 1), row(50, 2, 1, -70, 1)]
    assert list(gaps(excerpt(folder, rows, lasting=300))) == [
        "1 of 2 links have no row: they carry nothing and do not interfere",
        "the recording ends 100 s before the run does: links stay as they were last recorded",
    ]
    late = excerpt(folder, [row(0, 1, 0, -70, 1), row(3600 * 3, 0, 1, -70, 1)], lasting=10)
    assert list(gaps(late)) == [
        "1 links have no row yet at the start: they begin as their first row says, which is up to 3.0 h later"
    ]


def test_a_recording_without_gaps_has_nothing_to_name(folder: Path) -> None:
    """No false alarm."""
    rows = [row(t, s, d, -70, 1) for t in range(0, 200, 10) for s, d in ((0, 1), (1, 0))]
    assert list(gaps(excerpt(folder, rows))) == []


@pytest.mark.parametrize(
    ("channel", "nodes", "problem"),
    [(26, 2, "there are 11, 12"), (11, 4, "4 nodes are wanted, and the recording has 3"), (12, 2, "no link between")],
)
def test_what_is_not_there_cannot_be_played(folder: Path, channel: int, nodes: int, problem: str) -> None:
    """The message says what there is."""
    (folder / "links.k7").write_text(k7([row(0, 0, 1, -70, 1), row(0, 2, 1, -70, 1, 12)]))
    with pytest.raises(ValueError, match=problem):
        choose(read_k7(folder / "links.k7"), channel, nodes)
