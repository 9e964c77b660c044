"""The runner skips what is complete, reports what fails, and can be stopped at any moment."""

from __future__ import annotations

import io
import multiprocessing.spawn
import os
import shutil
from multiprocessing import resource_tracker
from pathlib import Path
from types import SimpleNamespace
from typing import NoReturn

import pytest
from rich.console import Console

from roambus.bridge.backends.ideal.backend import IdealFactory
from roambus.bridge.backends.radio.backend import RadioFactory
from roambus.bridge.runs.run import RunPlan
from roambus.bridge.system.errors import RoambusError, UserError
from roambus.experiments.sweeps import processes
from roambus.experiments.sweeps.attempts import PREFIX
from roambus.experiments.sweeps.processes import Processes
from roambus.experiments.sweeps.progress import Progress, describe
from roambus.experiments.sweeps.runner import Summary, plan_runs, run_plans
from roambus.experiments.sweeps.sweep import AgentChoice, Sweep, plain_axis
from roambus.experiments.templates.template import Template, find_template
from tests.support.agents import write_agent
from tests.support.backends import everybody_hears_everybody

FAILS_AT_4_NODES = """\
if self.node == 3:
    raise ValueError("four is too many")
print("tick")
"""


FLOODING = AgentChoice("flooding", "flooding")
KILL = "import ctypes; ctypes.CDLL(None).kill(__import__('os').getpid(), 9)"
"""What the system does to a process for lack of memory."""


def sweep_of(agent: Path, *, seeds: int = 1, time_limit: int = 3) -> Sweep:
    choice = AgentChoice("mine", str(agent))
    fixed = {"time_limit": time_limit}
    return Sweep("test", find_template("field"), (choice,), (plain_axis("nodes", [2, 4]),), tuple(range(seeds)), fixed)


def run(plans: list[RunPlan], *, retry_failed: bool = False, workers: int = 2) -> tuple[Summary, str]:
    output = io.StringIO()
    progress = Progress(Console(file=output, width=200))
    summary = run_plans(plans, everybody_hears_everybody, Processes(workers), retry_failed, progress)
    return summary, output.getvalue()


def traces(results: Path) -> list[str]:
    return sorted(str(path.relative_to(results).parent) for path in results.rglob("trace.parquet"))


def test_a_failed_run_is_reported_and_does_not_stop_the_sweep(tmp_path: Path) -> None:
    """It is run again on request only; what is complete is never run again."""
    plans = plan_runs(sweep_of(write_agent(tmp_path, "agent", FAILS_AT_4_NODES)), tmp_path / "out")
    summary, output = run(plans)
    assert (summary.complete, summary.skipped) == (1, 0)
    assert summary.failures[0][0] == Path("traces/agent=mine/nodes=4/seed=0")
    assert "node 3, simulation time 1s, on TimerFired(key='tick'): ValueError: four is too many" in output
    assert traces(tmp_path / "out") == ["traces/agent=mine/nodes=2/seed=0"]

    summary, output = run(plans)
    assert (summary.complete, summary.skipped, output) == (0, 1, "")
    assert "failed earlier; see its run.log, or run it again with --retry-failed" in summary.failures[0][1]

    summary, output = run(plans, retry_failed=True)
    assert (summary.complete, summary.skipped) == (0, 1)
    assert "four is too many" in output


def test_what_an_agent_prints_is_in_its_log(tmp_path: Path) -> None:
    """It would tear the progress bar apart."""
    plans = plan_runs(sweep_of(write_agent(tmp_path, "agent", 'print("tick", self.node)')), tmp_path)
    run(plans)
    assert (plans[0].folder / "run.log").read_text().endswith("tick 0\ntick 1\ntick 0\ntick 1\n")


@pytest.mark.slow
def test_runs_whose_agent_changed_are_run_again(tmp_path: Path) -> None:
    """The old trace is replaced. Runs that the command leaves are told of: metrics would mix them with these."""
    results = tmp_path / "out"
    before = plan_runs(sweep_of(write_agent(tmp_path, "before", "pass"), seeds=2), results)
    after = plan_runs(sweep_of(write_agent(tmp_path, "after", "now")), results)
    assert [run(plans)[0].complete for plans in (before, before)] == [4, 0]
    summary, output = run(after)
    assert summary.complete == 2
    assert (
        "may be of the earlier one: make these again, too, or remove them: traces/agent=mine/nodes=2/seed=1, ..."
        in output
    )


def test_a_run_that_is_killed_is_reported_and_does_not_stop_the_sweep(tmp_path: Path) -> None:
    """It is tried twice, and nothing of it is left: the next call tries again."""
    dies = f"if self.node == 3:\n    open({str(tmp_path / 'tries')!r}, 'a').write('x')\n    {KILL}"
    plans = plan_runs(sweep_of(write_agent(tmp_path, "agent", dies), seeds=2), tmp_path / "out")
    summary, output = run(plans, workers=1)
    assert summary.complete == 2
    assert [place.parts[-2:] for place, _ in summary.failures] == [("nodes=4", "seed=0"), ("nodes=4", "seed=1")]
    assert "failed: traces/agent=mine/nodes=4/seed=0: its process was killed 2 times" in output
    assert (tmp_path / "tries").read_text() == "xxxx"
    assert [path.name for path in (tmp_path / "out" / "traces/agent=mine").iterdir()] == ["nodes=2"]
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["traces"]


def test_what_a_killed_sweep_left_goes_even_if_nothing_is_to_be_done(tmp_path: Path) -> None:
    """It was killed when its last run was in place already."""
    plans = plan_runs(sweep_of(write_agent(tmp_path, "agent", "pass")), tmp_path / "out")
    run(plans)
    (tmp_path / "out" / f"{PREFIX}killed").mkdir()
    run(plans)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["traces"]


def test_workers_that_cannot_start_end_the_sweep(tmp_path: Path) -> None:
    """No run is blamed for it, and none is begun for ever."""
    plans = plan_runs(sweep_of(write_agent(tmp_path, "agent", "pass"), seeds=5), tmp_path / "out")
    resource_tracker.ensure_running()  # a process of its own, which would not start either
    before = multiprocessing.spawn.get_executable()
    multiprocessing.set_executable(shutil.which("false") or "false")
    try:
        with pytest.raises(RoambusError, match="no worker process can start"):
            run(plans)
    finally:
        multiprocessing.set_executable(before)
    assert traces(tmp_path / "out") == []


def test_a_run_that_is_killed_once_is_complete_in_the_end(tmp_path: Path) -> None:
    """As after a moment in which memory ran out."""
    mark = tmp_path / "killed"
    dies = f"import os\nif not os.path.exists({str(mark)!r}):\n    open({str(mark)!r}, 'w')\n    {KILL}"
    plans = plan_runs(sweep_of(write_agent(tmp_path, "agent", dies)), tmp_path / "out")
    summary, _ = run(plans, workers=1)
    assert (summary.complete, summary.failures) == (2, [])


def test_results_that_cannot_be_written_stop_the_sweep(tmp_path: Path) -> None:
    """One error, not one a run."""
    plans = plan_runs(sweep_of(write_agent(tmp_path, "agent", "pass"), seeds=3), tmp_path / "out")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "traces").write_text("no folder")
    with pytest.raises(OSError, match="traces"):
        run(plans)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("SN.wirelessChannel.sigm = 1", r"mine.ini.j2 \(rendered\):\d+: SN.wirelessChannel.sigm: unknown key"),
        ("seed-set = 5", "mine.ini.j2: seed-set = 5 is fixed: give --seed 5, or write seed-set = {{ seed }}"),
        ('SN.node[*].Application.agent = "other"', "mine.ini.j2: agent other is fixed: give --agent other, or write"),
    ],
)
def test_a_bad_template_is_found_before_anything_runs(tmp_path: Path, line: str, message: str) -> None:
    """The first match wins, so the line at the top counts."""
    agent = write_agent(tmp_path, "agent", "pass")
    template = tmp_path / "mine.ini.j2"
    template.write_text(f"{line}\n{find_template('field').file.read_text()}")
    sweep = Sweep("test", Template(template), (AgentChoice("mine", str(agent)),))
    with pytest.raises(UserError, match=message):
        plan_runs(sweep, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_an_unknown_parameter_is_found_before_anything_runs(tmp_path: Path) -> None:
    """With the agent's name."""
    agent = write_agent(tmp_path, "agent", "pass")
    sweep = Sweep("test", find_template("field"), (AgentChoice("mine", str(agent), (("rate", "3"),)),))
    with pytest.raises(UserError, match=r"agent .*agent.py: unknown parameter 'rate': there is none"):
        plan_runs(sweep, tmp_path / "out")


@pytest.mark.parametrize(
    ("elapsed", "done", "total", "text"),
    [(10, 5, 10, "10 s"), (60, 1, 4, "3 min"), (600, 1, 25, "4 h 0 min"), (89, 1, 2, "89 s")],
)
def test_the_time_left_is_estimated_from_the_time_that_runs_took(
    elapsed: float, done: int, total: int, text: str
) -> None:
    """In the unit that one would say it in."""
    assert describe(elapsed / done * (total - done)) == text


def test_progress_is_printed_in_plain_lines_without_a_terminal() -> None:
    """The first and the last line are always there."""
    output = io.StringIO()
    progress = Progress(Console(file=output, width=200))
    with progress.show(2):
        progress.finished(Path("a"), None)
        progress.finished(Path("b"), "lost")
    lines = output.getvalue().splitlines()
    assert lines[0] == "0 of 2 runs"
    assert lines[-2:] == ["failed: b: lost", "2 of 2 runs"]


def test_a_terminal_shows_a_bar() -> None:
    """With the count beside it."""
    output = io.StringIO()
    progress = Progress(Console(file=output, force_terminal=True, width=80))
    with progress.show(2):
        progress.finished(Path("a"), None)
    assert "1 of 2 runs, about" in output.getvalue()


def test_no_worker_is_left() -> None:
    """Whatever the tests above did to them."""
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    assert not [pid for pid in children if "spawn_main" in Path(f"/proc/{pid}/cmdline").read_text()]


def test_a_worker_without_memory_ends_without_a_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where an agent is being imported, which makes another error of it; its run waits for another worker."""

    def load(_: str) -> NoReturn:
        raise UserError("agent 'mft' cannot be imported: MemoryError") from MemoryError()

    monkeypatch.setattr(processes, "load_agent", load)
    monkeypatch.setattr(processes, "prepare", lambda *_: None)
    ours, theirs = multiprocessing.Pipe()
    ours.send((SimpleNamespace(agent="mft"),))
    processes._serve(theirs)
    assert ours.recv() == processes._READY
    assert not ours.poll()


@pytest.mark.parametrize(
    ("template", "settings", "problem"),
    [
        ("field", {"movements": "absent.movements"}, "movements=absent.movements changes nothing in field.ini.j2"),
        ("field", {"interference": 0.5}, "interference=0.5 only sets SN.interference.*, which the back-end ideal"),
        ("field", {"sigma": 2.0}, "sigma=2.0 only sets SN.wirelessChannel.sigma, which the back-end ideal"),
        ("field", {"battery": 5.0}, r"battery=5.0 only sets .*initialEnergy, which the back-end ideal"),
        ("field", {"rssi_noise": 3.0}, r"rssi_noise=3.0 only sets .*rssiNoise, which the back-end ideal"),
        ("field", {"path_losses": "losses.txt"}, "SN.wirelessChannel.pathLoss.* the back-end ideal does not read"),
    ],
)
def test_a_setting_that_no_run_uses_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, template: str, settings: dict[str, float | str], problem: str
) -> None:
    """Its user would wait for an effect in vain."""
    sweep = Sweep("mine", find_template(template), (FLOODING,), fixed={"nodes": 3, **settings})
    monkeypatch.chdir(tmp_path)
    Path("losses.txt").write_text("0>1:60\n")
    with pytest.raises(UserError, match=problem):
        plan_runs(sweep, tmp_path / "out", backend=IdealFactory())


def test_an_axis_that_no_run_uses_is_refused(tmp_path: Path) -> None:
    """All of its points would be the same run, though their inis differ."""
    axes = (plain_axis("prob_tx", [0.5, 1.0]), plain_axis("nodes", [2, 3]))
    with pytest.raises(UserError, match=r"axis prob_tx only sets .*MAC.probTx, which the back-end ideal does not read"):
        plan_runs(Sweep("mine", find_template("field"), (FLOODING,), axes), tmp_path / "out", backend=IdealFactory())


def test_contacts_on_the_radio_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The embedded radio decides itself who hears whom."""
    monkeypatch.chdir(tmp_path)
    Path("contacts.txt").write_text("1 CONN 0 1 up\n")
    fixed: dict[str, float | str] = {"nodes": 3, "contacts": "contacts.txt"}
    sweep = Sweep("mine", find_template("apart"), (FLOODING,), fixed=fixed)
    with pytest.raises(UserError, match=r"SN.ideal.contacts: the back-end radio does not read this file"):
        plan_runs(sweep, tmp_path / "out", backend=RadioFactory())


def test_a_setting_that_is_its_default_is_used(tmp_path: Path) -> None:
    """However it is written."""
    fixed: dict[str, float | str] = {"nodes": 3, "payload": 20, "speed": 8}
    sweep = Sweep("mine", find_template("field"), (FLOODING,), fixed=fixed)
    plan_runs(sweep, tmp_path / "out", backend=IdealFactory())
