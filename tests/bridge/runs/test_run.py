"""One run leaves a whole trace, or a log that says why not; its key changes with everything that matters."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path

import pytest

from roambus.bridge.runs.run import RunPlan, execute, has_failed, is_complete, run_key
from roambus.bridge.system.errors import AgentError
from roambus.bridge.trace.parquet import TraceLevel, TraceWriter, read_footer
from roambus.bridge.trace.schema import AIR, END, RUN_KEY, About
from roambus.experiments.inventory import TEMPLATES
from tests.support.agents import write_agent
from tests.support.backends import everybody_hears_everybody

INI = """\
network = SN
sim-time-limit = 5s
seed-set = 0
SN.numNodes = 2
SN.node[*].Communication.Radio.RadioParametersFile = "CC2420.txt"
SN.node[*].Communication.MACProtocolName = "TunableMAC"
SN.node[*].ApplicationName = "BridgeApplication"
"""


def plan_of(folder: Path, on_timer: str = "pass", name: str = "agent") -> RunPlan:
    agent = write_agent(folder, name, on_timer)
    place = Path("traces", "agent=mine", "seed=0")
    return RunPlan(folder / "results", place, INI, TEMPLATES / "CC2420.txt", str(agent), seed=0)


def files_of(plan: RunPlan) -> set[str]:
    return {path.name for path in plan.folder.iterdir()}


def test_a_complete_run_leaves_trace_ini_radio_file_and_log(tmp_path: Path) -> None:
    """The trace holds the run's key, and nothing that depends on time or place."""
    plan = plan_of(tmp_path)
    execute(plan, everybody_hears_everybody)
    assert files_of(plan) == {"trace.parquet", "run.ini", "CC2420.txt", "run.log"}
    assert is_complete(plan.folder, run_key(plan, everybody_hears_everybody))
    metadata = read_footer(plan.folder / "trace.parquet").metadata
    assert metadata.keys() - {"ARROW:schema"} == {
        RUN_KEY,
        END,
        *(f"roambus.{field.name}" for field in dataclasses.fields(About)),
    }
    assert str(tmp_path) not in "".join(metadata.values())
    assert "seed 0: complete in" in (plan.folder / "run.log").read_text()


@pytest.mark.parametrize(
    ("mac", "air"),
    [
        ('"TunableMAC"', None),
        ('"TunableMAC"\nSN.node[*].Communication.MAC.macPacketOverhead = 100', "116 250000"),
        ('"802.15.4"', "27 250000"),
    ],
)
def test_a_trace_says_what_headers_its_frames_have(tmp_path: Path, mac: str, air: str | None) -> None:
    """Those of the ini, unless the back-end tells others; the usual ones are not written."""
    plan = plan_of(tmp_path)
    execute(dataclasses.replace(plan, ini=INI.replace('"TunableMAC"', mac)), everybody_hears_everybody)
    metadata = read_footer(plan.folder / "trace.parquet").metadata
    assert metadata.get(AIR) == air
    assert metadata[END] == "5.0"


def test_the_same_run_has_the_same_bytes(tmp_path: Path) -> None:
    """Wherever its results are."""
    plan = plan_of(tmp_path)
    other = dataclasses.replace(plan, results=tmp_path / "other")
    for each in (plan, other):
        execute(each, everybody_hears_everybody)
    assert (plan.folder / "trace.parquet").read_bytes() == (other.folder / "trace.parquet").read_bytes()


def test_a_trace_of_another_key_is_not_complete(tmp_path: Path) -> None:
    """Neither is a folder without one, or with a file that is none."""
    plan = plan_of(tmp_path)
    assert not is_complete(plan.folder, run_key(plan, everybody_hears_everybody))
    execute(plan, everybody_hears_everybody)
    assert not is_complete(plan.folder, "another key")
    (plan.folder / "trace.parquet").write_bytes(b"no Parquet")
    assert not is_complete(plan.folder, run_key(plan, everybody_hears_everybody))


def test_the_key_changes_with_ini_seed_level_and_agent(tmp_path: Path) -> None:
    """Everything that the trace depends on."""
    plan = plan_of(tmp_path)
    radio_file = tmp_path / "CC2420.txt"
    radio_file.write_text(plan.radio_file.read_text() + "\n# changed\n")
    others = [
        dataclasses.replace(plan, ini=INI + "\n"),
        dataclasses.replace(plan, seed=1),
        dataclasses.replace(plan, level=TraceLevel.FULL),
        dataclasses.replace(plan, radio_file=radio_file),
        plan_of(tmp_path, "now", "other_agent"),
    ]
    assert len({run_key(each, everybody_hears_everybody) for each in (plan, *others)}) == 6
    key = run_key(plan, everybody_hears_everybody)
    assert run_key(plan, dataclasses.replace(everybody_hears_everybody, name="another")) != key
    assert run_key(dataclasses.replace(plan, results=Path("elsewhere")), everybody_hears_everybody) == key


def test_the_key_changes_with_the_agents_data(tmp_path: Path) -> None:
    """The contents and the names of the files that it names; other files beside it do not matter."""
    plan = plan_of(tmp_path)
    bare = run_key(plan, everybody_hears_everybody)
    agent, table = Path(plan.agent), tmp_path / "t.json"
    text = agent.read_text()
    for name in ("t.json", "other.json"):
        (tmp_path / name).write_text("1")

    def key(names: str) -> str:
        agent.write_text(text + f"    data_files = ({names})\n")
        return run_key(plan, everybody_hears_everybody)

    first = key('"t.json",')
    other = key('"other.json",')
    assert len({bare, first, other}) == 3
    table.write_text("2")
    assert key('"t.json",') != first
    assert key('"other.json",') == other


def test_an_agent_that_raises_leaves_its_error_and_no_trace(tmp_path: Path) -> None:
    """The message names node, simulation time, event and line; the log has the whole traceback."""
    plan = plan_of(tmp_path, "raise ValueError('lost my way')")
    message = r"node 0, simulation time 1s, on TimerFired\(key='tick'\): ValueError: lost my way at agent.py:13 in tick"
    with pytest.raises(AgentError, match=message):
        execute(plan, everybody_hears_everybody)
    assert files_of(plan) == {"failed", "run.ini", "CC2420.txt", "run.log"}
    assert "Traceback" in (plan.folder / "run.log").read_text()
    assert has_failed(plan.folder, run_key(plan, everybody_hears_everybody))
    assert not has_failed(plan.folder, "another key")


def test_a_run_that_succeeds_after_a_failure_is_complete(tmp_path: Path) -> None:
    """Nothing of the failure is left."""
    plan = plan_of(tmp_path, "raise ValueError", "bad")
    with pytest.raises(AgentError):
        execute(plan, everybody_hears_everybody)
    good = plan_of(tmp_path, "pass", "good")
    execute(good, everybody_hears_everybody)
    assert files_of(good) == {"trace.parquet", "run.ini", "CC2420.txt", "run.log"}


def test_what_a_killed_run_left_is_removed_by_the_next(tmp_path: Path) -> None:
    """A half-written trace or record has a name of its own."""
    plan = plan_of(tmp_path)
    plan.folder.mkdir(parents=True)
    (plan.folder / ".trace.parquet.4711").write_bytes(b"PAR1 half of it")
    (plan.folder / ".frames.roambus.4711").write_bytes(b"roambus record")
    execute(plan, everybody_hears_everybody)
    assert files_of(plan) == {"trace.parquet", "run.ini", "CC2420.txt", "run.log"}


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_run_that_cannot_be_written_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    """Neither its folder nor those above it, up to the results."""
    plan = plan_of(tmp_path)

    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(TraceWriter, "write", fail)
    with pytest.raises(type(error)):
        execute(plan, everybody_hears_everybody)
    assert list(plan.results.iterdir()) == []


def test_a_run_whose_trace_was_whole_when_ctrl_c_came_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is complete, and need not be run again."""
    write = TraceWriter.write

    def interrupted(self: TraceWriter, path: Path, metadata: Mapping[str, str]) -> None:
        write(self, path, metadata)
        raise KeyboardInterrupt

    plan = plan_of(tmp_path)
    monkeypatch.setattr(TraceWriter, "write", interrupted)
    with pytest.raises(KeyboardInterrupt):
        execute(plan, everybody_hears_everybody)
    assert is_complete(plan.folder, run_key(plan, everybody_hears_everybody))
    assert files_of(plan) == {"trace.parquet", "run.ini", "CC2420.txt", "run.log"}
