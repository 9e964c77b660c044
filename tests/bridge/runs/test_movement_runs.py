"""Nodes move by a file that the ini names: over the radio and over ideal links, wherever the run is made."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from roambus.bridge.backend import BackendFactory
from roambus.bridge.backends.castalia.simulators import run_directory, ways_of
from roambus.bridge.backends.castalia.zeromq import Endpoint
from roambus.bridge.backends.ideal.backend import IdealFactory
from roambus.bridge.backends.radio.backend import RadioFactory
from roambus.bridge.formats.ini import read_scenario
from roambus.bridge.mobility.given_way import GivenWay
from roambus.bridge.mobility.static import Static
from roambus.bridge.runs.run import RunPlan, execute, run_key
from roambus.bridge.system.errors import UserError
from roambus.experiments.sweeps.runner import plan_run, plan_runs
from roambus.experiments.sweeps.sweep import AgentChoice, Sweep, expand
from roambus.experiments.templates.template import Template

TEMPLATE = """\
{% set mobility = "file" %}{% set nodes = 2 %}{% set time_limit = 10 %}
{% set movements = "ways/walk.movements" %}
SN.node[1].MobilityManagerName = "NoMobilityManager"
{% include "field.ini.j2" %}
"""
MOVING = "0 10 20 2.5 10 20 5 10 30 20 40 30\n"
TRACE = MOVING + "0 1 1\n"
PARAMS = "nn=2\nx=50.0\ny=50.0\nduration=20.0\n"
MOVES = [(0, "10.000 20.000"), (2.5, "10.000 20.000"), (5, "10.000 30.000"), (10, "20.000 30.000")]
"""Of node 0, to the end of the run."""

Write = Callable[..., RunPlan]


def sweep_of(template: Path) -> Sweep:
    return Sweep("test", Template(template), (AgentChoice("beacon", "beacon"),))


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a template and a movement file; returns the plan of the template's one run."""

    def write(trace: str = TRACE, template: str = TEMPLATE) -> RunPlan:
        (tmp_path / "ways").mkdir(exist_ok=True)
        (tmp_path / "ways" / "walk.movements").write_text(trace)
        (tmp_path / "ways" / "walk.params").write_text(PARAMS)
        (tmp_path / "walk.ini.j2").write_text(template)
        (plan,) = plan_runs(sweep_of(tmp_path / "walk.ini.j2"), tmp_path / "out")
        return plan

    return write


def moves(plan: RunPlan, node: int) -> list[tuple[float, str]]:
    rows = pq.read_table(plan.folder / "trace.parquet").to_pylist()
    return [(row["time_s"], row["detail"]) for row in rows if (row["event"], row["node"]) == ("move", node)]


@pytest.mark.parametrize("backend", [RadioFactory(), IdealFactory()], ids=lambda backend: backend.name)
def test_nodes_go_as_the_file_says(write: Write, backend: BackendFactory) -> None:
    """Turns and rests are in the trace, with the place at the end; a node with another manager stays its own master."""
    plan = write()
    execute(plan, backend)
    assert moves(plan, 0) == MOVES
    assert len(moves(plan, 1)) == 1
    settings = read_scenario(plan.folder / "run.ini").nodes
    assert isinstance(settings[0].mobility, GivenWay)
    assert (settings[0].position, settings[1].mobility) == ((10, 20), Static())


def test_a_run_keeps_the_files_that_it_was_made_from(write: Write, tmp_path: Path) -> None:
    """Beside its ini, under the same path, so that the folder alone can be run again."""
    plan = write()
    execute(plan, IdealFactory())
    shutil.rmtree(tmp_path / "ways")
    assert (plan.folder / "ways" / "walk.movements").read_text() == TRACE
    assert (plan.folder / "ways" / "walk.params").read_text() == PARAMS
    read_scenario(plan.folder / "run.ini")


def test_other_movement_is_another_run(write: Write) -> None:
    """Its key differs, though the ini is the same."""
    first = run_key(write(), IdealFactory())
    assert run_key(write(TRACE.replace("40 30", "40 31")), IdealFactory()) != first
    assert run_key(write(), IdealFactory()) == first


def test_a_simulator_is_left_the_ways_that_the_file_gives(write: Write, tmp_path: Path) -> None:
    """A file for each node that moves by one, for it reads no movement files; they are exact, and go with the run."""
    execute(plan := write(TRACE.replace("30 20 40", "30.1 20 40")), IdealFactory())
    ways = ways_of(read_scenario(plan.folder / "run.ini"))
    with Endpoint.private() as endpoint, run_directory(tmp_path, {}, endpoint, 1.0, ways) as directory:
        files = {file.name: file.read_text() for file in (directory / "ways").iterdir()}
    assert files == {"0": "0.0 10.0 20.0\n2.5 10.0 20.0\n5.0 10.0 30.1\n20.0 40.0 30.0\n"}
    assert not directory.exists()


def test_an_error_names_the_movement_file_and_its_line(write: Write, tmp_path: Path) -> None:
    """Where the user has it, before any run."""
    with pytest.raises(UserError, match=rf"{tmp_path}/ways/walk.movements:2: 1 numbers are not way-points"):
        write(MOVING + "x\n")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "none.movements",
            r"walk.ini.j2 \(rendered\):\d+: SN.node\[\*\].MobilityManager.file: there is no file .*none.m",
        ),
        ("../walk.movements", "MobilityManager.file: .* is not a path of a file below the folder of the ini"),
        ("/etc/passwd", "is not a path of a file below"),
        ("ways//walk.movements", "is not a path of a file below"),
        ("", "is not a path of a file below"),
    ],
)
def test_a_file_that_cannot_be_is_refused_with_the_line_of_the_ini(write: Write, name: str, message: str) -> None:
    """It must be there, and below the folder of the template."""
    with pytest.raises(UserError, match=message):
        write(template=TEMPLATE.replace("ways/walk.movements", name))


def test_a_node_that_is_not_in_the_file_is_refused(write: Write) -> None:
    """It has no way, so it cannot go it."""
    moving = TEMPLATE.replace("NoMobilityManager", "MovementFileMobilityManager")
    with pytest.raises(UserError, match=r"MobilityManager.file: node 1 does not move in .*walk.movements"):
        write("$node_(0) set X_ 1\n$node_(0) set Y_ 2\n", moving)


def test_a_template_alone_is_rendered_without_its_files(write: Write, tmp_path: Path) -> None:
    """`roambus run --render` needs nothing but the template."""
    write()
    shutil.rmtree(tmp_path / "ways")
    sweep = sweep_of(tmp_path / "walk.ini.j2")
    (point,) = expand(sweep)
    assert 'MobilityManager.file = "ways/walk.movements"' in plan_run(sweep.template, point, tmp_path).ini
