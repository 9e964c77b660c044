"""A package brings a reception with spreading factors, as the page on links has it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.outside import Call, blocks, caller, trace_of, write

FILES = (
    ("rooms/settings.py", "python"),
    ("rooms/loss.py", "python"),
    ("rooms/room.ini.j2", "text"),
    ("chirps/settings.py", "python"),
    ("chirps/reception.py", "python"),
    ("chirps/chirping.ini.j2", "text"),
)


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """The packages of the page, installed."""
    write(tmp_path, "links", FILES)
    return tmp_path


@pytest.fixture
def call(site: Path) -> Call:
    return caller(site)


def heard(site: Path, call: Call, factors: str) -> set[tuple[object, object]]:
    """The pairs of sender and receiver of beacons among three nodes that are near each other."""
    settings = ("nodes=3", "side=10", "time_limit=10", f"factors={factors}")
    options = [word for setting in settings for word in ("--set", setting)]
    done = call("run", "chirping", "--agent", "beacon", "--level", "full", "--out", "out", *options)
    assert done.returncode == 0, done.stderr
    return {(row["peer"], row["node"]) for row in trace_of(site, "out") if row["event"] == "receive"}


def test_the_example_is_short() -> None:
    """At most 80 lines of Python."""
    settings, reception = blocks("links", "python")[2:]
    assert (settings + reception).count("\n") <= 80


@pytest.mark.slow
def test_nodes_hear_those_of_their_spreading_factor(site: Path, call: Call) -> None:
    """Of factors 7, 8 and 7 the first node and the last one do."""
    assert heard(site, call, "7 8") == {(0, 2), (2, 0)}


def test_a_mac_with_frames_of_its_own_is_refused(call: Call) -> None:
    """Acknowledgements have no airtime that the MAC knows."""
    done = call("run", "chirping", "--agent", "beacon", "--set", "mac=802.15.4")
    assert done.returncode == 2
    assert "SN.radio.model: the MAC has frames of its own, whose airtime with chirps it does not know" in done.stderr


def test_a_key_of_another_reception_is_named(site: Path, call: Call) -> None:
    """With the one that is chosen."""
    (site / "wrong.ini.j2").write_text('{% include "field.ini.j2" %}\nSN.radio.capture = 3\n')
    done = call("run", "wrong.ini.j2", "--agent", "beacon")
    assert done.returncode == 2
    assert "SN.radio.capture: this is a key of the reception chirps, and the reception is bit-errors" in done.stderr
