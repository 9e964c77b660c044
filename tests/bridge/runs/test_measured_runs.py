"""A run plays a recorded testbed that the ini names, keeps a copy of it, and says what the recording does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from roambus.bridge.backends.castalia.backend import CastaliaFactory
from roambus.bridge.backends.ideal.backend import IdealFactory
from roambus.bridge.backends.radio.backend import RadioFactory
from roambus.bridge.formats.ini import read_scenario
from roambus.bridge.runs.log import remarks_in
from roambus.bridge.runs.run import RunPlan, execute, run_key
from roambus.bridge.system.errors import UserError
from roambus.experiments.sweeps.runner import plan_runs
from roambus.experiments.sweeps.sweep import AgentChoice, Sweep, plain_axis
from roambus.experiments.templates.template import find_template
from roambus.experiments.templates.variables import Scalar
from tests.support.recordings import k7, row

ROWS = [row(0, 0, 1, -70, 1), row(0, 1, 0, -70, 1), row(5, 1, 2, -80, 0.5)]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "recordings" / "small.k7"
    path.parent.mkdir()
    path.write_text(k7(ROWS))
    return path


def plan_of(file: Path, **variables: Scalar) -> RunPlan:
    settings = {"nodes": 3, "time_limit": 2, "links": str(file), **variables}
    axes = tuple(plain_axis(name, [value]) for name, value in settings.items())
    sweep = Sweep("test", find_template("field"), (AgentChoice("beacon", "beacon"),), axes)
    (plan,) = plan_runs(sweep, Path(file).parent.parent / "out")
    return plan


def test_a_run_plays_the_file_and_keeps_it(file: Path) -> None:
    """Wherever it was taken from: the run's folder alone is enough to make the run again."""
    plan = plan_of(file)
    assert "links=small.k7" in plan.place.parts
    execute(plan, RadioFactory())
    file.unlink()
    scenario = read_scenario(plan.folder / "run.ini")
    assert scenario.measured is not None
    assert len(scenario.measured.recording.rows) == 3
    assert remarks_in((plan.folder / "run.log").read_text()) == [
        "small.k7: the links are those of channel 11",
        "small.k7: 3 of 6 links have no row: they carry nothing and do not interfere",
        "small.k7: 1 links have no row yet at the start: they begin as their first row says, which is up to 5 s later",
    ]


def test_another_recording_is_another_run(file: Path) -> None:
    """Also under the same name."""
    key = run_key(plan_of(file), RadioFactory())
    file.write_text(k7([*ROWS[:2], row(5, 1, 2, -80, 0.6)]))
    assert run_key(plan_of(file), RadioFactory()) != key


@pytest.mark.parametrize(
    ("variables", "problem"),
    [
        ({"nodes": 4}, "4 nodes are wanted, and the recording has 3"),
        ({"links_channel": "26"}, "SN.links.channel: .*there is no row of this channel; there are 11"),
        ({"links_channel": "many"}, "is not a channel such as"),
        ({"links_start": 60}, "ends after 5 s"),
        ({"mobility": "waypoint"}, "node 0 moves, and recorded nodes are static"),
        ({"temporal": "temporal.txt"}, "leave one of the two out"),
    ],
)
def test_what_does_not_fit_the_recording_is_named(file: Path, variables: dict[str, Scalar], problem: str) -> None:
    """Before any run is made, with the line of the ini."""
    with pytest.raises(UserError, match=problem):
        plan_of(file, **variables)


def test_other_back_ends_refuse_it(file: Path) -> None:
    """Rather than play something else."""
    plan = plan_of(file)
    execute(plan, RadioFactory())
    scenario = read_scenario(plan.folder / "run.ini")
    with pytest.raises(UserError, match="Castalia has no measured links"):
        CastaliaFactory().prepare(scenario)
    with pytest.raises(UserError, match="ideal links lose nothing"):
        IdealFactory().prepare(scenario)


def test_a_path_is_taken_from_where_the_command_is_given(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the ini names the file alone."""
    monkeypatch.chdir(tmp_path)
    plan = plan_of(Path("recordings") / file.name)
    assert plan.files == (("small.k7", Path("recordings/small.k7")),)
