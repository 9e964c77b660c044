"""Sweeps on a real cluster: a master and two workers as processes of their own, started as the cluster page says."""

from __future__ import annotations

import os
import pickle
import re
import signal
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest
from rich.console import Console

from roambus.bridge.backends.ideal.backend import IdealFactory
from roambus.bridge.runs.run import run_key
from roambus.bridge.system.errors import UserError
from roambus.experiments.sweeps.processes import Processes
from roambus.experiments.sweeps.progress import Progress
from roambus.experiments.sweeps.runner import Executor, plan_runs, run_plans
from roambus.experiments.sweeps.selection import override
from roambus.experiments.sweeps.sweep_file import read_sweep
from roambus.extensions.cluster.cluster import Cluster, Task, explain, make
from roambus.extensions.cluster.tests.clusters import ROAMBUS, LocalCluster, running_cluster, traces
from roambus.spark.engine.session import check_master
from tests.support.agents import write_agent
from tests.support.waiting import until

SWEEP = """\
template = "field"
seeds = 3
backend = "ideal"
[set]
time_limit = 3
[axes]
nodes = [2, 4]
[agents]
mine = { use = "mine.py" }
"""


FAILS = """\
if self.node == 2 and now >= 2 * SECOND:
    raise ValueError("three is too few")
if self.node == 3:
    import os
    os._exit(9)
print("tick", self.node)
"""
SETTINGS = {"agent": "mft,aodv", "config": "C2", "speed": "2,8", "time_limit": "100", "publish_until": "70"}
SEEDS = 4
RUNS = 16
THESIS = (
    "thesis",
    *(text for name, value in SETTINGS.items() for text in ("--set", f"{name}={value}")),
    *("--seeds", SEEDS, "--backend", "ideal"),
)
"""A sweep of so many runs."""
DELAYS_KNOWN = (
    *(
        text
        for name, value in {**SETTINGS, "time_limit": "30", "publish_until": "20"}.items()
        for text in ("--set", f"{name}={value}")
    ),
    *("--precision", "0.02", "--metric", "end_to_end_delay_mean_s"),
)
"""What asks for delays to a fiftieth of a second."""
AWAITS_ITS_DOUBLE = """\
if self.node == 3 and now < 2 * SECOND:
    import os
    open({begun!r}, "a").write("x")
    deadline = time.monotonic() + 200
    while os.path.getsize({begun!r}) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
"""
EAGER = {
    "spark_speculation": "true",
    "spark_speculation_interval": "100ms",
    "spark_speculation_multiplier": "0.1",
    "spark_speculation_quantile": "0.1",
    "spark_speculation_minTaskRuntime": "100ms",
}


class Interrupted(NamedTuple):
    """How a sweep ended that was interrupted, where, and with how many runs complete."""

    out: Path
    code: int
    errors: str
    complete: int


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCluster]:
    with running_cluster(tmp_path_factory.mktemp("cluster"), 2) as started:
        yield started


def write_sweep(folder: Path, on_timer: str) -> Path:
    """A sweep with an agent in a file beside it."""
    agent = write_agent(folder, "mine", on_timer)
    file = folder / "mine.toml"
    file.write_text(SWEEP.replace("mine.py", str(agent)))
    return file


def sweep_with(executor: Executor, sweep: str | Path, results: Path, seeds: int | None, **settings: str) -> None:
    """The sweep over ideal links."""
    plans = plan_runs(override(read_sweep(str(sweep)), settings, seeds), results)
    run_plans(plans, IdealFactory(), executor, retry_failed=False, progress=Progress(Console(quiet=True)))


def local(sweep: str | Path, results: Path, seeds: int | None = None, **settings: str) -> dict[str, bytes]:
    """The traces of the same sweep by a process of this machine."""
    sweep_with(Processes(1), sweep, results, seeds, **settings)
    return traces(results)


def task_of(folder: Path, workspace: Path) -> Task:
    """The first run of a sweep whose results are in `folder`."""
    plan = plan_runs(read_sweep(str(write_sweep(folder, "pass"))), folder)[0]
    return Task(0, plan, IdealFactory(), workspace, run_key(plan, IdealFactory()))


@pytest.fixture(scope="module")
def interrupted(cluster: LocalCluster, tmp_path_factory: pytest.TempPathFactory) -> Interrupted:
    """Ctrl-C in the middle of a sweep."""
    out = tmp_path_factory.mktemp("interrupted") / "out"
    running = cluster.sweep(*THESIS, "--out", out)
    until(lambda: len(traces(out)) >= 2)
    running.send_signal(signal.SIGINT)
    _, errors = running.communicate()
    return Interrupted(out, running.returncode, errors, len(traces(out)))


@pytest.mark.slow
def test_ctrl_c_cancels_the_job(interrupted: Interrupted) -> None:
    """Exit code 130, one message; nothing half-written is left."""
    out = interrupted.out
    assert interrupted.code == 130
    assert interrupted.errors.splitlines()[-1].startswith("error: interrupted; the same command makes the missing runs")
    assert 2 <= interrupted.complete < RUNS
    assert sorted(path.name for path in out.iterdir()) == ["sweep.json", "traces"]
    assert {path.parent for path in out.rglob("run.ini")} == {path.parent for path in out.rglob("trace.parquet")}


@pytest.mark.slow
def test_the_same_command_goes_on_and_a_killed_worker_loses_no_run(
    cluster: LocalCluster, interrupted: Interrupted, tmp_path: Path
) -> None:
    """Its runs are made again by the other one; all traces are those of a local sweep, byte for byte."""
    out, complete = interrupted.out, interrupted.complete
    sweep = cluster.sweep(*THESIS, "--out", out)
    until(lambda: len(traces(out)) > complete)
    cluster.kill_worker()
    assert len(traces(out)) < RUNS
    output, errors = sweep.communicate()
    cluster.add_worker()
    assert output.endswith(f"runs done {RUNS - complete}, already there {complete}, failed 0\n"), errors
    assert sorted(path.name for path in out.iterdir()) == ["sweep.json", "traces"]
    assert traces(out) == local("thesis", tmp_path / "local", SEEDS, **SETTINGS)


@pytest.mark.slow
def test_a_run_that_fails_is_reported_and_does_not_stop_the_sweep(cluster: LocalCluster, tmp_path: Path) -> None:
    """Neither does one that ends its process whenever it is tried. What an agent prints is in its log."""
    sweep = write_sweep(tmp_path, FAILS)
    running = cluster.sweep(sweep, "--seeds", "1", "--set", "nodes=2,3,4", "--out", tmp_path / "out")
    output, errors = running.communicate()
    assert running.returncode == 1
    assert output.endswith("runs done 1, already there 0, failed 2\n"), errors
    assert "seed=0: AgentError: " in errors
    assert "on TimerFired(key='tick'): ValueError: three is too few at mine.py" in errors
    assert re.search(r"nodes=4/seed=0: it ended its executor at every attempt: 127.0.0.\d: .*\(crashed\)\.", errors)
    run = tmp_path / "out/traces/agent=mine/nodes=2/seed=0"
    assert (run / "run.log").read_text().endswith("tick 0\ntick 1\ntick 0\ntick 1\n")
    assert (tmp_path / "out/traces/agent=mine/nodes=3/seed=0/failed").is_file()
    assert not (tmp_path / "out/traces/agent=mine/nodes=4").exists()


@pytest.mark.slow
def test_a_run_that_is_made_twice_at_once_is_there_once(cluster: LocalCluster, tmp_path: Path) -> None:
    """Spark takes the first attempt for slow, and both end at the same time."""
    begun = tmp_path / "begun"
    sweep = write_sweep(tmp_path, AWAITS_ITS_DOUBLE.format(begun=str(begun)))
    running = cluster.sweep(sweep, "--seeds", "1", "--out", tmp_path / "out", settings=cluster.settings(**EAGER))
    output, errors = running.communicate()
    assert begun.read_text() == "xx"
    assert output.endswith("runs done 2, already there 0, failed 0\n"), errors
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["inputs", "sweep.json", "traces"]
    assert traces(tmp_path / "out") == local(sweep, tmp_path / "local", 1)


@pytest.mark.slow
def test_with_a_precision_a_point_takes_as_many_seeds_as_on_this_machine(cluster: LocalCluster, tmp_path: Path) -> None:
    """Seeds that follow from the first ones are made there, too: the same traces, and the same said of them."""
    asked = ("thesis", *DELAYS_KNOWN, "--backend", "ideal", "--seeds", "9", "--out")
    output, errors = cluster.sweep(*asked, tmp_path / "cluster").communicate()
    alone = subprocess.run([*ROAMBUS, "sweep", *asked, tmp_path / "local"], capture_output=True, text=True, check=True)
    assert "5 at 2 points, 8 at 2 points" in output, errors
    assert seed_lines(output) == seed_lines(alone.stdout)
    assert (tmp_path / "cluster/sweep.json").read_bytes() == (tmp_path / "local/sweep.json").read_bytes()
    assert traces(tmp_path / "cluster") == traces(tmp_path / "local")


def seed_lines(output: str) -> list[str]:
    """The lines that say which points took how many seeds."""
    return [line for line in output.splitlines() if line.startswith(("seeds for", "  agent="))]


def test_a_url_without_a_master_is_an_error_at_once(tmp_path: Path) -> None:
    """It says what was tried."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    executor = Cluster(f"spark://127.0.0.1:{port}", print)
    with pytest.raises(UserError, match=f"no Spark master answers at 127.0.0.1:{port}: .*refused"):
        sweep_with(executor, write_sweep(tmp_path, "pass"), tmp_path / "out", 1)
    assert not list((tmp_path / "out").iterdir())


@pytest.mark.parametrize("url", ["127.0.0.1:7077", "spark://127.0.0.1", "http://127.0.0.1:7077", "spark://a:7077/b"])
def test_a_url_of_something_else_is_an_error(url: str) -> None:
    """With the form that it must have."""
    with pytest.raises(UserError, match=r"this is not a Spark master: write spark://HOST:PORT"):
        check_master(url)


def test_an_executor_that_cannot_see_the_results_is_named(tmp_path: Path) -> None:
    """With the folder that it does not have."""
    outcome = make(pickle.dumps(task_of(tmp_path, tmp_path / "elsewhere")))
    assert outcome[:2] == (0, None)
    assert outcome[2] is not None
    assert re.fullmatch(rf"{os.uname().nodename}: the executor does not see {tmp_path}: choose .*", outcome[2])


def test_an_executor_with_another_agent_is_named(tmp_path: Path) -> None:
    """Its runs would never count as complete where the sweep was started."""
    outcome = make(pickle.dumps(replace(task_of(tmp_path, tmp_path), key="another")))
    assert outcome[2] is not None
    assert outcome[2].endswith("mine.py is another version there: install the same one")


@pytest.mark.slow
def test_an_executor_that_cannot_make_runs_ends_the_sweep(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """With one error, and nothing left."""
    # Only here: executors import it anew.
    monkeypatch.setattr("roambus.extensions.cluster.cluster.run_key", lambda *_: "another")
    with pytest.raises(UserError, match=r"worker \S+: agent .*mine.py is another version there"):
        sweep_with(Cluster("local[1]", print), write_sweep(tmp_path, "pass"), tmp_path / "out", 1)
    assert not list((tmp_path / "out").iterdir())


@pytest.mark.parametrize(
    ("message", "task", "said", "is_death"),
    [
        (
            "Job aborted due to stage failure: Task 3 in stage 0.0 failed 4 times, most recent failure: Lost task 3.3 "
            "in stage 0.0 (TID 9) (10.0.0.2 executor 1): ExecutorLostFailure (executor 1 exited caused by one of the "
            "running tasks) Reason: Command exited with code 137\nDriver stacktrace:\n",
            3,
            "10.0.0.2: ExecutorLostFailure (executor 1 exited caused by one of the running tasks) Reason: Command "
            "exited with code 137",
            True,
        ),
        (
            "Job aborted due to stage failure: Task 0 in stage 0.0 failed 4 times, most recent failure: Lost task 0.3 "
            "in stage 0.0 (TID 3) (10.0.0.2 executor 1): org.apache.spark.api.python.PythonException: Traceback (most "
            'recent call last):\n  File "a.py", line 1, in work\n    make()\nOSError: [Errno 28] No space left on '
            "device\n\n\tat org.apache.spark",
            0,
            "10.0.0.2: OSError: [Errno 28] No space left on device",
            False,
        ),
        (
            "Job 0 cancelled because SparkContext was shut down\n\tat",
            None,
            "Job 0 cancelled because SparkContext was",
            False,
        ),
    ],
)
def test_what_spark_says_is_reported_in_a_line(message: str, task: int | None, said: str, is_death: bool) -> None:
    """Which task, where, and why."""
    failure = explain(message)
    assert (failure.task, failure.is_death) == (task, is_death)
    assert failure.message.startswith(said)
