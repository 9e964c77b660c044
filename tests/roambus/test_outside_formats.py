"""A package brings a format of movements, as the page on formats has it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.outside import Call, blocks, caller, trace_of, write

FILES = (("tracks/track.py", "python"), ("walk.csv", "text"))


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """The package of the page, installed, and its track."""
    write(tmp_path, "formats", FILES)
    return tmp_path


@pytest.fixture
def call(site: Path) -> Call:
    return caller(site)


def walk(call: Call, *more: str) -> str:
    """Walk on ideal links; return the errors."""
    settings = ("nodes=2", "mobility=file", "movements=walk.csv", "time_limit=20")
    options = [word for setting in settings for word in ("--set", setting)]
    return call("run", "field", "--agent", "beacon", "--backend", "ideal", "--out", "out", *options, *more).stderr


def test_the_example_is_short() -> None:
    """At most 80 lines of Python."""
    (track,) = blocks("formats", "python")
    assert track.count("\n") <= 80


def test_nodes_go_as_the_track_says(site: Path, call: Call) -> None:
    """22 m to the north in 20 s; the other one is 20 m to the east."""
    assert "error" not in walk(call, "--level", "full")
    moves = [row for row in trace_of(site, "out") if row["event"] == "move"]
    places = {(row["node"], row["time_s"]): tuple(map(float, str(row["detail"]).split())) for row in moves}
    assert places[0, 0.0] == pytest.approx((0, 0))
    assert places[0, 20.0] == pytest.approx((0, 22.24), abs=0.01)
    assert places[1, 0.0] == pytest.approx((20.56, 11.12), abs=0.01)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("0,0,51,7\n0,0,51,7\n", "walk.csv:3: the fix of node 0 at 0 s does not come after that at 0 s"),
        ("0,0,51,7\n2,0,51,7\n", "walk.csv:3: node 2 is not one of the 2 nodes"),
        ("0,0,51,7\n1,0,51.1,7\n", "walk.csv: y = "),
    ],
)
def test_wrong_lines_are_named(site: Path, call: Call, text: str, problem: str) -> None:
    """By the number of the line, and a place out of the field by its key."""
    (site / "walk.csv").write_text(f"node,seconds,latitude,longitude\n{text}")
    assert problem in walk(call)


@pytest.mark.slow
def test_a_change_of_the_format_is_another_run(site: Path, call: Call) -> None:
    """Of a run whose file it reads; a comment changes nothing."""
    walk(call)
    source = site / "tracks/track.py"
    source.write_text(source.read_text() + "\n# a comment\n")
    assert "--replace" not in walk(call)
    source.write_text(source.read_text().replace("6_371_009", "6_378_137"))
    assert "--replace" in walk(call)
