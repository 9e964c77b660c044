"""Path losses that a file gives, by pair of nodes or of cells, take the place of those that are drawn."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from roambus.bridge.backend import BackendFactory
from roambus.bridge.backends.castalia.backend import CastaliaFactory
from roambus.bridge.backends.castalia.installation import Program
from roambus.bridge.backends.radio import channel
from roambus.bridge.backends.radio.backend import RadioFactory
from roambus.bridge.runs.run import RunPlan, execute, run_key
from roambus.bridge.scenario.propagation import LogDistance
from roambus.bridge.scenario.radio import GivenLosses
from roambus.bridge.system.errors import UserError
from roambus.bridge.trace.parquet import TraceLevel, read_trace
from roambus.experiments.sweeps.runner import plan_runs
from roambus.experiments.sweeps.sweep import AgentChoice, Sweep, plain_axis
from roambus.experiments.templates.template import find_template
from roambus.experiments.templates.variables import Scalar

WALL = """\
# A wall: node 2 hears nobody, and only node 1 hears it.
0>1:50,2:200
1>0: 50 , 2:200
2>1:60,0:200
"""
FAR = "".join(f"{node}>{','.join(f'{other}:200' for other in range(4))}\n" for node in range(4))
"""The four cells of a small field, each out of reach of all, itself included."""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "maps" / "wall.txt"
    path.parent.mkdir()
    path.write_text(WALL)
    return path


def plan_of(file: Path, **variables: Scalar) -> RunPlan:
    settings = {"nodes": 3, "side": 10, "time_limit": 3, "path_losses": str(file), **variables}
    axes = tuple(plain_axis(name, [value]) for name, value in settings.items())
    sweep = Sweep("test", find_template("field"), (AgentChoice("beacon", "beacon"),), axes)
    (plan,) = plan_runs(sweep, file.parent.parent / "out", TraceLevel.FULL)
    return plan


def heard(plan: RunPlan, backend: BackendFactory) -> set[tuple[int, int]]:
    """The pairs of sender and receiver of which the trace has a reception."""
    execute(plan, backend)
    rows = read_trace(plan.folder / "trace.parquet").to_pandas()
    found = rows[rows["event"] == "receive"]
    return set(zip(found["peer"].astype(int), found["node"].astype(int), strict=True))


def test_a_wall_between_nodes(file: Path) -> None:
    """Whatever the distance; and the run's folder has a copy of the file, under which it can be made again."""
    plan = plan_of(file)
    assert heard(plan, RadioFactory()) == {(0, 1), (1, 0), (2, 1)}
    assert (plan.folder / "wall.txt").read_text() == WALL


@pytest.mark.castalia
def test_the_same_wall_on_castalia(file: Path, castalia: Program) -> None:
    """The file is Castalia's own format, and the same ini is run."""
    assert heard(plan_of(file), CastaliaFactory()) == {(0, 1), (1, 0), (2, 1)}


def test_losses_between_cells(file: Path) -> None:
    """Where nodes may move places are cells, and two nodes in one cell have 0 dB only if nothing else is said."""
    moving: dict[str, Scalar] = {"mobility": "waypoint", "speed": 5}
    elsewhere = file.with_name("elsewhere.txt")
    elsewhere.write_text("# of cells without nodes\n3>2:62.5\n")
    assert heard(plan_of(elsewhere, **moving), RadioFactory())
    file.write_text(FAR)
    assert heard(plan_of(file, **moving), RadioFactory()) == set()


def test_another_file_is_another_run(file: Path) -> None:
    """Also under the same name."""
    key = run_key(plan_of(file), RadioFactory())
    file.write_text(WALL.replace("60", "61"))
    assert run_key(plan_of(file), RadioFactory()) != key


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("0 1:50", r"wall.txt:2: '0 1:50' is no line SOURCE>TARGET:DB"),
        ("0>1", r"wall.txt:2: .*number"),
        ("0>1:x", r"wall.txt:2: .*x"),
        ("0>1:-3", r"wall.txt:2: -3 is no loss from 0 to 1000 dB"),
        ("0>1:nan", r"wall.txt:2: "),
        ("0>3:50", r"wall.txt:2: '3' is no number from 0 to 2: there are 3 nodes"),
        ("-1>2:50", r"wall.txt:2: '-1' is no number from 0 to 2"),
        ("0>1:50,0:60", r"wall.txt:2: node 0 has no way to itself"),
        ("0>1:50,2:60,1:70", r"wall.txt:2: the way from 0 to 1 stands in line 2 already"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_line(file: Path, line: str, problem: str) -> None:
    """Before anything is run, on every back-end."""
    file.write_text(f"# a map\n{line}\n")
    with pytest.raises(UserError, match=problem):
        plan_of(file)


def test_cells_that_are_not_there(file: Path) -> None:
    """The message says how many there are, and how many in a row."""
    file.write_text("0>4:50\n")
    with pytest.raises(UserError, match="there are 4 cells, 2 in a row"):
        plan_of(file, mobility="waypoint")


def test_compressed_rows_have_the_losses_of_the_whole_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """And what is not given is drawn as without the file."""
    places = np.random.default_rng(1).uniform(0, 60, (30, 2))
    given = GivenLosses((0, 0, 7), (1, 29, 7), (33.0, 44.0, 5.0))

    def drawn(losses: GivenLosses | None) -> channel.PathLoss:
        ground = channel.Ground(places, 0.0, -100.0)
        return channel.path_loss(LogDistance(), ground, np.random.default_rng(2), losses)

    table, plain = (drawn(table_or_none).loss_db.reshape(30, 30) for table_or_none in (given, None))
    assert (table[0, 1], table[0, 29], table[7, 7]) == (33, 44, 5)
    table[[0, 0, 7], [1, 29, 7]] = plain[[0, 0, 7], [1, 29, 7]]
    assert np.array_equal(table, plain)
    monkeypatch.setattr(channel, "MOST_IN_A_TABLE", 0)
    rows = drawn(given)
    found = np.full((30, 30), np.inf)
    for place in range(30):
        ways = slice(rows.starts[place], rows.starts[place + 1])
        found[place, rows.towards[ways]] = rows.loss_db[ways]
    table[[0, 0, 7], [1, 29, 7]] = [33, 44, 5]
    assert np.array_equal(found, table)
