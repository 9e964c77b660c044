"""What becomes of whole runs, in processes of their own, when something goes wrong: with the stand-in as simulator."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.trials.harness import PROMISED, Outcome, Tally
from benchmarks.trials.processes import adopt_orphans, all_linked, install_stand_in
from roambus.bridge.backends.castalia.backend import CastaliaFactory
from roambus.bridge.runs.layout import FAILED_FILE, SIMULATOR_FOLDER, TRACE_FILE
from roambus.bridge.runs.run import execute
from roambus.bridge.system.errors import BackendError
from roambus.experiments.sweeps.runner import plan_runs
from roambus.experiments.sweeps.sweep import AgentChoice, Sweep, plain_axis
from roambus.experiments.templates.template import find_template
from tests.bridge.backends.castalia.blows import FINISHED, KINDS, WENT_ON, Kind, conduct
from tests.support.simulated_runs import Stage, set_stage, sweep, undisturbed_s

pytestmark = pytest.mark.usefixtures("stand_in")

SECONDS = 30
"""How long the runs are, in simulated time."""
DEADLINE_S = 2.0
MOMENTS = (0.3, 0.8)
"""Of a run's time: while it starts, and while it runs. `benchmarks.trials bridge` hits at hundreds of them."""


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory, stand_in: Path) -> Stage:  # it must be built
    adopt_orphans()
    return set_stage(tmp_path_factory.mktemp("t"), "stand-in", DEADLINE_S, SECONDS)


@pytest.fixture(scope="module")
def whole_s(stage: Stage) -> float:
    """How long a run takes that nothing disturbs."""
    return undisturbed_s(stage, len(KINDS) * len(MOMENTS))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_run_that_is_hit_ends_in_time_with_its_cause_and_leaves_nothing(
    kind: Kind, stage: Stage, whole_s: float
) -> None:
    """A process killed or frozen, the socket closed, Ctrl-C: within its deadline, whenever it comes."""
    ends = set()
    for place, moment in enumerate(MOMENTS):
        outcome = conduct(kind, stage, KINDS.index(kind) * len(MOMENTS) + place, moment * whole_s)
        assert outcome.complaints == [], outcome.said
        ends.add(outcome.end)
    assert PROMISED in ends or kind.name == "host frozen"  # which at both moments may be without a simulator


def test_a_kind_that_no_run_has_felt_is_a_complaint() -> None:
    """Whether blows went past the run or it had ended; one that was felt is enough."""
    past = [Outcome("run", "host frozen", WENT_ON, felt=False), Outcome("run", "host frozen", FINISHED, felt=False)]
    felt = [Outcome("run", "Ctrl-C", FINISHED, felt=False), Outcome("run", "Ctrl-C", PROMISED)]
    tally = Tally()
    for outcome in (*past, *felt):
        tally.add(outcome)
    assert tally.complaints() == ["host frozen: nothing has felt it"]


@pytest.mark.slow
def test_a_sweep_completes_what_was_hit(stage: Stage) -> None:
    """Whatever a run left in its folder."""
    assert sweep(stage, len(KINDS)) == []


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where hosts make their private folders, none of which is left."""
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    yield tmp_path
    assert not list(temporary.glob("roambus-*"))


def misbehave(folder: Path, monkeypatch: pytest.MonkeyPatch, how: str) -> str:
    """The host's error in a run with a simulator that goes wrong in this way."""
    installation = install_stand_in(folder / "stand-in", [*all_linked(6, 30), f"misbehave {how}"])
    for name, value in installation.items():
        monkeypatch.setenv(name, value)
    axes = (plain_axis("time_limit", [30]), plain_axis("publish_until", [20]))
    runs = Sweep("test", find_template("thesis"), (AgentChoice("mft", "mft"),), axes)
    (plan,) = plan_runs(runs, folder / "results")
    with pytest.raises(BackendError) as caught:
        execute(plan, CastaliaFactory(DEADLINE_S))
    assert (plan.folder / FAILED_FILE).is_file()
    assert not any((plan.folder / name).exists() for name in (TRACE_FILE, SIMULATOR_FOLDER))
    assert str(caught.value).startswith(f"run {plan.folder}, ")
    return str(caught.value)


@pytest.mark.parametrize(
    ("how", "reasons"),
    [
        ("wrong-version", ["before the start: Hello: version 4 of the protocol, this host speaks 3: build omnet/"]),
        ("wrong-hash", ["before the start: Hello: made from another wire.proto: build omnet/"]),
        ("wrong-token", ["before the start: the simulator ended with exit status 1", "this run has another token"]),
        ("node-out-of-range 3", ["after simulation time", "Arrival at", "at 65534: the nodes are 0 to 5"]),
        ("time-backwards 3", ["after simulation time", "Step at", "the one before was at"]),
        ("wrong-counts", ["after simulation time", "Finished: the simulator counts", "sends, the host"]),
        ("garbage-after 3", ["after simulation time", "4 bytes that are not a message of the bridge's protocol"]),
        ("hello-after 3", ["after simulation time", "hello came, where step or finished or failed belongs"]),
        ("silent-after 3", ["after simulation time", "the simulator did not answer within 2 s"]),
        ("close-after 3", ["after simulation time", "the connection to the simulator is lost"]),
        ("exit-after 3 7", ["after simulation time", "the simulator ended with exit status 7; its log ends:"]),
        ("exit-after 3 127", ["ended with exit status 127: it may have been built with another OMNeT++"]),
        ("exit-after 3 0", ["after simulation time", "the simulator ended with exit status 0; its log ends:"]),
    ],
)
def test_a_simulator_that_goes_wrong_is_rejected_with_the_reason(
    folder: Path, monkeypatch: pytest.MonkeyPatch, how: str, reasons: list[str]
) -> None:
    """The real client says it, over the real socket; the error names run, simulation time and rule."""
    message = misbehave(folder, monkeypatch, how)
    assert [reason for reason in reasons if reason not in message] == [], message
