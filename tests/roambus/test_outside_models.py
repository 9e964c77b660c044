"""Packages bring a MAC and a mobility model, as the page on models has them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.support.outside import Call, blocks, caller, trace_of, write

SLOT_S = 0.005
FILES = (
    ("slots/settings.py", "python"),
    ("slots/mac.py", "python"),
    ("slots/slotted.ini.j2", "text"),
    ("drift/model.py", "python"),
    ("drifting.ini.j2", "text"),
)


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Both packages of the page, installed, and their templates."""
    write(tmp_path, "models", FILES)
    return tmp_path


@pytest.fixture
def call(site: Path) -> Call:
    return caller(site)


def run_drifting(call: Call, *more: str) -> subprocess.CompletedProcess[str]:
    return call("run", "drifting.ini.j2", "--backend", "ideal", "--set", "time_limit=5", "--out", "out", *more)


def test_examples_are_short() -> None:
    """At most 80 lines of Python each."""
    settings, mac, model = blocks("models", "python")
    assert (settings + mac).count("\n") <= 80
    assert model.count("\n") <= 80


def test_an_outside_model_moves_nodes(site: Path, call: Call) -> None:
    """On ideal links, by the keys of its own class, at its own mean speed."""
    done = run_drifting(call, "--set", "speed=3", "--set", "memory=1", "--level", "full")
    assert done.returncode == 0, done.stderr
    moves = [row for row in trace_of(site, "out") if row["event"] == "move"]
    assert moves, "nodes moved"


@pytest.mark.slow
def test_a_wrong_value_of_its_key_is_refused(call: Call) -> None:
    """By the key's own bounds, and an unknown manager by the names of all that there are."""
    done = run_drifting(call, "--set", "memory=2")
    assert done.returncode == 2
    assert "memory: 2 is out of range: it must be from 0 to 1" in done.stderr
    done = call("run", "field", "--set", "mobility=Drift")
    assert done.returncode == 2
    assert '"Drift" is not known here: it must be AgentMobilityManager, GaussMarkov' in done.stderr


def test_a_package_brings_its_templates_and_sweeps(site: Path, call: Call) -> None:
    """By name, and in the list; none replaces one of ours."""
    (site / "slots/slow.toml").write_text('# Slow slots.\ntemplate = "slotted"\n[agents]\ngossip = {}\n')
    (site / "slots/tree.ini.j2").write_text("# No tree.\n")
    listed = call("list").stdout
    assert "Slow slots." in listed
    assert "No tree." not in listed
    assert "SlottedAloha" in call("run", "slotted", "--agent", "gossip", "--render").stdout


@pytest.mark.slow
def test_a_change_of_the_model_is_another_run(site: Path, call: Call) -> None:
    """A complete run stays as it is; a comment changes nothing."""
    assert run_drifting(call).returncode == 0
    model = site / "drift/model.py"
    model.write_text(model.read_text() + "\n# a comment\n")
    assert run_drifting(call).returncode == 0
    (site / "drift/winds.csv").write_text("1,2\n")
    assert "--replace" in run_drifting(call).stderr, "the model may read it"
    (site / "drift/winds.csv").unlink()
    model.write_text(model.read_text().replace("at.time_s + 1", "at.time_s + 1.0 * 2"))
    done = run_drifting(call)
    assert done.returncode == 2
    assert "--replace" in done.stderr


def test_something_else_is_no_model(site: Path, call: Call) -> None:
    """One line names the group, the name and the object."""
    points = site / "drift-1.0.dist-info/entry_points.txt"
    points.write_text("[roambus.mobilities]\nGaussMarkov = drift.model:reflected\n")
    done = run_drifting(call)
    assert done.returncode == 2
    assert "roambus.mobilities: GaussMarkov: drift.model:reflected is not a subclass of Mobility" in done.stderr


def test_a_mac_without_its_functions_is_refused(site: Path, call: Call) -> None:
    """Before anything is compiled."""
    (site / "slots/mac.py").write_text("")
    done = call("run", "slotted", "--agent", "gossip")
    assert done.returncode == 2
    assert "the MAC slots.mac has no accept and no receive" in done.stderr


@pytest.mark.slow
def test_an_outside_mac_sends_in_its_slots(site: Path, call: Call) -> None:
    """Each delivery of a message of one length comes at the same time after the start of a slot."""
    limits = ("--set", "nodes=2", "--set", "side=10", "--set", "time_limit=20", "--set", "roles=publisher subscriber")
    done = call("run", "slotted", "--agent", "flooding", *limits, "--out", "out")
    assert done.returncode == 0, done.stderr
    received = [float(str(row["time_s"])) for row in trace_of(site, "out") if row["event"] == "deliver" and row["hops"]]
    offsets = [time % SLOT_S for time in received]
    assert len(offsets) > 10
    assert max(offsets) - min(offsets) < 1e-6, "the drift of the clocks"
