"""Ctrl-C and SIGTERM while simulators run: `roambus run --endpoint` and `roambus sweep`, as real processes.

Those of `roambus run` are among the blows of test_failures.py.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from benchmarks.trials.processes import ROAMBUS, STAND_IN, describe, marked, wait_for
from roambus.bridge.backends.castalia.simulators import SESSION
from roambus.bridge.runs.layout import INI_FILE, SIMULATOR_FOLDER, SIMULATOR_LOG, TRACE_FILE
from roambus.bridge.system.private_folder import BRIDGE, prefix_of
from roambus.experiments.sweeps.attempts import PREFIX as WORKSPACE
from tests.support.files import files_below
from tests.support.simulated_runs import Stage, set_stage, sweep, sweep_command

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("stand_in")]

MARK = "stopped"
SECONDS = 30
"""How long the runs are, in simulated time."""
DEADLINE_S = 5.0
PATIENCE_S = 40.0
RUNS = 8
LONG = "nodes 6\ntime_limit 700000000000\nlink 0 1\n"
SIGNALS = pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "SIGTERM"])


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    """An empty one; at the end no process and no socket is left."""
    made = set_stage(tmp_path, "stand-in", DEADLINE_S, SECONDS)
    yield made
    wait_for(lambda: not marked(MARK + str(tmp_path)), DEADLINE_S)
    left = marked(MARK + str(tmp_path))
    descriptions = [describe(process) for process in left]
    for process in left:
        os.kill(process, signal.SIGKILL)
    assert descriptions == []
    assert not list(made.temporary.glob(f"{prefix_of(BRIDGE)}*"))


def start(stage: Stage, *command: str) -> subprocess.Popen[str]:
    """In a session of its own, as in a terminal."""
    surroundings = stage.surroundings(MARK + str(stage.folder))
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command, env=surroundings, stdout=pipe, stderr=pipe, text=True, start_new_session=True, cwd=stage.folder
    )


def serve(stage: Stage) -> tuple[subprocess.Popen[str], Path]:
    """A host that waits, and its run's folder."""
    options = ["--agent", "beacon", "--deadline", f"{DEADLINE_S:g}", "--out", str(stage.results)]
    host = start(stage, *ROAMBUS, "run", "thesis", "--endpoint", "local", *options)
    found: list[Path] = []

    def waits() -> bool:
        found[:] = [file for file in files_below(stage.results, SESSION) if file.parent.name == SIMULATOR_FOLDER]
        return bool(found)

    assert wait_for(waits, PATIENCE_S)
    return host, found[0].parents[1]


def interrupted(host: subprocess.Popen[str]) -> str:
    """The last line that it prints as it ends with exit code 130, without a traceback."""
    _, errors = host.communicate(timeout=PATIENCE_S)
    assert host.returncode == 130, errors
    assert "Traceback" not in errors
    return errors.splitlines()[-1]


@SIGNALS
def test_a_host_that_waits_for_a_simulator_ends(stage: Stage, number: signal.Signals) -> None:
    """Nothing of the run is left."""
    host, _ = serve(stage)
    host.send_signal(number)
    assert interrupted(host) == "error: interrupted"
    assert not stage.results.exists()


@SIGNALS
def test_a_host_ends_while_a_served_simulator_runs(stage: Stage, number: signal.Signals) -> None:
    """Nothing of the run is left, and the simulator, started by hand, ends with an error that tells of it."""
    host, folder = serve(stage)
    script = stage.folder / "script"
    script.write_text(LONG)
    log = stage.folder / "log"
    with log.open("wb") as output:
        surroundings = stage.surroundings(MARK + str(stage.folder))
        simulator = subprocess.Popen([STAND_IN, script], cwd=folder, env=surroundings, stderr=output)
    assert wait_for(lambda: "host at" in log.read_text(), PATIENCE_S)
    assert not wait_for(lambda: simulator.poll() is not None, 0.3)
    host.send_signal(number)
    assert interrupted(host) == "error: interrupted"
    assert simulator.wait(DEADLINE_S) == 1
    assert re.search(r"the host failed: KeyboardInterrupt|the host at \S+ is gone", log.read_text())
    assert not stage.results.exists()


def in_the_middle(stage: Stage) -> Callable[[], bool]:
    """Whether one of its runs is complete and in place, and another has a simulator."""

    def condition() -> bool:
        logs = {log.parent for log in files_below(stage.results, SIMULATOR_LOG)}
        traces = {trace.parent for trace in files_below(stage.results, TRACE_FILE)}
        return any(WORKSPACE not in str(trace) for trace in traces) and bool(logs - traces)

    return condition


@SIGNALS
def test_a_sweep_ends_with_its_workers_and_their_simulators_and_resumes(stage: Stage, number: signal.Signals) -> None:
    """Ctrl-C reaches all processes of the terminal, SIGTERM the first one only."""
    host = start(stage, *sweep_command(stage, RUNS), "--workers", "2")
    assert wait_for(in_the_middle(stage), PATIENCE_S)
    if number is signal.SIGINT:
        os.killpg(host.pid, number)
    else:
        host.send_signal(number)
    assert interrupted(host).startswith("error: interrupted; the same command makes the missing runs")
    complete = len(files_below(stage.results, TRACE_FILE))
    assert 1 <= complete < RUNS
    assert len(files_below(stage.results, INI_FILE)) == complete
    assert marked(MARK + str(stage.folder)) == [], "a process is left"
    assert sweep(stage, RUNS) == []
