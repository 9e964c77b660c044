"""The command line, as real processes: results, messages, exit codes, and what is left when it is stopped."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.agents import write_agent

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-c", "import sys; sys.argv[0] = 'roambus'; from bridge.cli import main; main()"]
SWEEP = """\
template = "field"
seeds = 3
[set]
time_limit = 3
[axes]
nodes = [2, 4]
[agents]
mine = { use = "mine.py" }
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The user's folder, with an agent and a sweep."""
    write_agent(tmp_path, "mine", "pass")
    (tmp_path / "mine.toml").write_text(SWEEP)
    return tmp_path


def environment(path: Path = ROOT) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{path}"}


def roambus(
    folder: Path, *arguments: str, limit: Callable[[], None] | None = None, path: Path = ROOT
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments],
        cwd=folder,
        env=environment(path),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        preexec_fn=limit,
    )


def start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    """In a session of its own, as in a terminal: what is sent to the group reaches the workers too."""
    return subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def refused(folder: Path, message: str, *arguments: str, code: int = 2) -> None:
    """One line that begins with "error:", the exit code, and nothing but what was there before."""
    before = sorted(folder.rglob("*"))
    done = roambus(folder, *arguments)
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
    assert message in done.stderr
    assert [path for path in sorted(folder.rglob("*")) if "__pycache__" not in path.parts] == before


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 40
    while not condition():
        assert time.monotonic() < deadline, "nothing happened in 40 s"
        time.sleep(0.02)


def traces(folder: Path) -> list[Path]:
    return sorted(folder.rglob("trace.parquet"))


def session_processes(session: int) -> list[int]:
    """The live processes of a session (field 6 of /proc/PID/stat)."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            found.append(int(path.parent.name))
    return found


LISTED = """
from dataclasses import dataclass
from python_protocol.agent import Agent
from python_protocol.parameters import parameter

@dataclass(frozen=True)
class Parameters:
    interval: int = parameter(2_000_000_000, unit="s", source="RFC 3561", doc="how often")

class Listed(Agent):
    'Says hello.'
    parameters_type = Parameters

    def handle(self, event, now):
        return []
"""
COMMANDS = ["agents", "render", "run", "sweep", "aggregate", "figures", "reproduce"]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself_with_an_example(folder: Path, command: str) -> None:
    """The example is a whole command."""
    assert f"Example: roambus {command}" in roambus(folder, command, "--help").stdout


def test_agents_are_listed_with_their_parameters(folder: Path) -> None:
    """What it is, then each parameter with its default, meaning, unit and source; a broken agent with its error."""
    package = folder / "site" / "other-1.0.dist-info"
    package.mkdir(parents=True)
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1.0\n")
    (package / "entry_points.txt").write_text("[roambus.agents]\nlisted = listed:Listed\nmissing = nowhere:Agent\n")
    (folder / "site" / "listed.py").write_text(LISTED)
    listed = roambus(folder, "agents", path=folder / "site").stdout
    assert "listed: Says hello.\n  interval = 2s  (how often; s; RFC 3561)\n" in listed
    assert "missing: agent 'missing' cannot be imported: ModuleNotFoundError: No module named 'nowhere'\n" in listed


def test_a_rendered_ini_is_a_template_for_itself(folder: Path) -> None:
    """Printed, or written with its radio parameters file."""
    printed = roambus(folder, "render", "field", "--agent", "mine.py", "--set", "nodes=7", "--seed", "5").stdout
    assert "SN.numNodes = 7\n" in printed
    assert "seed-set = 5\n" in printed
    roambus(folder, "render", "field", "--agent", "mine.py", "--set", "nodes=7", "--seed", "5", "--out", "case")
    assert (folder / "case" / "run.ini").read_text() == printed
    assert (folder / "case" / "CC2420.txt").is_file()


def test_one_run_leaves_its_results_where_it_says(folder: Path) -> None:
    """The folder has the layout of a sweep's, so that everything else works on it."""
    settings = ["--set", "nodes=2", "--set", "time_limit=3"]
    done = roambus(folder, "run", "field", "--agent", "mine.py", *settings, "--out", "out")
    assert done.stdout == "out/traces/agent=mine.py/nodes=2/time_limit=3/seed=0\n"
    assert {path.name for path in (folder / done.stdout.strip()).iterdir()} == {
        "trace.parquet",
        "run.ini",
        "CC2420.txt",
        "run.log",
    }


def test_a_sweep_runs_once(folder: Path) -> None:
    """The second call finds everything there."""
    assert "runs done 6, already there 0, failed 0" in roambus(folder, "sweep", "mine.toml", "--out", "out").stdout
    assert "runs done 0, already there 6, failed 0" in roambus(folder, "sweep", "mine.toml", "--out", "out").stdout
    more = roambus(folder, "sweep", "mine.toml", "--set", "nodes=3", "--seeds", "1", "--out", "out").stdout
    assert "runs done 1, already there 0" in more


def test_unknown_agents_templates_and_variables_are_refused(folder: Path) -> None:
    """Each with one line that says what there is."""
    refused(folder, "unknown agent 'beakon'", "run", "field", "--agent", "beakon")
    refused(folder, "unknown template 'feild': did you mean 'field'", "run", "feild", "--agent", "mine.py")
    refused(folder, "--set: unknown variable", "run", "field", "--agent", "mine.py", "--set", "node=3")
    refused(folder, "write NAME=VALUE", "run", "field", "--agent", "mine.py", "--set", "nodes")
    refused(folder, "unknown parameter 'rate'", "run", "field", "--agent", "mine.py", "--param", "rate=3")


def test_an_unknown_ini_key_is_refused_with_its_line(folder: Path) -> None:
    """Of the rendered ini, which `roambus render` would show; nothing is left behind."""
    (folder / "bad.ini.j2").write_text('{% include "field.ini.j2" %}\nSN.wirelessChannel.sigmaa = 3\n')
    rendered = roambus(folder, "render", "bad.ini.j2", "--agent", "mine.py").stdout.splitlines()
    line = rendered.index("SN.wirelessChannel.sigmaa = 3") + 1
    message = f"bad.ini.j2 (rendered):{line}: SN.wirelessChannel.sigmaa: unknown key"
    refused(folder, message, "run", "bad.ini.j2", "--agent", "mine.py")


def test_a_missing_variable_is_refused_with_its_line(folder: Path) -> None:
    """And its template."""
    (folder / "bad.ini.j2").write_text("SN.numNodes = {{ count }}\n")
    refused(folder, "bad.ini.j2:1: variable 'count' is not set", "run", "bad.ini.j2", "--agent", "mine.py")


def test_a_misspelt_axis_is_refused(folder: Path) -> None:
    """In the file, and on the command line."""
    (folder / "bad.toml").write_text(SWEEP.replace("nodes =", "nods ="))
    refused(folder, "bad.toml: axes.nods: unknown variable", "sweep", "bad.toml")
    refused(folder, "mine.toml: --set: unknown variable", "sweep", "mine.toml", "--set", "nods=3")


def test_a_folder_that_cannot_be_written_is_refused(folder: Path) -> None:
    """One message, also for a whole sweep."""
    (folder / "file").touch()
    refused(folder, "file/out: Not a directory", "sweep", "mine.toml", "--out", "file/out")
    refused(folder, "file/out: Not a directory", "run", "field", "--agent", "mine.py", "--out", "file/out")


@pytest.mark.parametrize("kilobytes", [0, 2, 5])
def test_a_full_disk_is_refused(folder: Path, kilobytes: int) -> None:
    """Whichever file does not fit any more: one message, and no run is half there.

    A limit on the size of files stands for the disk: writing fails in the same places.
    """

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (kilobytes * 1024, kilobytes * 1024))

    write_agent(folder, "mine", "print('x' * 10_000)")
    roambus(folder, "sweep", "mine.toml", "--out", "warm")
    done = roambus(folder, "sweep", "mine.toml", "--out", "out", limit=limit)
    assert done.returncode == 2
    assert "File too large" in done.stderr
    assert "Traceback" not in done.stderr
    assert not [path for path in (folder / "out").rglob("run.*") if not (path.parent / "trace.parquet").exists()]
    assert not list(folder.rglob(".trace*"))


def test_an_agent_that_raises_is_named_with_its_line(folder: Path) -> None:
    """Node, simulation time, event, and the agent's own line; exit code 4, or 1 for a sweep that went on."""
    write_agent(folder, "bad", "if self.node == 3:\n    raise KeyError('parent')")
    done = roambus(folder, "run", "field", "--agent", "bad.py", "--set", "nodes=4", "--out", "run")
    assert done.returncode == 4
    assert done.stderr.startswith("error: node 3, simulation time 1")
    assert "on TimerFired(key='tick'): KeyError: 'parent' at bad.py:13 in handle" in done.stderr
    (folder / "bad.toml").write_text(SWEEP.replace("mine.py", "bad.py"))
    done = roambus(folder, "sweep", "bad.toml", "--seeds", "1", "--out", "out")
    assert done.returncode == 1
    assert "runs done 1, already there 0, failed 1" in done.stdout
    assert "traces/agent=mine/nodes=4/seed=0: AgentError: node 3" in done.stderr


def test_an_error_of_ours_keeps_its_traceback(folder: Path) -> None:
    """Only errors that a user can act on are cut down to one line."""
    code = "import bridge.registry as r; r.agent_names = lambda: 1 / 0; import sys; sys.argv = ['roambus', 'agents']"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}; from bridge.cli import main; main()"],
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" in done.stderr
    assert "ZeroDivisionError" in done.stderr


@pytest.fixture
def slow(folder: Path) -> Path:
    """A sweep whose runs with two nodes are quick, and with four are not."""
    write_agent(folder, "mine", "if self.node > 1:\n    time.sleep(0.25)")
    return folder


def test_ctrl_c_ends_a_sweep_and_its_workers(slow: Path) -> None:
    """Exit code 130, one message, no half-written run; the same command goes on."""
    running = start(slow, "sweep", "mine.toml", "--out", "out")
    until(lambda: len(traces(slow)) >= 1 and len(list(slow.rglob("run.ini"))) > len(traces(slow)))
    os.killpg(running.pid, signal.SIGINT)
    _, errors = running.communicate(timeout=20)
    assert running.returncode == 130
    assert errors.splitlines()[-1].startswith("error: interrupted; the same command goes on")
    assert "Traceback" not in errors
    assert session_processes(running.pid) == []
    assert {path.parent for path in slow.rglob("run.ini")} == {path.parent for path in traces(slow)}
    complete = len(traces(slow))
    assert 1 <= complete < 6
    resumed = roambus(slow, "sweep", "mine.toml", "--out", "out").stdout
    assert f"runs done {6 - complete}, already there {complete}" in resumed


def test_a_sweep_killed_at_any_moment_resumes(slow: Path) -> None:
    """Its workers end with it, and what they had begun is done again."""
    running = start(slow, "sweep", "mine.toml", "--out", "out")
    until(lambda: len(traces(slow)) >= 1 and len(list(slow.rglob("run.ini"))) > len(traces(slow)))
    os.kill(running.pid, signal.SIGKILL)
    running.communicate(timeout=20)
    until(lambda: session_processes(running.pid) == [])
    complete = len(traces(slow))
    resumed = roambus(slow, "sweep", "mine.toml", "--out", "out").stdout
    assert f"runs done {6 - complete}, already there {complete}" in resumed
    assert len(traces(slow)) == 6


def test_ctrl_c_ends_a_single_run(slow: Path) -> None:
    """Nothing of it is left."""
    running = start(slow, "run", "field", "--agent", "mine.py", "--set", "nodes=4", "--out", "out")
    until(lambda: bool(list(slow.rglob("run.ini"))))
    running.send_signal(signal.SIGINT)
    _, errors = running.communicate(timeout=20)
    assert (running.returncode, errors.strip()) == (130, "error: interrupted")
    assert not (slow / "out").exists()
