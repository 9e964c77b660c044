"""A package brings a path loss with walls, as the page on links has it."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.trials.formats import TEMPORAL
from tests.support.outside import Call, blocks, caller, trace_of, write

FILES = (
    ("rooms/settings.py", "python"),
    ("rooms/loss.py", "python"),
    ("rooms/room.ini.j2", "text"),
    ("chirps/settings.py", "python"),
    ("chirps/reception.py", "python"),
    ("chirps/chirping.ini.j2", "text"),
)
FLAT = "SN.wirelessChannel.sigma = 0\nSN.wirelessChannel.bidirectionalSigma = 0\n"
"""Keys of log-distance, which the class inherits."""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """The package of the page, installed, whose template has no shadowing."""
    write(tmp_path, "links", FILES)
    template = tmp_path / "rooms/room.ini.j2"
    template.write_text(template.read_text() + FLAT)
    return tmp_path


@pytest.fixture
def call(site: Path) -> Call:
    return caller(site)


def beacons(site: Path, call: Call, out: str, *more: str) -> int:
    """Return how many beacons two nodes hear of each other, 10 m apart, of 18."""
    chosen = ("nodes=2", "side=10", "deployment=2x2", "time_limit=10", *more)
    options = [word for setting in chosen for word in ("--set", setting)]
    done = call("run", "room", "--agent", "beacon", "--level", "full", "--out", out, *options)
    assert done.returncode == 0, done.stderr
    return sum(row["event"] == "receive" for row in trace_of(site, out))


def test_the_example_is_short() -> None:
    """At most 80 lines of Python."""
    assert "".join(blocks("links", "python")[:2]).count("\n") <= 80


@pytest.mark.slow
def test_a_wall_between_two_nodes_costs_its_loss(site: Path, call: Call) -> None:
    """79 dB of the distance and 20 of a wall are beyond -95 dBm; a wall that ends before the way costs nothing."""
    assert beacons(site, call, "beside", "walls=5,1,5,10 8,1,8,10", "wall_loss=20") > 10
    assert beacons(site, call, "across", "walls=5,-1,5,10", "wall_loss=20") == 0


@pytest.mark.slow
def test_ways_that_vary_can_be_better_than_their_path_loss(site: Path, call: Call) -> None:
    """And worse: of a link at its limit, without memory, some beacons are lost and some arrive."""
    varying = ("walls=5,-1,5,10", "wall_loss=16", "sway=6")
    assert 0 < beacons(site, call, "varying", *varying) < 18


def test_wrong_walls_are_refused_with_their_line(call: Call) -> None:
    """As every key is."""
    done = call("run", "room", "--agent", "beacon", "--set", "walls=1,2,3")
    assert done.returncode == 2
    assert "is no list of walls x1,y1,x2,y2" in done.stderr


@pytest.mark.parametrize(
    ("backend", "problem"),
    [
        ("ideal", "SN.propagation.model: ideal links have no range by the path loss walls: set SN.ideal.range"),
        ("radio", "SN.wirelessChannel.temporalModelParametersFile: the path loss walls varies links itself"),
    ],
)
def test_who_does_not_have_the_path_loss_says_so(site: Path, call: Call, backend: str, problem: str) -> None:
    """By its name, before the run."""
    (site / "temporal.txt").write_text(TEMPORAL)
    more = ("--set", "temporal=temporal.txt") if backend == "radio" else ()
    done = call("run", "room", "--agent", "beacon", "--backend", backend, *more)
    assert done.returncode == 2
    assert problem in done.stderr


def test_a_key_of_another_path_loss_is_named(site: Path, call: Call) -> None:
    """With the one that is chosen."""
    (site / "wrong.ini.j2").write_text('{% include "field.ini.j2" %}\nSN.propagation.wallLoss = 3\n')
    done = call("run", "wrong.ini.j2", "--agent", "beacon")
    assert done.returncode == 2
    assert (
        "SN.propagation.wallLoss: this is a key of the path loss walls, and the path loss is log-distance"
        in done.stderr
    )
